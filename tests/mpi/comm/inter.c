/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: made of two communicators, asked about, messages over them, copied, compared, freed. */
/* ranks: 2 3 5 8 */
#include "../check.h"

static MPI_Comm half, inter;
static MPI_Group world;
static int side, nlocal, nremote, rank; /* the even processes are one side */

static int world_of_remote(int r)
{
    return 2 * r + !side;
}

static void make(MPI_Comm *made, int leader_from_end)
{
    int leader = leader_from_end ? nlocal - 1 : 0, other = leader_from_end ? nremote - 1 : 0;
    MPI_Intercomm_create(half, leader, rank == leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                         rank == leader ? world_of_remote(other) : -77, 5, made);
}

static void expect_compare(MPI_Comm a, MPI_Comm b, int expected)
{
    int r = -1;
    MPI_Comm_compare(a, b, &r);
    CHECK_EQ(r, expected);
    MPI_Comm_compare(b, a, &r);
    CHECK_EQ(r, expected);
}

/* Who is in it, as the accessors say. */
static void accessors(MPI_Comm c)
{
    int size = -1, remote = -1, r = -1, flag = -1, zero = 0, w = -1;
    MPI_Group g;
    MPI_Comm_test_inter(c, &flag);
    CHECK_EQ(flag, 1);
    MPI_Comm_size(c, &size);
    MPI_Comm_rank(c, &r);
    MPI_Comm_remote_size(c, &remote);
    CHECK_EQ(size, nlocal);
    CHECK_EQ(r, rank);
    CHECK_EQ(remote, nremote);
    MPI_Comm_group(c, &g);
    MPI_Group_translate_ranks(g, 1, &rank, world, &w);
    CHECK_EQ(w, check_rank);
    MPI_Group_free(&g);
    MPI_Comm_remote_group(c, &g);
    MPI_Group_size(g, &size);
    CHECK_EQ(size, nremote);
    MPI_Group_rank(g, &r);
    CHECK_EQ(r, MPI_UNDEFINED);
    for (zero = 0; zero < nremote; zero++) {
        MPI_Group_translate_ranks(g, 1, &zero, world, &w);
        CHECK_EQ(w, world_of_remote(zero));
    }
    MPI_Group_free(&g);
}

/* Everybody sends to everybody on the other side, of several sizes, and receives by rank, or whatever comes. */
static void messages(MPI_Comm c, int salt)
{
    enum { SIZES = 3 };
    static const int sizes[SIZES] = { 4, 3000, 150000 };
    static unsigned char in[150000], out[150000];
    for (int k = 0; k < SIZES; k++) {
        MPI_Request *s = malloc((size_t)nremote * sizeof *s);
        check_fill(out, (size_t)sizes[k], (uint64_t)(check_rank + salt));
        for (int i = 0; i < nremote; i++)
            MPI_Isend(out, sizes[k], MPI_BYTE, i, 100 + k, c, &s[i]);
        for (int i = nremote - 1; i >= 0; i--) {
            MPI_Status st;
            int any = (k + i) % 2, count = -1;
            MPI_Message m;
            if (k == 1) {
                MPI_Mprobe(i, MPI_ANY_TAG, c, &m, &st);
                CHECK_EQ(st.MPI_SOURCE, i);
                MPI_Mrecv(in, sizes[k], MPI_BYTE, &m, &st);
            } else {
                MPI_Probe(i, 100 + k, c, &st);
                CHECK_EQ(st.MPI_SOURCE, i);
                MPI_Recv(in, sizes[k], MPI_BYTE, i, any ? MPI_ANY_TAG : 100 + k, c, &st);
            }
            CHECK_EQ(st.MPI_SOURCE, i);
            CHECK_EQ(st.MPI_TAG, 100 + k);
            MPI_Get_count(&st, MPI_BYTE, &count);
            CHECK_EQ(count, sizes[k]);
            CHECK_BYTES(in, (size_t)sizes[k], (uint64_t)(world_of_remote(i) + salt));
        }
        MPI_Waitall(nremote, s, MPI_STATUSES_IGNORE);
        free(s);
    }
}

