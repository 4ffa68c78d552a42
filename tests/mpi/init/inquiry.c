/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* What may be asked before, while and after MPI runs; memory. */
#include <sys/utsname.h>
#include "check.h"

static void versions(void)
{
    int version = 0, subversion = -1, len = -1;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CHECK_EQ(MPI_Get_version(&version, &subversion), MPI_SUCCESS);
#if defined ABI_MPICH || defined ABI_OPENMPI /* the library's, not the header's (doc/abi.md) */
    CHECK(version >= MPI_VERSION, "it is %d, the header's %d", version, MPI_VERSION);
    CHECK_EQ(version, 5);
    CHECK_EQ(subversion, 0);
#else
    CHECK_EQ(version, MPI_VERSION);
    CHECK_EQ(subversion, MPI_SUBVERSION);
#endif
    CHECK_EQ(MPI_Get_library_version(text, &len), MPI_SUCCESS);
    CHECK_EQ(len, (int)strlen(text));
    CHECK(!strncmp(text, "Keel MPI ", 9), "it is %s", text);
}

static void phase(int initialized, int finalized)
{
    int flag = -1;
    CHECK_EQ(MPI_Initialized(&flag), MPI_SUCCESS);
    CHECK_EQ(!!flag, initialized);
    flag = -1;
    CHECK_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
    CHECK_EQ(!!flag, finalized);
}

static void clock_runs(void)
{
    double tick = MPI_Wtick(), start = MPI_Wtime(), now = start;
    CHECK(tick > 0 && tick < 1e-3, "tick is %g", tick);
    for (int i = 0; i < 100000000 && now == start; i++)
        now = MPI_Wtime();
    CHECK(now > start, "the clock stands still");
    CHECK(now - start < 60, "it ran %g s", now - start);
}

static void memory(void)
{
    static const MPI_Aint sizes[] = { 0, 1, 63, 64, 4096, 1000003 };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = NULL;
        CHECK_EQ(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &p), MPI_SUCCESS);
        CHECK(p && (uintptr_t)p % 16 == 0, "%p", (void *)p);
        memset(p, 7, (size_t)sizes[i]);
        CHECK_EQ(MPI_Free_mem(p), MPI_SUCCESS);
    }
    char *p = NULL, local[256] = "";
    CHECK_EQ(MPI_Alloc_mem(64, MPI_INFO_NULL, &p), MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Free_mem(p + 1), MPI_ERR_BASE);
    CHECK_ERR(MPI_Free_mem(local + 128 - (uintptr_t)local % 64), MPI_ERR_BASE);
    CHECK_ERR(MPI_Free_mem((void *)64), MPI_ERR_BASE);
    for (size_t size = 1000; size <= 4 << 20; size *= 4) { /* the system may have the memory back by then */
        char *once = NULL;
        CHECK_EQ(MPI_Alloc_mem((MPI_Aint)size, MPI_INFO_NULL, &once), MPI_SUCCESS);
        CHECK_EQ(MPI_Free_mem(once), MPI_SUCCESS);
        CHECK_ERR(MPI_Free_mem(once), MPI_ERR_BASE);
    }
    CHECK_ERR(MPI_Alloc_mem(INTPTR_MAX, MPI_INFO_NULL, &p), MPI_ERR_NO_MEM);
    CHECK_ERR(MPI_Alloc_mem(-1, MPI_INFO_NULL, &p), MPI_ERR_ARG);
    CHECK_EQ(MPI_Free_mem(p), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_ERROR_STRING];
    int len = -1, level = -1, flag = -1;
    struct utsname u;
    phase(0, 0);
    versions();
    clock_runs();
    check_init(&argc, &argv);
    phase(1, 0);
    versions();
    clock_runs();
    CHECK_EQ(MPI_Get_processor_name(name, &len), MPI_SUCCESS);
    CHECK_EQ(len, (int)strlen(name));
    uname(&u);
    CHECK(!strcmp(name, u.nodename), "it is %s; expected %s", name, u.nodename);
    CHECK_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
    CHECK_EQ(level, MPI_THREAD_SINGLE);
    CHECK_EQ(MPI_Is_thread_main(&flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    memory();
    int failed = check_done();
    phase(1, 1);
    versions();
    CHECK_EQ(MPI_Error_string(MPI_ERR_RANK, name, &len), MPI_SUCCESS);
    return failed || check_failures;
}
