/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/* Arrays of datatypes: the null handle stands for the type of no elements, in all forms, and for no other. */
#include "check.h"

enum { MOST = 8 };
static const int zeros[MOST];
static MPI_Datatype null[MOST], some[MOST];
static int in[MOST], out[MOST];

/* Every process sends an int to the next one alone; the other types are null. */
static void next_only(int form)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    int sc[MOST] = { 0 }, rc[MOST] = { 0 }, err;
    MPI_Datatype st[MOST], rt[MOST];
    MPI_Request r = MPI_REQUEST_NULL;
    memcpy(st, null, sizeof st);
    memcpy(rt, null, sizeof rt);
    sc[to] = rc[from] = 1;
    st[to] = rt[from] = MPI_INT;
    in[0] = 100 + check_rank;
    out[0] = -1;
    if (form == 0)
        err = MPI_Alltoallw(in, sc, zeros, st, out, rc, zeros, rt, MPI_COMM_WORLD);
    else if (form == 1)
        err = MPI_Ialltoallw(in, sc, zeros, st, out, rc, zeros, rt, MPI_COMM_WORLD, &r);
    else
        err = MPI_Alltoallw_init(in, sc, zeros, st, out, rc, zeros, rt, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    CHECK_ERR(err, MPI_SUCCESS);
    if (form == 2)
        MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (r != MPI_REQUEST_NULL)
        MPI_Request_free(&r);
    CHECK_EQ(out[0], 100 + from, "form %d", form);
}

/* Nothing moves at all. */
static void nothing(MPI_Comm ring)
{
    static const MPI_Aint none[MOST];
    MPI_Request r;
    CHECK_ERR(MPI_Alltoallw(in, zeros, zeros, null, out, zeros, zeros, null, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_ERR(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, out, zeros, zeros, null, MPI_COMM_WORLD),
              MPI_SUCCESS);
    CHECK_ERR(MPI_Neighbor_alltoallw(in, zeros, none, null, out, zeros, none, null, ring), MPI_SUCCESS);
    CHECK_ERR(MPI_Ineighbor_alltoallw(in, zeros, none, null, out, zeros, none, null, ring, &r), MPI_SUCCESS);
    CHECK_ERR(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

/* With elements there has to be a type, and it has to be a type. */
static void refused(void)
{
    int ones[MOST];
    MPI_Datatype freed;
    for (int i = 0; i < MOST; i++)
        ones[i] = 1;
    CHECK_ERR(MPI_Alltoallw(in, ones, zeros, null, out, ones, zeros, some, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_SAYS("sendtypes element 0 is MPI_DATATYPE_NULL");
    CHECK_ERR(MPI_Alltoallw(in, ones, zeros, some, out, ones, zeros, null, MPI_COMM_WORLD), MPI_ERR_TYPE);
    CHECK_SAYS("recvtypes element 0 is MPI_DATATYPE_NULL");
    MPI_Type_dup(MPI_INT, &freed);
    MPI_Datatype gone[MOST];
    for (int i = 0; i < MOST; i++)
        gone[i] = freed;
    MPI_Type_free(&freed);
    CHECK_ERR(MPI_Alltoallw(in, zeros, zeros, gone, out, zeros, zeros, some, MPI_COMM_WORLD), MPI_ERR_TYPE);
}

int main(int argc, char **argv)
{
    MPI_Comm ring;
    check_init(&argc, &argv);
    check_errors_return();
    for (int i = 0; i < MOST; i++) {
        null[i] = MPI_DATATYPE_NULL;
        some[i] = MPI_INT;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &(int){ 1 }, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    for (int form = 0; form < 3; form++)
        next_only(form);
    nothing(ring);
    refused();
    MPI_Comm_free(&ring);
    return check_done();
}
