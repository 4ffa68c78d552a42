/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* mpiexec: -memory-alloc-kinds mpi:alloc_mem,gpu:device */
/* What a session says about itself: the level of thread support, the kinds of memory; and its communicators about
 * these. */
#include "session.h"

static int has(const char *list, const char *kind)
{
    size_t n = strlen(kind);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!strncmp(p, kind, n) && (p[n] == ',' || !p[n]))
            return 1;
    return 0;
}

/* A session made with (key, value), if key is not NULL. */
static MPI_Session with(const char *key, const char *value)
{
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
        MPI_Info_set(info, "no_such_key", "is ignored");
    }
    CHECK_EQ(MPI_Session_init(info, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    if (key)
        MPI_Info_free(&info);
    return s;
}

static void level(const char *asked, const char *expected)
{
    MPI_Session s = with(asked ? "thread_level" : NULL, asked);
    MPI_Info info = MPI_INFO_NULL;
    CHECK_EQ(MPI_Session_get_info(s, &info), MPI_SUCCESS);
    const char *got = value_of(&info, "thread_level");
    CHECK(!strcmp(got, expected), "%s for %s; expected %s", got, asked ? asked : "no wish", expected);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
}

static void kinds(const char *asked, const char *supported, const char * not )
{
    MPI_Session s = with(asked ? "mpi_memory_alloc_kinds" : NULL, asked);
    MPI_Info info;
    char of_session[MPI_MAX_INFO_VAL];
    CHECK_EQ(MPI_Session_get_info(s, &info), MPI_SUCCESS);
    strcpy(of_session, value_of(&info, "mpi_memory_alloc_kinds"));
    CHECK(has(of_session, "mpi") && has(of_session, "system"), "\"%s\"", of_session);
    CHECK(!supported || has(of_session, supported), "\"%s\" for \"%s\"", of_session, asked ? asked : "");
    CHECK(!not || !has(of_session, not ), "\"%s\" for \"%s\"", of_session, asked ? asked : "");
    MPI_Comm c = comm_of(s, "mpi://SELF", "kinds"), dup;
    MPI_Comm_dup(c, &dup);
    MPI_Comm_get_info(dup, &info);
    const char *got = value_of(&info, "mpi_memory_alloc_kinds");
    CHECK(!strcmp(got, of_session), "the communicator's is \"%s\", the session's \"%s\"", got, of_session);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&c);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    level(NULL, "MPI_THREAD_SERIALIZED");
    level("MPI_THREAD_SINGLE", "MPI_THREAD_SINGLE");
    level("MPI_THREAD_FUNNELED", "MPI_THREAD_FUNNELED");
    level("MPI_THREAD_SERIALIZED", "MPI_THREAD_SERIALIZED");
    level("MPI_THREAD_MULTIPLE", "MPI_THREAD_MULTIPLE");
    MPI_Session multiple = with("thread_level", "MPI_THREAD_MULTIPLE");
    level(NULL, "MPI_THREAD_MULTIPLE"); /* what the process has */
    level("MPI_THREAD_FUNNELED", "MPI_THREAD_FUNNELED");
    CHECK_EQ(MPI_Session_finalize(&multiple), MPI_SUCCESS);
    level(NULL, "MPI_THREAD_SERIALIZED");
    kinds(NULL, "mpi:alloc_mem", "gpu:device"); /* as mpiexec was told */
    kinds("mpi:win_allocate , system", "mpi:win_allocate", "mpi:alloc_mem");
    kinds("gpu:device,mpi:alloc_mem:win_allocate_shared", "mpi:alloc_mem:win_allocate_shared", "gpu:device");
    kinds("mpi:nowhere,", NULL, "mpi:nowhere");
    kinds("", NULL, NULL);
    MPI_Init(&argc, &argv);
    MPI_Info info;
    MPI_Comm_get_info(MPI_COMM_WORLD, &info);
    const char *got = value_of(&info, "mpi_memory_alloc_kinds");
    CHECK(has(got, "mpi") && has(got, "system") && has(got, "mpi:alloc_mem") && !has(got, "gpu:device"),
          "\"%s\"", got);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_memory_alloc_kinds", "none");
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    MPI_Comm_get_info(MPI_COMM_SELF, &info);
    CHECK(has(value_of(&info, "mpi_memory_alloc_kinds"), "mpi:alloc_mem"), "it cannot be changed");
    return check_done();
}
