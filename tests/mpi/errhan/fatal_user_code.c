/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* exit: 16 */
/* stderr: MPI_Comm_call_errhandler: the reactor is too hot \(error code 163[89][0-9]\) */
/* A code of the program, under the default handler. */
#include "check.h"

int main(int argc, char **argv)
{
    int errclass, code;
    check_init(&argc, &argv);
    MPI_Add_error_class(&errclass);
    MPI_Add_error_code(errclass, &code);
    MPI_Add_error_string(code, "the reactor is too hot");
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
    return 0;
}
