/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* timeout: 60 */
/* Handles freed while messages are under way: types, communicators, groups, error handlers, infos and requests go on
 * working for what was begun with them, in each mode of sending and each protocol. */
#include "check.h"

enum { MAX = 20000, WAYS = 8 };

static int to, from, handled;
static int out[2 * MAX], in[2 * MAX];

static void prepare(int n)
{
    for (int i = 0; i < 2 * n; i++) {
        out[i] = i + 1000 * check_rank;
        in[i] = -1;
    }
}

/* Every second int came from `source`, the others were left alone. */
static void arrived(int n, int source, int line)
{
    for (int i = 0; i < 2 * n; i++)
        if (in[i] != (i % 2 ? -1 : i + 1000 * source)) {
            CHECK_EQ(in[i], i % 2 ? -1 : i + 1000 * source, "element %d of %d ints, line %d", i, n, line);
            return;
        }
}

/* Begins to send and to receive, in one of the ways. */
static int begin(int way, MPI_Datatype type, MPI_Comm comm, MPI_Request r[2])
{
    MPI_Message m;
    if (way < 6)
        MPI_Irecv(in, 1, type, way % 2 ? MPI_ANY_SOURCE : from, 1, comm, &r[0]);
    MPI_Barrier(comm);
    if (way == 0 || way == 6)
        MPI_Isend(out, 1, type, to, 1, comm, &r[1]);
    else if (way == 1)
        MPI_Issend(out, 1, type, to, 1, comm, &r[1]);
    else if (way == 2)
        MPI_Irsend(out, 1, type, to, 1, comm, &r[1]);
    else if (way == 3)
        MPI_Ibsend(out, 1, type, to, 1, comm, &r[1]);
    else if (way == 4)
        MPI_Isend_c(out, 1, type, to, 1, comm, &r[1]);
    else if (way == 5) {
        MPI_Send_init(out, 1, type, to, 1, comm, &r[1]);
        MPI_Start(&r[1]);
    } else
        MPI_Isendrecv(out, 1, type, to, 1, in, 1, type, from, 1, comm, &r[0]);
    if (way == 6) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &m, MPI_STATUS_IGNORE);
        MPI_Imrecv(in, 1, type, &m, &r[0]);
    }
    return way == 7 ? 1 : 2;
}

static void messages(int way, int n)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request r[2];
    MPI_Status s[2];
    int size = (int)sizeof(int) * MAX + MPI_BSEND_OVERHEAD, count;
    void *attached = malloc((size_t)size);
    MPI_Buffer_attach(attached, size);
    prepare(n);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    int k = begin(way, type, comm, r);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    CHECK(type == MPI_DATATYPE_NULL && comm == MPI_COMM_NULL, " ");
    MPI_Waitall(k, r, s);
    arrived(n, from, __LINE__);
    CHECK_EQ(s[0].MPI_SOURCE, from, "way %d", way);
    MPI_Get_count(&s[0], MPI_INT, &count);
    CHECK_EQ(count, n, "way %d", way);
    if (way == 5)
        MPI_Request_free(&r[1]);
    MPI_Buffer_detach((void *)&attached, &size);
    free(attached);
}

/* The sender has let go of all handles, the request too, before its receiver looks. */
static void all_let_go(int n)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Request r;
    prepare(n);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Isend(out, 1, type, to, 1, comm, &r);
    MPI_Request_free(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(in, 1, type, from, 1, comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    arrived(n, from, __LINE__);
    MPI_Barrier(MPI_COMM_WORLD); /* now nobody reads `out` any more */
}

/* A matched message outlives the handle of its communicator. */
static void matched(int n)
{
    MPI_Comm comm;
    MPI_Message m;
    MPI_Status s;
    MPI_Request r;
    prepare(n);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Isend(out, n, MPI_INT, to, 2, comm, &r);
    MPI_Mprobe(from, 2, comm, &m, &s);
    MPI_Comm_free(&comm);
    MPI_Mrecv(in, n, MPI_INT, &m, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], i + 1000 * from, "of %d", n);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int c;
    MPI_Error_class(*code, &c);
    CHECK_EQ(c, MPI_ERR_TRUNCATE);
    CHECK(comm && *comm != MPI_COMM_NULL, " ");
    handled++;
}

/* An error handler and then its communicator are freed before the error happens. */
static void errhandler(int n)
{
    MPI_Comm comm;
    MPI_Errhandler h;
    MPI_Request r[2];
    prepare(n);
    handled = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &h);
    MPI_Comm_set_errhandler(comm, h);
    MPI_Errhandler_free(&h);
    MPI_Irecv(in, 1, MPI_INT, from, 3, comm, &r[0]);
    MPI_Barrier(comm);
    MPI_Isend(out, n, MPI_INT, to, 3, comm, &r[1]);
    MPI_Comm_free(&comm);
    CHECK_ERR(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    CHECK_EQ(handled, 1);
    CHECK_EQ(in[0], 1000 * from);
    CHECK_EQ(in[1], -1, "beyond the buffer");
}

/* What a communicator was made of may go: the parent, the group, the info; and the communicator before its
 * collectives end. */
static void ancestors(int n)
{
    MPI_Comm parent, child, ring;
    MPI_Group all, odd_order;
    MPI_Info info;
    MPI_Datatype type;
    MPI_Request r[3];
    int periodic = 1, range[1][3] = { { check_size - 1, 0, -1 } }, reversed = check_size - 1 - check_rank,
        size;
    prepare(n);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_group(parent, &all);
    MPI_Group_range_incl(all, 1, range, &odd_order);
    MPI_Group_free(&all);
    MPI_Comm_create(parent, odd_order, &child);
    MPI_Group_free(&odd_order);
    MPI_Comm_free(&parent);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(child, info, &parent);
    MPI_Info_free(&info);
    MPI_Comm_free(&child);
    MPI_Cart_create(parent, 1, &check_size, &periodic, 0, &ring);
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Comm_rank(ring, &size);
    CHECK_EQ(size, reversed);
    /* in the ring my left neighbour is the rank above me, in the world's count */
    MPI_Irecv(in, 1, type, (reversed + check_size - 1) % check_size, 4, parent, &r[0]);
    MPI_Isend(out, 1, type, (reversed + 1) % check_size, 4, parent, &r[1]);
    MPI_Ibarrier(parent, &r[2]);
    MPI_Comm_free(&parent);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    arrived(n, (check_rank + 1) % check_size, __LINE__);
    int mine[2] = { check_rank, check_rank }, theirs[2] = { -1, -1 };
    MPI_Ineighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring, &r[0]);
    MPI_Ibcast(out, 1, type, 0, ring, &r[1]);
    MPI_Comm_free(&ring);
    MPI_Type_free(&type);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(theirs[0], (check_rank + 1) % check_size);
    CHECK_EQ(theirs[1], (check_rank + check_size - 1) % check_size);
    CHECK_EQ(out[2 * n - 2], 2 * n - 2 + 1000 * (check_size - 1),
             "from the root, the last in the world's count");
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 2, 800, MAX };
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < 3; i++) {
        for (int way = 0; way < WAYS; way++)
            messages(way, sizes[i]);
        all_let_go(sizes[i]);
        matched(sizes[i]);
        errhandler(sizes[i]);
        ancestors(sizes[i]);
    }
    return check_done();
}
