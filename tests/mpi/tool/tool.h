/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.h: what the tests of MPI_T share. */
#ifndef TOOL_H
#define TOOL_H

#include "../check.h"

/* MPI_T returns codes, not classes. */
#define IS(call, code) CHECK_EQ((call), (code))
#define OK(call) CHECK_EQ((call), MPI_SUCCESS)

/* For programs that use MPI_T outside MPI_Init and MPI_Finalize. */
CHECK_UNUSED static void tool_begin(void)
{
    int provided = -1;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_SINGLE);
}

CHECK_UNUSED static int tool_cvar(const char *name)
{
    int index = -1;
    OK(MPI_T_cvar_get_index(name, &index));
    return index;
}

CHECK_UNUSED static int tool_pvar(const char *name, int var_class)
{
    int index = -1;
    CHECK_EQ(MPI_T_pvar_get_index(name, var_class, &index), MPI_SUCCESS, "%s", name);
    return index;
}

/* A handle of a variable that is bound to nothing, started if it can be. */
CHECK_UNUSED static MPI_T_pvar_handle tool_watch(MPI_T_pvar_session session, const char *name, int var_class)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1, continuous = -1, index = tool_pvar(name, var_class);
    OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &continuous,
                           NULL));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    if (!continuous)
        OK(MPI_T_pvar_start(session, handle));
    return handle;
}

CHECK_UNUSED static unsigned long long tool_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 4711;
    OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

#endif