/* MPI_ANY_SOURCE: each of the other side once; its source is its rank there. */
static void wildcards(MPI_Comm c)
{
    int mine = check_rank, *seen = calloc((size_t)nremote, sizeof *seen);
    MPI_Request *s = malloc((size_t)nremote * sizeof *s);
    for (int i = 0; i < nremote; i++)
        MPI_Issend(&mine, 1, MPI_INT, i, 1000 + i, c, &s[i]);
    for (int i = 0; i < nremote; i++) {
        int v = -1;
        MPI_Status st;
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1000 + rank, c, &st);
        CHECK(st.MPI_SOURCE >= 0 && st.MPI_SOURCE < nremote, "source %d", st.MPI_SOURCE);
        CHECK_EQ(v, world_of_remote(st.MPI_SOURCE));
        seen[st.MPI_SOURCE]++;
    }
    MPI_Waitall(nremote, s, MPI_STATUSES_IGNORE);
    for (int i = 0; i < nremote; i++)
        CHECK_EQ(seen[i], 1, "from %d", i);
    free(seen);
    free(s);
}

/* Pairs of all other kinds of calls. */
static void other_calls(MPI_Comm c)
{
    int v = check_rank, w = -1, to = rank;
    MPI_Request p[2];
    MPI_Status st;
    if (to >= nremote)
        to = MPI_PROC_NULL;
    MPI_Sendrecv(&v, 1, MPI_INT, to, 1, &w, 1, MPI_INT, to, 1, c, &st);
    CHECK_EQ(w, to == MPI_PROC_NULL ? -1 : world_of_remote(to));
    CHECK_EQ(st.MPI_SOURCE, to);
    MPI_Sendrecv_replace(&v, 1, MPI_INT, to, 2, to, 2, c, &st);
    CHECK_EQ(v, to == MPI_PROC_NULL ? check_rank : world_of_remote(to));
    v = 10 * check_rank;
    MPI_Send_init(&v, 1, MPI_INT, to, 3, c, &p[0]);
    MPI_Recv_init(&w, 1, MPI_INT, to, 3, c, &p[1]);
    for (int i = 0; i < 3; i++) {
        w = -1;
        MPI_Startall(2, p);
        MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
        CHECK_EQ(w, to == MPI_PROC_NULL ? -1 : 10 * world_of_remote(to));
    }
    MPI_Request_free(&p[0]);
    MPI_Request_free(&p[1]);
    char buffer[200 + MPI_BSEND_OVERHEAD];
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(&v, 1, MPI_INT, to, 4, c);
    MPI_Recv(&w, 1, MPI_INT, to, 4, c, MPI_STATUS_IGNORE);
    int size;
    void *b;
    MPI_Buffer_detach(&b, &size);
}

