/* SPDX-License-Identifier: BSD-3-Clause */
/* What a tool sets before MPI_Init takes effect there, also where the environment says something else: the initial
 * error handler, and the longest message that is sent without asking. */
/* ranks: 2 3 */
/* env: KEEL_EAGER_MAX=1M */
#include "tool.h"

static void set(const char *name, MPI_Datatype expected, const void *value)
{
    MPI_T_cvar_handle h;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int count, index = tool_cvar(name);
    OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, NULL));
    CHECK(type == expected, "of %s", name);
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, &count));
    OK(MPI_T_cvar_write(h, value));
    OK(MPI_T_cvar_handle_free(&h));
}

/* Messages of `bytes` to the next rank: how many of them were by rendezvous? */
static unsigned long long by_rendezvous(MPI_T_pvar_session session, int bytes)
{
    static char out[5000], in[5000];
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    MPI_T_pvar_handle h = tool_watch(session, "keel_messages_rendezvous", MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long n;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_T_pvar_reset(session, h));
    MPI_Sendrecv(out, bytes, MPI_CHAR, to, 1, in, bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    n = tool_read(session, h);
    OK(MPI_T_pvar_handle_free(session, &h));
    return n;
}

int main(int argc, char **argv)
{
    int returns = 2, checks = 0, on = 1, value = 0;
    MPI_Count most = 1000;
    MPI_T_pvar_session session;
    tool_begin();
    set("keel_initial_errhandler", MPI_INT, &returns);
    set("keel_eager_max", MPI_COUNT, &most);
    check_init(&argc, &argv);
    OK(MPI_T_pvar_session_create(&session));
    CHECK_ERR(MPI_Send(&value, 1, MPI_INT, check_size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    CHECK_EQ(by_rendezvous(session, 900), 0);
    CHECK_EQ(by_rendezvous(session, 1100), 1);
    most = 2000; /* and while MPI runs */
    set("keel_eager_max", MPI_COUNT, &most);
    CHECK_EQ(by_rendezvous(session, 1100), 0);
    CHECK_EQ(by_rendezvous(session, 2100), 1);
    /* what checks find is not found without them: a count of -1 to MPI_PROC_NULL */
    CHECK_ERR(MPI_Send(&value, -1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    set("keel_check_args", MPI_INT, &checks);
    CHECK_ERR(MPI_Send(&value, -1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    set("keel_check_args", MPI_INT, &on);
    CHECK_ERR(MPI_Send(&value, -1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return check_done();
}
