/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* What is wrong is said, by the handler that the standard names. */
/* abi: mpich, because a handle that was freed may be another object's */
/* mpiexec: -initial-errhandler mpi_errors_return */
#include "session.h"

static int called, code_seen;
static MPI_Session session_seen;
static MPI_Comm comm_seen = MPI_COMM_SELF;

static void on_session(MPI_Session *s, int *code, ...)
{
    called++;
    code_seen = *code;
    session_seen = *s;
}

static void on_comm(MPI_Comm *c, int *code, ...)
{
    (void)code;
    comm_seen = *c;
    called += 100;
}

/* Before there is any. */
static void before(void)
{
    int n = 0, level;
    MPI_Session s = MPI_SESSION_NULL;
    MPI_Info info;
    CHECK_ERR(MPI_Comm_rank(MPI_COMM_WORLD, &n), MPI_ERR_OTHER);
    CHECK_SAYS("before MPI_Init, and without a session");
    CHECK_ERR(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_ERR_OTHER);
    CHECK_ERR(MPI_Session_finalize(&s), MPI_ERR_OTHER);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MOST");
    CHECK_ERR(MPI_Session_init(info, MPI_ERRORS_RETURN, &s), MPI_ERR_INFO_VALUE);
    CHECK_SAYS("MPI_THREAD_MOST");
    CHECK(s == MPI_SESSION_NULL);
    MPI_Errhandler h;
    MPI_Session_create_errhandler(on_session, &h);
    session_seen = s;
    CHECK_ERR(MPI_Session_init(info, h, &s), MPI_ERR_INFO_VALUE);
    CHECK_EQ(called, 1, "the handler that MPI_Session_init was given");
    CHECK_EQ(code_seen, MPI_ERR_INFO_VALUE);
    CHECK(session_seen == MPI_SESSION_NULL);
    MPI_Errhandler_free(&h);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &s), MPI_ERR_ERRHANDLER);
    CHECK_ERR(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Query_thread(&level), MPI_ERR_OTHER);
    called = 0;
}

/* The world model is not there. */
static void no_world(MPI_Session s)
{
    int n = 0;
    MPI_Group g;
    MPI_Comm c;
    CHECK_ERR(MPI_Comm_rank(MPI_COMM_WORLD, &n), MPI_ERR_COMM);
    CHECK_SAYS("is MPI_COMM_WORLD, which there is from MPI_Init to MPI_Finalize only");
    CHECK_ERR(MPI_Barrier(MPI_COMM_SELF), MPI_ERR_COMM);
    CHECK_SAYS("is MPI_COMM_SELF");
    CHECK_ERR(MPI_Send(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_group(MPI_COMM_WORLD, &g), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_dup(MPI_COMM_SELF, &c), MPI_ERR_COMM);
    CHECK_ERR(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_ERR_COMM);
    CHECK_ERR(MPI_Query_thread(&n), MPI_ERR_OTHER);
    CHECK_SAYS("before MPI_Init");
    CHECK_ERR(MPI_Is_thread_main(&n), MPI_ERR_OTHER);
    CHECK_ERR(MPI_Finalize(), MPI_ERR_OTHER);
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_WORLD),
             MPI_Comm_toint(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD))));
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_SELF)) == MPI_COMM_SELF,
          "conversions are legal at any time");
    CHECK_EQ(called, 0, "these are no errors of a session");
    (void)s;
}

