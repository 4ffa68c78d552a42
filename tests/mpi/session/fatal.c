/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* exit: 13 */
/* stderr: MPI_Session_get_nth_pset: .*\(MPI_ERR_ARG\): n is 99; expected 0 to */
/* The handler of a session that ends the job. */
#include "session.h"

int main(void)
{
    MPI_Session s;
    char name[8];
    int len = sizeof name;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 99, &len, name);
    return 0;
}
