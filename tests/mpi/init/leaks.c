/* SPDX-License-Identifier: BSD-3-Clause */
/* KEEL_LEAKS: MPI_Finalize shows what is left, and not what has been freed or received. */
/* ranks: 2 3 */
/* env: KEEL_LEAKS=1 */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 2 communicators: twin \(MPI_Comm_dup, leaks\.c:21 \(\w+\)\), one of 1 ranks without a name \(MPI_Comm_dup, leaks\.c:24 \(\w+\)\)$ */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 2 datatypes: triple \(MPI_Type_contiguous, leaks\.c:27 \(\w+\)\), one of 24 bytes without a name \(MPI_Type_contiguous, leaks\.c:30 \(\w+\)\)$ */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 3 requests: persistent send \(MPI_Send_init, leaks\.c:65 \(\w+\)\), persistent receive \(MPI_Recv_init, leaks\.c:66 \(\w+\)\), receive \(MPI_Irecv, leaks\.c:67 \(\w+\)\)$ */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 1 group: one \(MPI_Comm_group, leaks\.c:52 \(\w+\)\)$ */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 1 operation: one \(MPI_Op_create, leaks\.c:53 \(\w+\)\)$ */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 1 info: one \(MPI_Info_create, leaks\.c:54 \(\w+\)\)$ */
/* stderr: ^ranks? [-0-9, ]+: MPI_Finalize: the program leaves 1 error handler: one \(MPI_Comm_create_errhandler, leaks\.c:55 \(\w+\)\)$ */
/* stderr: ^rank 0: MPI_Finalize: the program leaves 1 message that no receive has asked for: 4 bytes with tag 5 from rank 1 on MPI_COMM_WORLD$ */
/* stderr: \A(ranks? [-0-9, ]+: MPI_Finalize: .*\n){4,}\Z */
#include "../check.h"

/* Half of all is freed. */
static void make_objects(void)
{
    MPI_Comm twin, self, freed;
    MPI_Datatype triple, pair, inner;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_set_name(twin, "twin");
    MPI_Comm_dup(MPI_COMM_WORLD, &freed);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_name(self, "");
    MPI_Comm_free(&freed);
    MPI_Type_contiguous(3, MPI_INT, &triple);
    MPI_Type_set_name(triple, "triple");
    MPI_Type_contiguous(3, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &pair);
    MPI_Type_free(&inner); /* the other keeps it; the program has it no more */
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

static void report(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void make_others(void)
{
    MPI_Group group, freed;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Comm_group(MPI_COMM_WORLD, &freed);
    MPI_Group_free(&freed);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Op_create(add, 1, &op);
    MPI_Info_create(&info);
    MPI_Comm_create_errhandler(report, &handler);
}

int main(int argc, char **argv)
{
    static int in, out, other;
    MPI_Request send, recv, open, freed;
    check_init(&argc, &argv);
    make_objects();
    make_others();
    MPI_Send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &send);
    MPI_Recv_init(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &recv);
    MPI_Irecv(&other, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &open);
    MPI_Send_init(&out, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &freed);
    MPI_Request_free(&freed);
    if (check_rank == 1) {
        MPI_Send(&out, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Send(&out, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    }
    if (check_rank == 0)
        MPI_Recv(&in, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_done();
}