/* Errors on the session, and on a group derived from it, go to its handler. */
static void on_objects(MPI_Session s)
{
    int n = 0, len = 8;
    char name[8];
    MPI_Info info;
    MPI_Group g, h, none;
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Errhandler mine, of_comm, got;
    MPI_Session_create_errhandler(on_session, &mine);
    MPI_Comm_create_errhandler(on_comm, &of_comm);
    CHECK_ERR(MPI_Session_set_errhandler(s, of_comm), MPI_ERR_ERRHANDLER);
    CHECK_SAYS("for communicators; expected one for sessions");
    MPI_Session_get_errhandler(s, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    CHECK_EQ(MPI_Session_set_errhandler(s, mine), MPI_SUCCESS);
    MPI_Session_get_errhandler(s, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine); /* the session keeps it */
    called = 0;
    CHECK_ERR(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 1000, &len, name), MPI_ERR_ARG);
    CHECK_EQ(called, 1);
    CHECK(session_seen == s);
    CHECK_EQ(code_seen, MPI_ERR_ARG);
    CHECK_ERR(MPI_Session_get_pset_info(s, "keel://nowhere", &info), MPI_ERR_ARG);
    CHECK_SAYS("keel://nowhere");
    CHECK_EQ(called, 2);
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &g), MPI_SUCCESS);
    int bad[1] = { 1000 };
    CHECK_ERR(MPI_Group_incl(g, 1, bad, &h), MPI_ERR_RANK);
    CHECK_EQ(called, 3, "a group's session");
    CHECK(session_seen == s);
    int first[1] = { 0 };
    MPI_Group_incl(g, 1, first, &h);
    CHECK_ERR(MPI_Group_excl(h, 1, bad, &none), MPI_ERR_RANK);
    CHECK_EQ(called, 4, "a group made of it");
    CHECK_ERR(MPI_Comm_create_from_group(g, "wrong", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &c),
              MPI_ERR_ERRHANDLER);
    CHECK_EQ(called, 5);
    MPI_Session_get_errhandler(s, &got);
    CHECK_ERR(MPI_Comm_create_from_group(g, "kind", MPI_INFO_NULL, got, &c), MPI_ERR_ERRHANDLER);
    CHECK_EQ(called, 6);
    MPI_Errhandler_free(&got);
    /* The handler that the call is given for what it makes has the call's own errors. */
    char longer[MPI_MAX_STRINGTAG_LEN + 2];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    CHECK_ERR(MPI_Comm_create_from_group(g, longer, MPI_INFO_NULL, of_comm, &c), MPI_ERR_ARG);
    CHECK_EQ(called, 106);
    CHECK(comm_seen == MPI_COMM_NULL && c == MPI_COMM_NULL);
    CHECK_ERR(MPI_Intercomm_create_from_groups(g, 0, h, 0, longer, MPI_INFO_NULL, of_comm, &c), MPI_ERR_ARG);
    CHECK_EQ(called, 206);
    CHECK_ERR(MPI_Intercomm_create_from_groups(g, -1, h, 0, "x", MPI_INFO_NULL, of_comm, &c), MPI_ERR_RANK);
    CHECK_EQ(called, 306);
    CHECK_ERR(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, of_comm, &c), MPI_ERR_GROUP);
    CHECK_EQ(called, 406);
    CHECK_ERR(MPI_Comm_create_from_group(g, longer, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_ERR_ARG);
    CHECK_EQ(called, 406, "not the session's");
    called = 6;
    CHECK_EQ(MPI_Session_call_errhandler(s, MPI_ERR_TAG), MPI_SUCCESS);
    CHECK_EQ(called, 7);
    CHECK_EQ(code_seen, MPI_ERR_TAG);
    CHECK_ERR(MPI_Session_flush_buffer(s), MPI_ERR_BUFFER);
    CHECK_EQ(called, 8);
    c = comm_of(s, "mpi://SELF", "own"); /* its handler is its own */
    CHECK_EQ(MPI_Comm_set_errhandler(c, of_comm), MPI_SUCCESS);
    called = 0;
    CHECK_ERR(MPI_Send(&n, 1, MPI_INT, 7, 0, c), MPI_ERR_RANK);
    CHECK_EQ(called, 100, "a communicator's");
    MPI_Errhandler_free(&of_comm);
    MPI_Comm_free(&c);
    MPI_Group_free(&h);
    MPI_Group_free(&g);
}

int main(void)
{
    before();
    MPI_Session s = session(), old = s;
    int n;
    no_world(s);
    on_objects(s);
    CHECK_ERR(MPI_Session_get_num_psets((MPI_Session)MPI_COMM_NULL, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    CHECK_ERR(MPI_Session_get_num_psets(MPI_SESSION_NULL, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Session_finalize(NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    s = session();
    CHECK_ERR(MPI_Session_get_num_psets(old, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    CHECK_SAYS("that was freed");
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    CHECK_ERR(MPI_Session_finalize(&s), MPI_ERR_OTHER);
    return session_done();
}
