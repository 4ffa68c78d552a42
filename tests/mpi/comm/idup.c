/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup and MPI_Comm_idup_with_info: copies that are made while other things go on. */
/* ranks: 1 2 3 5 8 17 */
/* abi: mpich, because a handle that was freed may be another object's */
#include "../check.h"

enum { MANY = 12 };

/* The communicator has all processes in their order, keeps its messages to itself, and has its own context. */
static void expect(MPI_Comm c, int salt)
{
    int rank = -1, size = -1, sum = check_rank + salt, r = -1;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    CHECK_EQ(rank, check_rank);
    CHECK_EQ(size, check_size);
    MPI_Comm_compare(MPI_COMM_WORLD, c, &r);
    CHECK_EQ(r, MPI_CONGRUENT);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * salt);
}

static void ring(MPI_Comm *c, int n)
{
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, in[MANY],
        out[MANY];
    MPI_Request r[MANY], s[MANY];
    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c[i], &r[i]);
    for (int i = n - 1; i >= 0; i--) {
        out[i] = 1000 * i + check_rank;
        MPI_Isend(&out[i], 1, MPI_INT, right, i, c[i], &s[i]);
    }
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(n, s, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], 1000 * i + left, "communicator %d", i);
}

static void one(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    char name[MPI_MAX_OBJECT_NAME];
    int len = -1;
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &r);
    CHECK(r != MPI_REQUEST_NULL);
    MPI_Wait(&r, &s);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK(c != MPI_COMM_NULL);
    CHECK_EQ(s.MPI_SOURCE, MPI_ANY_SOURCE);
    expect(c, 3);
    MPI_Comm_get_name(c, name, &len);
    CHECK_EQ(len, 0); /* names are not copied */
    MPI_Comm_free(&c);
    MPI_Comm_idup(MPI_COMM_SELF, &c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(c);
    MPI_Comm_free(&c);
}

