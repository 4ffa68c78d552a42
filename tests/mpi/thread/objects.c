/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not a message, from many threads at once: attributes, error handlers, infos, datatypes, groups,
 * communicators, requests that are cancelled or freed beside a wait, error texts, MPI_T. */
/* ranks: 1 2 3 */
/* cflags: -pthread */
/* args: 20 */
#include "thread.h"

enum { THREADS = 6 };

static int rounds = 20, keyval;
static MPI_Info shared_info;
static MPI_Group world_group;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static void attributes(struct thread *me)
{
    MPI_Comm dup;
    char *value = NULL;
    int flag = 0, mine;
    MPI_Comm_set_attr(me->comm, keyval, (char *)0x1000 + me->id);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &mine, NULL);
    MPI_Comm_set_attr(me->comm, mine, me);
    MPI_Comm_dup(me->comm, &dup);
    MPI_Comm_get_attr(dup, keyval, &value, &flag);
    THREAD_CHECK(flag && value == (char *)0x1001 + me->id, "%d, %p", flag, (void *)value);
    MPI_Comm_get_attr(me->comm, mine, &value, &flag);
    THREAD_CHECK(flag && value == (char *)me, "%d, %p", flag, (void *)value);
    MPI_Comm_delete_attr(me->comm, mine);
    MPI_Comm_free_keyval(&mine);
    MPI_Comm_free(&dup);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    *code = *code; /* nothing to do: the call returns the code */
}

/* The text is that of this thread's error, whatever others do meanwhile. */
static void errors(struct thread *me)
{
    char text[MPI_MAX_ERROR_STRING], expect[32];
    int n, x = 0, bad = check_size + 10 + me->id, code;
    MPI_Errhandler h;
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(me->comm, h);
    MPI_Errhandler_free(&h);
    code = MPI_Send(&x, 1, MPI_INT, bad, 0, me->comm);
    MPI_Error_string(code, text, &n);
    snprintf(expect, sizeof expect, "is %d;", bad);
    THREAD_CHECK(code == MPI_ERR_RANK && strstr(text, expect), "%d: %s", code, text);
}

static void infos(struct thread *me, int round)
{
    char key[32], value[32], got[32] = "";
    int flag = 0, n = sizeof got;
    MPI_Info mine;
    snprintf(key, sizeof key, "thread_%d", me->id);
    snprintf(value, sizeof value, "round_%d", round);
    MPI_Info_set(shared_info, key, value);
    MPI_Info_dup(shared_info, &mine);
    MPI_Info_get_string(mine, key, &n, got, &flag);
    THREAD_CHECK(flag && strcmp(got, value) == 0, "%d, \"%s\"", flag, got);
    MPI_Info_free(&mine);
}

static void datatypes(struct thread *me)
{
    MPI_Datatype column, row;
    int from[8][8], to[8], size = 0;
    MPI_Request r;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_dup(column, &row);
    MPI_Type_size(row, &size);
    for (int i = 0; i < 8; i++)
        from[i][3] = 100 * me->id + i;
    MPI_Irecv(to, 8, MPI_INT, check_rank, 3, me->comm, &r);
    MPI_Send(&from[0][3], 1, row, check_rank, 3, me->comm);
    MPI_Type_free(&column);
    MPI_Type_free(&row);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        THREAD_CHECK(to[i] == 100 * me->id + i && size == 32, "%d", to[i]);
}

static void groups(void)
{
    MPI_Group all, none;
    int n = -1;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_difference(all, world_group, &none);
    MPI_Group_size(none, &n);
    THREAD_CHECK(n == 0 && none == MPI_GROUP_EMPTY, "%d", n);
    MPI_Group_free(&all);
}

static void communicators(struct thread *me)
{
    MPI_Comm split, dup[3];
    MPI_Request r[3];
    int sum = 0, one = 1;
    for (int i = 0; i < 3; i++)
        MPI_Comm_idup(me->comm, &dup[i], &r[i]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Comm_split(dup[1], 0, -check_rank, &split);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, split);
    THREAD_CHECK(sum == check_size, "%d", sum);
    MPI_Comm_free(&split);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&dup[i]);
}

static void cancelled(struct thread *me)
{
    int x[2], flag = 0;
    MPI_Request r[2];
    MPI_Status s;
    MPI_Irecv(&x[0], 1, MPI_INT, check_rank, 77, me->comm, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s);
    MPI_Test_cancelled(&s, &flag);
    THREAD_CHECK(flag, "a receive that nothing matches");
    MPI_Irecv(&x[1], 1, MPI_INT, check_rank, 78, me->comm, &r[1]);
    MPI_Isend(x, 1, MPI_INT, check_rank, 78, me->comm, &r[0]);
    MPI_Request_free(&r[0]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

static void tool(void)
{
    int n = 0, provided, len = 0;
    MPI_T_pvar_session session;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_cvar_get_num(&n);
    MPI_T_pvar_session_create(&session);
    THREAD_CHECK(n > 0 && provided == MPI_THREAD_MULTIPLE, "%d, %d", n, provided);
    (void)len;
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void work(struct thread *me)
{
    for (int round = 0; round < rounds; round++) {
        attributes(me);
        errors(me);
        infos(me, round);
        datatypes(me);
        groups();
        if (round % 4 == 0)
            communicators(me);
        cancelled(me);
        tool();
    }
}

int main(int argc, char **argv)
{
    static struct thread t[THREADS];
    threads_init(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Info_create(&shared_info);
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){ .id = i, .of = THREADS };
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    threads_go(t, THREADS, work);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&t[i].comm);
    MPI_Info_free(&shared_info);
    MPI_Group_free(&world_group);
    MPI_Comm_free_keyval(&keyval);
    return check_done();
}
