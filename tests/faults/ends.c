/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI program of ends.test: ends in the way its argument says; the rank in the middle is the first. */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, value;

static bool is(const char *what, const char *arg)
{
    return strcmp(what, arg) == 0;
}

/* Whether a process has ended: its parent, which is stopped, has not waited for it. */
static bool ended(pid_t pid)
{
    char path[40], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
            state = 'Z';
        fclose(f);
    }
    return state == 'Z' || state == 'X';
}

/* The node daemon, which is the parent of every rank, sleeps until all ranks have ended: then none is late,
 * however busy the machine. */
static void parent_sleeps(void)
{
    pid_t me = getpid(), parent = getppid(), *pids = malloc(sizeof *pids * (size_t)size);
    MPI_Gather(&me, sizeof me, MPI_BYTE, pids, sizeof me, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        kill(parent, SIGSTOP);
        if (fork() == 0) {
            setsid();
            for (int fd = 0; fd < 64; fd++)
                close(fd);
            for (int i = 0, turns = 0; i < size && turns < 3000; turns++) {
                while (i < size && ended(pids[i]))
                    i++;
                usleep(10000);
            }
            kill(parent, SIGCONT);
            _exit(0);
        }
    }
    free(pids);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All make a mistake.  On a busy machine the job is ended before the last of them has had its turn: each says its
 * words first. */
static void mistake(const char *how)
{
    if (!is(how, "same"))
        parent_sleeps();
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);
    fprintf(stderr, "own line\n");
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(how, "same"))
        MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    else if (is(how, "twokinds") && rank % 2)
        MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    else
        MPI_Send(&value, 1, MPI_INT, size + (is(how, "different") ? rank : 0), 0, MPI_COMM_WORLD);
}

static void end_one(const char *how)
{
    if (is(how, "crash"))
        raise(SIGSEGV);
    if (is(how, "kill"))
        raise(SIGKILL);
    if (is(how, "exit"))
        _exit(4);
    if (is(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 17);
    if (is(how, "error"))
        MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (is(how, "leave"))
        exit(0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "", *others = argc > 2 ? argv[2] : "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is(how, "fail")) {
        parent_sleeps();
        MPI_Finalize();
        return 1;
    }
    if (is(how, "same") || is(how, "twokinds") || is(how, "different"))
        mistake(how);
    if (is(others, "return") || is(others, "quit"))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (is(how, "talk")) {
        puts("y");
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    while (is(how, "work"))
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size / 2)
        end_one(how);
    /* Each waits for its neighbour: one after the other finds that gone. */
    int err = MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (err != MPI_SUCCESS && is(others, "quit"))
        exit(9);
    if (err != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 8);
    MPI_Finalize();
    return 0;
}
