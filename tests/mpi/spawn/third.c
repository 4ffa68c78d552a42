/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Processes of two spawned jobs that have never met make a communicator: their parent, which knows both, brings
 * them together, and leaves. */
#include "../check.h"

enum { CHILDREN = 2 };

static MPI_Comm spawn(const char *program, char *which)
{
    char *args[] = { which, NULL };
    MPI_Comm inter;
    CHECK_EQ(MPI_Comm_spawn(program, args, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                            MPI_ERRCODES_IGNORE),
             MPI_SUCCESS);
    return inter;
}

/* Everybody hears of everybody else; of n processes. */
static void talk(MPI_Comm comm)
{
    int rank, size, sum = 0, got = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, size * (size - 1) / 2);
    for (int step = 1; step < size; step++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + step) % size, step, &got, 1, MPI_INT,
                     (rank - step + size) % size, step, comm, MPI_STATUS_IGNORE);
        CHECK_EQ(got, (rank - step + size) % size);
    }
}

/* `all`: the parents, the first children, the second ones.  The parents leave, and the children go on. */
static void without_parents(MPI_Comm all, int is_child)
{
    MPI_Comm children;
    int size;
    talk(all);
    MPI_Comm_split(all, is_child ? 0 : MPI_UNDEFINED, 0, &children);
    MPI_Comm_disconnect(&all);
    if (!is_child)
        return;
    MPI_Comm_size(children, &size);
    CHECK_EQ(size, 2 * CHILDREN);
    talk(children);
    MPI_Comm_disconnect(&children);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, first, second, family, inter, all;
    int rank, sum = -1;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        first = spawn(argv[0], "first");
        second = spawn(argv[0], "second");
        MPI_Intercomm_merge(first, 0, &family);
        CHECK_EQ(MPI_Intercomm_create(family, 0, second, 0, 5, &inter), MPI_SUCCESS);
        MPI_Comm_disconnect(&first);
        MPI_Comm_disconnect(&second);
        MPI_Comm_disconnect(&family);
    } else if (strcmp(argv[1], "first") == 0) {
        MPI_Intercomm_merge(parent, 1, &family);
        CHECK_EQ(MPI_Intercomm_create(family, 0, MPI_COMM_NULL, 0, 5, &inter), MPI_SUCCESS);
        MPI_Comm_disconnect(&parent);
        MPI_Comm_disconnect(&family);
    } else {
        CHECK_EQ(MPI_Intercomm_create(MPI_COMM_WORLD, 0, parent, 0, 5, &inter), MPI_SUCCESS);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Comm_rank(inter, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    int others;
    MPI_Comm_remote_size(inter, &others);
    CHECK_EQ(sum, others * (others - 1) / 2);
    MPI_Intercomm_merge(inter, argc > 1 && strcmp(argv[1], "second") == 0, &all);
    MPI_Comm_disconnect(&inter);
    without_parents(all, parent != MPI_COMM_NULL || argc > 1);
    return check_done();
}
