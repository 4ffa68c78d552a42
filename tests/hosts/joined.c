/* SPDX-License-Identifier: BSD-3-Clause */
/* joined.c: two jobs on one node that meet by a published name; each process says how many segments of jobs it has
 * mapped. (One that it has parted with may stay until it has time: joint.c.)
 *   serve NAME TIMES      meets so many jobs one after the other
 *   call NAME             meets it
 *   stay NAME             meets it, and is in a call that has nothing to do with it until it is killed; the other
 *                         side finds it gone */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static int segments(void)
{
    unsigned long inode[64];
    char line[1024];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        unsigned long ino = 0;
        int known = strstr(line, "/memfd:keel-job") == NULL ||
                    sscanf(line, "%*s %*s %*s %*s %lu", &ino) != 1 || n == 64;
        for (int i = 0; i < n; i++)
            known |= inode[i] == ino;
        if (!known)
            inode[n++] = ino;
    }
    if (f != NULL)
        fclose(f);
    return n;
}

/* All to all; true: nobody is gone. */
static int exchange(MPI_Comm inter)
{
    int n, sum = -1, ok = 1, word = rank;
    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    ok = MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, inter) == MPI_SUCCESS && sum == n * (n - 1) / 2;
    for (int i = 0; i < n && ok; i++)
        ok = MPI_Send(&rank, 1, MPI_INT, i, 1, inter) == MPI_SUCCESS;
    for (int i = 0; i < n && ok; i++)
        ok = MPI_Recv(&word, 1, MPI_INT, i, 1, inter, MPI_STATUS_IGNORE) == MPI_SUCCESS && word == i;
    return ok;
}

static void serve(const char *name, int times)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    MPI_Open_port(MPI_INFO_NULL, port);
    if (rank == 0)
        MPI_Publish_name(name, MPI_INFO_NULL, port);
    for (int i = 0; i < times; i++) {
        int stays = 0, class = 0, word;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        int shared = segments(), ok = exchange(inter);
        MPI_Bcast(&stays, 1, MPI_INT, 0, inter);
        if (stays) { /* for ever: it is killed */
            double since = MPI_Wtime();
            if (rank == 0)
                printf("serve: they stay\n");
            fflush(stdout);
            MPI_Error_class(MPI_Recv(&word, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE), &class);
            ok = ok && class == MPI_ERR_PROC_ABORTED && MPI_Wtime() - since < 10;
        }
        MPI_Comm_disconnect(&inter);
        printf("serve %d: %d segments, %s, then %s\n", rank, shared, ok ? "right" : "wrong",
               segments() <= shared ? "no more" : "more");
        fflush(stdout);
    }
    if (rank == 0)
        MPI_Unpublish_name(name, MPI_INFO_NULL, port);
    MPI_Close_port(port);
}

static void call(const char *name, int stays)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 500 && rank == 0; i++) {
        if (MPI_Lookup_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS)
            break;
        usleep(20000);
    }
    if (MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter) != MPI_SUCCESS)
        exit(3);
    int shared = segments(), ok = exchange(inter);
    MPI_Bcast(&stays, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    while (stays)
        pause();
    MPI_Comm_disconnect(&inter);
    printf("call %d: %d segments, %s, then %s\n", rank, shared, ok ? "right" : "wrong",
           segments() <= shared ? "no more" : "more");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[1], "serve") == 0)
        serve(argv[2], atoi(argv[3]));
    else
        call(argv[2], strcmp(argv[1], "stay") == 0);
    MPI_Finalize();
    return 0;
}
