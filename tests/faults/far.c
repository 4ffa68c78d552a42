/* SPDX-License-Identifier: BSD-3-Clause */
/* far: what tests of jobs on several nodes run.  The first argument says what:
 *   recv, any, probe, reduce   the last rank kills itself when the others are asleep in that call; each says how
 *                              it ended
 *   abort                      the last rank ends the job with code 7 while the others sleep
 *   late                       the last rank comes late to MPI_Finalize; says how much processor time the others took
 *   ring                       everybody talks to everybody
 *   fds                        the kinds of descriptors this process has */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;

static void last_one_dies(const char *where)
{
    int v = rank, all = 0, err, class, last = size - 1;
    sigset_t term;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* On a busy machine mpiexec may end a rank before it has had its turn: it says its line first. */
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last) {
        MPI_Send(&v, 1, MPI_INT, 0, 1, MPI_COMM_WORLD); /* its last word is still received */
        usleep(20000);
        kill(getpid(), SIGKILL);
    }
    if (rank == 0) {
        usleep(30000);
        MPI_Recv(&all, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(where, "recv") == 0)
        err = MPI_Recv(&v, 1, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(where, "any") == 0)
        err = MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(where, "probe") == 0)
        err = MPI_Probe(last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        err = MPI_Allreduce(&v, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Error_class(err, &class);
    printf("rank %d: %s\n", rank,
           class == MPI_ERR_PROC_ABORTED ? "told"
           : err                         ? "another error"
                                         : "no error");
    fflush(stdout);
    sigprocmask(SIG_UNBLOCK, &term, NULL);
    sleep(20);
}

static void last_one_is_late(void)
{
    struct rusage u;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1)
        usleep(1000000);
    MPI_Finalize();
    getrusage(RUSAGE_SELF, &u);
    printf("rank %d: %ld ms\n", rank,
           (long)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
               (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000);
}

static void ring(void)
{
    int *in = calloc((size_t)size, sizeof *in), *out = calloc((size_t)size, sizeof *out), wrong = 0, sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < size; i++)
            out[i] = rank * 1000 + i + round;
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            wrong += in[i] != i * 1000 + rank + round;
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != size * (size - 1) / 2;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", wrong ? "wrong" : "right");
    free(in);
    free(out);
}

static void fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char to[256] = "";
        if (readlinkat(dirfd(dir), e->d_name, to, sizeof to - 1) > 0 && to[0] != '/')
            printf("%s\n", to);
        else if (strstr(to, "keel-job"))
            printf("segment\n");
    }
    if (dir)
        closedir(dir);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "late") == 0) {
        last_one_is_late();
        return 0;
    }
    if (strcmp(what, "ring") == 0)
        ring();
    else if (strcmp(what, "fds") == 0)
        fds();
    else if (strcmp(what, "abort") != 0)
        last_one_dies(what);
    else if (rank == size - 1) {
        usleep(100000);
        MPI_Abort(MPI_COMM_WORLD, 7);
    } else
        MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
