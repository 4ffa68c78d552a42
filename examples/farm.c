/* SPDX-License-Identifier: BSD-3-Clause */
/* farm.c: a farm of workers that grows, loses a worker, and shrinks again.
 *
 * The master spawns one job a worker, so each has an intercommunicator of its own, and one that dies takes nothing
 * else with it.  The task of a worker is to count the primes of a range.  One worker kills itself in its second
 * task: the master finds it gone, gives the task to another, and spawns a worker in its place.  At the end the
 * master compares with a count of its own, and exits with 1 if they differ. mpiexec's exit code is 137 all the
 * same: a process was killed.
 *
 *     mpicc -O2 -o farm farm.c
 *     mpiexec -n 1 ./farm [WORKERS [TASKS]] */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

enum { WORKERS_MOST = 64, RANGE = 20000, TASK = 1, RESULT = 2, STOP = -1 };

static int is_prime(int n)
{
    for (int i = 2; i * i <= n; i++)
        if (n % i == 0)
            return 0;
    return n > 1;
}

static int primes_in(int task)
{
    int n = 0;
    for (int i = task * RANGE; i < (task + 1) * RANGE; i++)
        n += is_prime(i);
    return n;
}

static void work(MPI_Comm master, int dies)
{
    for (int done = 0;; done++) {
        int task, result;
        MPI_Recv(&task, 1, MPI_INT, 0, TASK, master, MPI_STATUS_IGNORE);
        if (task == STOP)
            break;
        if (dies && done == 1)
            raise(SIGKILL);
        result = primes_in(task);
        MPI_Send(&result, 1, MPI_INT, 0, RESULT, master);
    }
    MPI_Comm_disconnect(&master);
}

/* The master's side. */
static struct worker {
    MPI_Comm comm;
    int task, result;
} worker[WORKERS_MOST];
static MPI_Request answer[WORKERS_MOST];

static void hire(char *program, int i, int dies)
{
    char *args[] = { "worker", dies ? "dies" : "lives", NULL };
    MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &worker[i].comm, MPI_ERRCODES_IGNORE);
    MPI_Comm_set_errhandler(worker[i].comm, MPI_ERRORS_RETURN);
}

static void hand_out(int i, int task)
{
    worker[i].task = task;
    MPI_Irecv(&worker[i].result, 1, MPI_INT, 0, RESULT, worker[i].comm, &answer[i]);
    MPI_Send(&task, 1, MPI_INT, 0, TASK, worker[i].comm);
}

static void let_go(int i)
{
    int stop = STOP;
    MPI_Send(&stop, 1, MPI_INT, 0, TASK, worker[i].comm);
    MPI_Comm_disconnect(&worker[i].comm);
    answer[i] = MPI_REQUEST_NULL;
}

static int farm(char *program, int workers, int tasks)
{
    int next = 0, done = 0, hired = 0, lost = 0, here = 0, there = 0, i;
    for (i = 0; i < workers; i++)
        answer[i] = MPI_REQUEST_NULL;
    while (done < tasks) {
        if (hired < workers && next < tasks) { /* grow */
            hire(program, hired, hired == 1);
            hand_out(hired++, next++);
            continue;
        }
        int err = MPI_Waitany(hired, answer, &i, MPI_STATUS_IGNORE);
        if (err != MPI_SUCCESS) { /* it is gone: its task is done anew, by another in its place */
            lost++;
            MPI_Comm_free(&worker[i].comm);
            hire(program, i, 0);
            hand_out(i, worker[i].task);
            continue;
        }
        there += worker[i].result;
        done++;
        if (next < tasks)
            hand_out(i, next++);
        else /* shrink */
            let_go(i);
    }
    for (i = 0; i < tasks; i++)
        here += primes_in(i);
    printf("farm: %d workers, %d lost, %d tasks: %d primes: %s\n", hired, lost, tasks, there,
           there == here ? "right" : "wrong");
    return there != here || (workers > 1 && lost != 1);
}

int main(int argc, char **argv)
{
    MPI_Comm master;
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&master);
    if (master != MPI_COMM_NULL) {
        work(master, argc > 2 && strcmp(argv[2], "dies") == 0);
    } else {
        int workers = argc > 1 ? atoi(argv[1]) : 4, tasks = argc > 2 ? atoi(argv[2]) : 40;
        wrong = farm(argv[0], workers < 1 ? 1 : workers > WORKERS_MOST ? WORKERS_MOST : workers, tasks);
    }
    MPI_Finalize();
    return wrong;
}
