/* SPDX-License-Identifier: BSD-3-Clause */
/* A variable whose text the environment makes longer than most: count says how long, and what is read can be
 * written. */
#include <unistd.h>
#include "tool.h"

int main(int argc, char **argv)
{
    enum { LONG = 5000 };
    static char host[LONG + 1];
    int count = -1;
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    if (!getenv("KEEL_TCP_HOST")) { /* it is taken in when a program begins */
        memset(host, 'x', LONG);
        setenv("KEEL_TCP_HOST", host, 1);
        execv(argv[0], argv);
        return 1;
    }
    (void)argc;
    tool_begin();
    OK(MPI_T_cvar_handle_alloc(tool_cvar("keel_tcp_host"), NULL, &h, &count));
    CHECK_EQ(count, LONG + 1);
    char *text = calloc(1, (size_t)count);
    OK(MPI_T_cvar_read(h, text));
    CHECK_EQ((int)strlen(text), LONG);
    OK(MPI_T_cvar_write(h, text));
    memset(text, 'y', (size_t)count);
    IS(MPI_T_cvar_write(h, text), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(h, text));
    CHECK_EQ((int)strlen(text), LONG);
    OK(MPI_T_cvar_handle_free(&h));
    OK(MPI_T_finalize());
    free(text);
    return check_failures != 0;
}
