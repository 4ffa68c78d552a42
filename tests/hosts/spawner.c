/* SPDX-License-Identifier: BSD-3-Clause */
/* spawner.c: jobs that spawn and meet, on several hosts.  A child says on which of Slurm's nodes it is, or in
 * which network namespace.
 *   spawn ROOT N MS CODE [HOST]   rank ROOT spawns N children (on HOST), which live so long after they have
 *                                 disconnected, and end with that code
 *   dies N                        N children, of which the last dies: every parent waits for it and says what it
 *                                 has found
 *   stay N                        N children that stay as long as their parents, for ever
 *   accept NAME, connect NAME     two jobs meet by a published name and add their ranks up, three times */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static _Noreturn void child(MPI_Comm parent, char **argv)
{
    char space[64] = "";
    if (readlink("/proc/self/ns/net", space, sizeof space - 1) < 0)
        exit(9);
    if (strcmp(argv[1], "dies") == 0 && rank == size - 1)
        raise(SIGKILL);
    if (strcmp(argv[1], "spawn") == 0 || strcmp(argv[1], "stay") == 0)
        printf("child %d of %d in %s\n", rank, size,
               getenv("SLURMD_NODENAME") ? getenv("SLURMD_NODENAME") : space);
    fflush(stdout);
    if (strcmp(argv[1], "stay") == 0)
        MPI_Barrier(parent);
    if (strcmp(argv[1], "dies") == 0)
        MPI_Recv(space, 0, MPI_CHAR, 0, 1, parent, MPI_STATUS_IGNORE);
    else
        MPI_Barrier(parent);
    MPI_Comm_disconnect(&parent);
    usleep((useconds_t)atoi(argv[2]) * 1000);
    MPI_Finalize();
    exit(atoi(argv[3]));
}

static void wait_for_dead(MPI_Comm inter, int n)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, class;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Recv(text, 0, MPI_CHAR, n - 1, 2, inter, MPI_STATUS_IGNORE), &class);
    MPI_Error_string(class, text, &len);
    printf("rank %d: %s\n", rank, text);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n - 1 && rank == 0; i++)
        MPI_Send(NULL, 0, MPI_CHAR, i, 1, inter);
}

static void spawn(char **argv, int root, int n, char **args, const char *host)
{
    MPI_Comm inter;
    MPI_Info info;
    MPI_Info_create(&info);
    if (host)
        MPI_Info_set(info, "host", host);
    MPI_Comm_spawn(argv[0], args, n, info, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Info_free(&info);
    if (strcmp(args[0], "dies") == 0)
        wait_for_dead(inter, n);
    else
        MPI_Barrier(inter);
    if (strcmp(args[0], "stay") == 0)
        MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
}

static void meet(const char *name, int accepts)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            MPI_ERRORS_RETURN); /* MPICH's takes this one for MPI_Lookup_name */
    if (rank == 0 && accepts) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(name, MPI_INFO_NULL, port);
    }
    while (rank == 0 && !accepts && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS)
        usleep(10000);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 3; i++) {
        MPI_Comm inter;
        int sum = 0;
        if (accepts)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
        if (rank == 0)
            printf("%s: their ranks add up to %d\n", accepts ? "accepts" : "connects", sum);
        MPI_Comm_disconnect(&inter);
    }
    if (rank == 0 && accepts) {
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    char *none = "0", *args[] = { argv[1], none, none, NULL };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(parent, argv);
    if (argc > 5 && strcmp(argv[1], "spawn") == 0) {
        args[1] = argv[4];
        args[2] = argv[5];
        spawn(argv, atoi(argv[2]), atoi(argv[3]), args, argc > 6 ? argv[6] : NULL);
    } else if (argc > 2 && (strcmp(argv[1], "dies") == 0 || strcmp(argv[1], "stay") == 0)) {
        spawn(argv, 0, atoi(argv[2]), args, NULL);
    } else if (argc > 2) {
        meet(argv[2], strcmp(argv[1], "accept") == 0);
    }
    MPI_Finalize();
    return 0;
}