/* Several at a time, each completed in its own way and order, collectives on the parent in between. */
static void several(void)
{
    MPI_Comm c[MANY];
    MPI_Request r[MANY];
    int v, flag = 0, k, done = 0;
    for (int i = 0; i < MANY; i++) {
        MPI_Comm_idup(MPI_COMM_WORLD, &c[i], &r[i]);
        if (i % 3 == 1) {
            v = 1;
            MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK_EQ(v, check_size);
        } else if (i % 3 == 2) {
            MPI_Comm d; /* blocking ones at the same time */
            MPI_Comm_dup(MPI_COMM_WORLD, &d);
            expect(d, i);
            MPI_Comm_free(&d);
        }
    }
    MPI_Wait(&r[MANY - 1 - check_rank % 3], MPI_STATUS_IGNORE); /* each process another one first */
    while (!flag)
        MPI_Test(&r[check_rank % 4], &flag, MPI_STATUS_IGNORE);
    for (done = 2; done < MANY / 2; done++)
        MPI_Waitany(MANY, r, &k, MPI_STATUS_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testall(MANY, r, &flag, MPI_STATUSES_IGNORE);
    ring(c, MANY);
    for (int i = 0; i < MANY; i++) {
        expect(c[i], i);
        MPI_Comm_free(&c[i]);
    }
}

/* A request among those of messages. */
static void mixed(void)
{
    MPI_Comm c;
    MPI_Request r[3];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, in = -1, k,
        seen = 0;
    MPI_Irecv(&in, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &r[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &r[1]);
    MPI_Isend(&check_rank, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &r[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Waitany(3, r, &k, MPI_STATUS_IGNORE);
        CHECK(k >= 0 && k < 3 && !(seen >> k & 1), "index %d", k);
        seen |= 1 << k;
        if (k == 1)
            ring(&c, 1);
    }
    CHECK_EQ(in, left);
    expect(c, 1);
    MPI_Comm_free(&c);
}

/* A process that waits for something else does not hold the others up: rank 0 sits in a receive until the last
 * rank has the communicator, which it cannot get without rank 0. */
static void goes_on_by_itself(void)
{
    MPI_Comm c;
    MPI_Request r;
    int token = 0;
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &r);
    if (check_rank == 0 && check_size > 1)
        MPI_Recv(&token, 1, MPI_INT, check_size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (check_rank == check_size - 1 && check_size > 1)
        MPI_Ssend(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    expect(c, 0);
    MPI_Comm_free(&c);
}

/* The parent is freed, and a grandchild is begun, before the copies are there. */
static void freed_parent(void)
{
    MPI_Comm a, b, c;
    MPI_Request r[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_idup(a, &b, &r[0]);
    MPI_Comm_idup_with_info(a, MPI_INFO_NULL, &c, &r[1]);
    MPI_Comm_free(&a);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Comm_idup(b, &a, &r[0]);
    MPI_Comm_free(&b);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    expect(a, 8);
    expect(c, 9);
    MPI_Comm_free(&a);
    MPI_Comm_free(&c);
}

/* Copies of two parents, begun in another order by every other process, after communicators of which only some
 * know: the same context must not be taken for both. */
static void crossed(int round)
{
    MPI_Comm p[2], self[8], c[2 * MANY];
    MPI_Request r[2 * MANY];
    int n = check_rank * 5 % 8;
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &self[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &p[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, &p[1]);
    for (int i = 0; i < n; i++)
        MPI_Comm_dup(self[i], &c[i]), MPI_Comm_free(&self[i]), self[i] = c[i];
    for (int i = 0; i < 2 * MANY; i++) {
        int k = (check_rank + round) % 2 ? i % 2 * MANY + i / 2 : (1 - i % 2) * MANY + i / 2;
        MPI_Comm_idup(p[k / MANY], &c[k], &r[k]);
        if ((check_rank + i) % 5 == 0) {
            MPI_Comm s;
            MPI_Comm_dup(MPI_COMM_SELF, &s);
            MPI_Comm_free(&s);
        }
    }
    MPI_Comm_free(&p[0]);
    MPI_Comm_free(&p[1]);
    MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) /* neighbours in time belong to different parents */
        ring((MPI_Comm[]){ c[i], c[MANY + i] }, 2);
    ring(c, MANY);
    ring(c + MANY, MANY);
    for (int i = 0; i < 2 * MANY; i++)
        MPI_Comm_free(&c[i]);
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&self[i]);
}

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return extra && check_rank == *(int *)extra ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

/* The attributes are those of the moment of the call. */
static void attributes(void)
{
    static char x[4];
    MPI_Comm p, c;
    MPI_Request r;
    int key, flag = 0;
    char *value = NULL;
    MPI_Comm_create_keyval(copy, forget, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &p);
    MPI_Comm_set_attr(p, key, x);
    copies = deletions = 0;
    MPI_Comm_idup(p, &c, &r);
    CHECK_EQ(copies, 1);
    MPI_Comm_set_attr(p, key, x + 2);
    CHECK_EQ(deletions, 1);
    MPI_Comm_free(&p);
    CHECK_EQ(deletions, 2);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(c, key, &value, &flag);
    CHECK(flag && value == x + 1);
    MPI_Comm_free(&c);
    CHECK_EQ(copies, 1);
    CHECK_EQ(deletions, 3);
    MPI_Comm_free_keyval(&key);
}

/* A copy callback fails in one process: the call fails there, the operation everywhere, and what was copied is
 * deleted. */
static void failing(void)
{
    static char x[4];
    MPI_Comm p, c;
    MPI_Request r = MPI_REQUEST_NULL;
    int key, victim = check_size - 1, err;
    MPI_Comm_create_keyval(copy, forget, &key, &victim);
    MPI_Comm_dup(MPI_COMM_WORLD, &p);
    MPI_Comm_set_errhandler(p, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(p, key, x);
    copies = deletions = 0;
    err = MPI_Comm_idup(p, &c, &r);
    CHECK_EQ(err != MPI_SUCCESS, check_rank == victim);
    if (err == MPI_SUCCESS) {
        CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
        CHECK_SAYS("of the communicator failed with this error");
        CHECK_EQ(deletions, 1);
        CHECK_ERR(MPI_Comm_free(&c), MPI_ERR_COMM);
    }
    CHECK_EQ(copies, 1);
    MPI_Comm_delete_attr(p, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_idup(p, &c, &r); /* the next one works */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect(c, 4);
    MPI_Comm_free(&c);
    MPI_Comm_free(&p);
}

static MPI_Comm handled;
static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    handled = *comm;
}

/* What needs no other process may be done before the copy is complete: at rank 0, which the others wait for. */
static void local(MPI_Comm c, int key)
{
    static char x[2];
    MPI_Errhandler h, got;
    MPI_Group group;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME], text[8] = "", *value = NULL;
    int n = -1, flag = -1, topology = -1, dims = -1;
    MPI_Comm_create_errhandler(handle, &h);
    CHECK_ERR(MPI_Comm_set_errhandler(c, h), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_get_errhandler(c, &got), MPI_SUCCESS);
    CHECK(got == h);
    CHECK_ERR(MPI_Comm_call_errhandler(c, MPI_ERR_OTHER), MPI_SUCCESS);
    CHECK(handled == c, "the handler got another communicator");
    MPI_Errhandler_free(&h);
    MPI_Errhandler_free(&got);
    CHECK_ERR(MPI_Comm_set_name(c, "early"), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_get_name(c, name, &n), MPI_SUCCESS);
    CHECK(!strcmp(name, "early"), "%s", name);
    deletions = 0;
    CHECK_ERR(MPI_Comm_set_attr(c, key, x), MPI_SUCCESS);
    CHECK_ERR(MPI_Comm_get_attr(c, key, &value, &flag), MPI_SUCCESS);
    CHECK(flag && value == x);
    CHECK_ERR(MPI_Comm_delete_attr(c, key), MPI_SUCCESS);
    CHECK_EQ(deletions, 1);
    CHECK_ERR(MPI_Comm_set_attr(c, key, x + 1), MPI_SUCCESS);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    CHECK_ERR(MPI_Comm_set_info(c, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_Comm_get_info(c, &info), MPI_SUCCESS);
    MPI_Info_get(info, "mpi_assert_exact_length", 7, text, &flag);
    CHECK(flag && !strcmp(text, "true"), "%s", text);
    MPI_Info_free(&info);
    CHECK_ERR(MPI_Comm_size(c, &n), MPI_SUCCESS);
    CHECK_EQ(n, check_size);
    CHECK_ERR(MPI_Comm_rank(c, &n), MPI_SUCCESS);
    CHECK_EQ(n, check_rank);
    CHECK_ERR(MPI_Comm_test_inter(c, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    CHECK_ERR(MPI_Comm_group(c, &group), MPI_SUCCESS);
    MPI_Group_size(group, &n);
    CHECK_EQ(n, check_size);
    MPI_Group_free(&group);
    CHECK_ERR(MPI_Comm_compare(c, MPI_COMM_WORLD, &n), MPI_SUCCESS);
    CHECK_EQ(n, MPI_CONGRUENT);
    CHECK_ERR(MPI_Topo_test(c, &topology), MPI_SUCCESS);
    CHECK_EQ(topology, MPI_CART);
    CHECK_ERR(MPI_Cartdim_get(c, &dims), MPI_SUCCESS);
    CHECK_EQ(dims, 1);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(c)) == c, "as an int");
    CHECK_ERR(MPI_Barrier(c), MPI_ERR_COMM);
}

static void early(void)
{
    MPI_Comm grid, c;
    MPI_Request r;
    int key, flag = 0, len = -1, token = 0, yes = 1;
    char name[MPI_MAX_OBJECT_NAME], *value = NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &yes, 0, &grid);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, NULL);
    if (check_rank > 0)
        MPI_Recv(&token, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(grid, &c, &r);
    if (check_rank == 0 && check_size > 1)
        local(c, key);
    for (int i = 1; check_rank == 0 && i < check_size; i++)
        MPI_Send(&token, 1, MPI_INT, i, 8, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (check_rank == 0 && check_size > 1) { /* it has been done to what there is now */
        MPI_Comm_get_attr(c, key, &value, &flag);
        CHECK(flag && value != NULL);
        MPI_Comm_get_name(c, name, &len);
        CHECK(!strcmp(name, "early"), "%s", name);
        handled = MPI_COMM_NULL;
        MPI_Comm_call_errhandler(c, MPI_ERR_OTHER);
        CHECK(handled == c);
    }
    expect(c, 5);
    MPI_Comm_free(&c);
    MPI_Comm_free(&grid);
    MPI_Comm_free_keyval(&key);
}

static void errors(void)
{
    MPI_Comm c = MPI_COMM_NULL, early;
    MPI_Request r, none;
    int n;
    if (check_rank > 0)
        MPI_Recv(&n, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &r);
    if (check_rank == 0 && check_size > 1) { /* not complete: the others wait for a message */
        early = c;
        CHECK_ERR(MPI_Barrier(c), MPI_ERR_COMM);
        CHECK_SAYS("MPI_Comm_idup");
        CHECK_ERR(MPI_Send(&n, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM);
        CHECK_ERR(MPI_Comm_free(&early), MPI_ERR_COMM);
        CHECK_ERR(MPI_Cancel(&r), MPI_ERR_REQUEST);
        CHECK_ERR(MPI_Request_free(&r), MPI_ERR_REQUEST); /* as of any nonblocking collective */
        CHECK_SAYS("collective");
    }
    for (int i = 1; check_rank == 0 && i < check_size; i++)
        MPI_Send(&check_rank, 1, MPI_INT, i, 6, MPI_COMM_WORLD);
    CHECK_ERR(MPI_Comm_idup(MPI_COMM_NULL, &early, &none), MPI_ERR_COMM);
    CHECK(none == MPI_REQUEST_NULL && early == MPI_COMM_NULL);
    CHECK_ERR(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &none), MPI_ERR_ARG);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect(c, 2);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    one();
    several();
    mixed();
    goes_on_by_itself();
    freed_parent();
    attributes();
    for (int i = 0; i < 6; i++)
        crossed(i);
    check_errors_return();
    failing();
    early();
    errors();
    return check_done();
}