static int copies, deletions;
static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}
static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void duplicates(void)
{
    MPI_Comm a, b, c, d;
    MPI_Request r[2];
    MPI_Info info, used;
    int key, flag = 0, len = 10, *ub = NULL;
    char *value = NULL, text[MPI_MAX_OBJECT_NAME] = "";
    static char x;
    MPI_Comm_create_keyval(copy, forget, &key, NULL);
    MPI_Comm_set_attr(inter, key, &x);
    MPI_Comm_set_name(inter, "between");
    MPI_Comm_dup(inter, &a);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_dup_with_info(a, info, &b);
    MPI_Comm_idup(inter, &c, &r[0]);
    MPI_Comm_idup_with_info(inter, info, &d, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(copies, 4);
    MPI_Comm all[4] = { a, b, c, d };
    for (int i = 0; i < 4; i++) {
        accessors(all[i]);
        expect_compare(all[i], inter, MPI_CONGRUENT);
        MPI_Comm_get_attr(all[i], key, &value, &flag);
        CHECK(flag && value == &x);
        MPI_Comm_get_attr(all[i], MPI_TAG_UB, &ub, &flag);
        CHECK(flag && *ub >= 32767);
        MPI_Comm_get_info(all[i], &used);
        len = sizeof text;
        MPI_Info_get_string(used, "mpi_assert_exact_length", &len, text, &flag);
        CHECK(flag && !strcmp(text, i % 2 ? "true" : "false"), "copy %d: %s", i, text);
        MPI_Info_free(&used);
        MPI_Comm_get_name(all[i], text, &len);
        CHECK_EQ(len, 0);
    }
    MPI_Comm_get_name(inter, text, &len);
    CHECK(!strcmp(text, "between"), "%s", text);
    for (int i = 3; i >= 0; i--) {
        messages(all[i], i);
        MPI_Comm_free(&all[i]);
    }
    CHECK_EQ(deletions, 4);
    MPI_Comm_delete_attr(inter, key);
    MPI_Comm_free_keyval(&key);
    MPI_Info_free(&info);
}

/* The same message numbers on communicators beside each other; user messages on the peer communicator with the tag
 * that is used to make one. */
static void apart(void)
{
    MPI_Comm c[3];
    int out[3], in[3], other = nremote > rank ? rank : MPI_PROC_NULL, v = 7, w = 0;
    int peer = world_of_remote(0);
    MPI_Request r[3], early[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    if (rank == 0) {
        MPI_Irecv(&w, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &early[0]);
        MPI_Isend(&v, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &early[1]);
    }
    for (int i = 0; i < 3; i++)
        make(&c[i], i % 2);
    MPI_Waitall(2, early, MPI_STATUSES_IGNORE);
    CHECK_EQ(w, rank == 0 ? 7 : 0);
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, other, 0, c[i], &r[i]);
    for (int i = 2; i >= 0; i--) {
        out[i] = 10 * check_rank + i;
        MPI_Send(&out[i], 1, MPI_INT, other, 0, c[i]);
    }
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        if (other != MPI_PROC_NULL)
            CHECK_EQ(in[i], 10 * world_of_remote(other) + i);
        MPI_Comm_free(&c[i]);
    }
}

/* Freed while messages are under way. */
static void free_early(void)
{
    MPI_Comm c;
    static char in[200000], out[200000];
    int other = nremote > rank ? rank : MPI_PROC_NULL;
    MPI_Request r[2];
    make(&c, 0);
    check_fill(out, sizeof out, (uint64_t)check_rank);
    MPI_Irecv(in, sizeof in, MPI_CHAR, other, 0, c, &r[0]);
    MPI_Isend(out, sizeof out, MPI_CHAR, other, 0, c, &r[1]);
    MPI_Comm_free(&c);
    CHECK(c == MPI_COMM_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (other != MPI_PROC_NULL)
        CHECK_BYTES(in, sizeof in, (uint64_t)world_of_remote(other));
}

static void compare(void)
{
    MPI_Comm again, back, turned;
    make(&again, 1);
    expect_compare(again, inter, MPI_CONGRUENT);
    expect_compare(inter, inter, MPI_IDENT);
    expect_compare(inter, half, MPI_UNEQUAL);
    expect_compare(inter, MPI_COMM_WORLD, MPI_UNEQUAL);
    /* one side turned round: similar in both sides */
    MPI_Comm_split(half, 0, side ? -rank : rank, &back);
    int leader = side ? nlocal - 1 : 0, r;
    MPI_Comm_rank(back, &r);
    MPI_Intercomm_create(back, leader, MPI_COMM_WORLD, world_of_remote(0), 9, &turned);
    expect_compare(turned, inter, check_size > 3 ? MPI_SIMILAR : MPI_CONGRUENT);
    MPI_Comm_free(&turned);
    MPI_Comm_free(&back);
    MPI_Comm_free(&again);
}

static void errors(void)
{
    int v = 0, before = -1;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, nremote, 0, inter), MPI_ERR_RANK);
    CHECK_ERR(MPI_Recv(&v, 1, MPI_INT, -17, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    MPI_Comm copy;
    MPI_Comm_dup(inter, &copy); /* with its error handler */
    CHECK_ERR(MPI_Send(&v, 1, MPI_INT, nremote, 0, copy), MPI_ERR_RANK);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &before, MPI_STATUS_IGNORE);
    CHECK_EQ(before, 0);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    side = check_rank % 2;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Comm_size(half, &nlocal);
    MPI_Comm_rank(half, &rank);
    nremote = check_size - nlocal;
    make(&inter, 0);
    accessors(inter);
    messages(inter, 1000);
    wildcards(inter);
    other_calls(inter);
    duplicates();
    apart();
    free_early();
    compare();
    errors();
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Group_free(&world);
    return check_done();
}
