/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init(NULL, NULL): MPI_INFO_ENV says what the kernel knows; more arguments than fit are cut. */
/* ranks: 2 */
/* args: one two */
#include "../check.h"

int main(int argc, char **argv)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int flag = 0, len = sizeof text;
    (void)argc;
    check_init(NULL, NULL);
    MPI_Info_get_string(MPI_INFO_ENV, "argv", &len, text, &flag);
    CHECK(flag && !strcmp(text, "one two"), "%s", text);
    len = sizeof text;
    MPI_Info_get_string(MPI_INFO_ENV, "command", &len, text, &flag);
    CHECK(flag && !strcmp(text, argv[0]), "%s", text);
    return check_done();
}
