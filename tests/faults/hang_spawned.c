/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that spawn, and hang, or only look so; the first argument says how.  For hang-spawned.test. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;
static char *program, *way;

static MPI_Comm bear(const char *as)
{
    char *args[] = { way, (char *)as, NULL };
    MPI_Comm inter;
    MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    return inter;
}

static int receive(MPI_Comm comm, int tag)
{
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE);
    return word;
}

static void answer(MPI_Comm parent)
{
    int word = 1;
    MPI_Send(&word, 1, MPI_INT, 0, 5, parent);
}

/* The last rank has a child; each waits for a message of the other. */
static void pair(MPI_Comm parent)
{
    if (parent != MPI_COMM_NULL)
        receive(parent, 6);
    else
        receive(bear("child"), 5);
}

/* The child is in a barrier, where its parent does not come. */
static void barrier(MPI_Comm parent)
{
    if (parent != MPI_COMM_NULL)
        MPI_Barrier(parent);
    else
        receive(bear("child"), 5);
}

/* The child waits for a child of its own, and that for it. */
static void generations(MPI_Comm parent, const char *as)
{
    if (strcmp(as, "grandchild") == 0)
        receive(parent, 6);
    else
        receive(bear(strcmp(as, "child") == 0 ? "grandchild" : "child"), 5);
}

/* No hang: the last one does something else for long, and then answers. */
static void patience(MPI_Comm parent, const char *as)
{
    if (strcmp(as, "grandchild") == 0) {
        sleep(9);
    } else {
        MPI_Comm inter = bear(strcmp(as, "child") == 0 ? "grandchild" : "child");
        receive(inter, 5);
        MPI_Comm_disconnect(&inter);
    }
    if (parent != MPI_COMM_NULL) {
        answer(parent);
        MPI_Comm_disconnect(&parent);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    const char *as = argc > 2 ? argv[2] : "";
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    program = argv[0];
    way = argv[1];
    if (parent != MPI_COMM_NULL || rank == size - 1) {
        if (strcmp(way, "pair") == 0)
            pair(parent);
        else if (strcmp(way, "barrier") == 0)
            barrier(parent);
        else if (strcmp(way, "generations") == 0)
            generations(parent, as);
        else
            patience(parent, as);
    }
    if (parent == MPI_COMM_NULL)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
