/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that spawn at the same time, each a child of its own, and talk to it while the others do. */
/* ranks: 1 2 */
/* cflags: -pthread */
/* timeout: 120 */
#include "thread.h"

enum { THREADS = 3, TURNS = 5 };

static const char *program;

static void child(MPI_Comm parent)
{
    int x;
    for (int i = 0; i < TURNS; i++) {
        MPI_Recv(&x, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        x += 1000;
        MPI_Send(&x, 1, MPI_INT, 0, 1, parent);
    }
    MPI_Comm_disconnect(&parent);
}

static void work(struct thread *me)
{
    int x, err = -1;
    MPI_Comm inter;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, &err);
    THREAD_CHECK(err == MPI_SUCCESS, "%d", err);
    for (int i = 0; i < TURNS; i++) {
        x = 10 * me->id + i;
        MPI_Send(&x, 1, MPI_INT, 0, 1, inter);
        MPI_Recv(&x, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        THREAD_CHECK(x == 1000 + 10 * me->id + i, "%d", x);
    }
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    static struct thread t[THREADS];
    MPI_Comm parent;
    threads_init(&argc, &argv);
    program = argv[0];
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent);
        return check_done();
    }
    for (int i = 0; i < THREADS; i++)
        t[i] = (struct thread){ .id = i, .of = THREADS, .comm = MPI_COMM_NULL };
    threads_go(t, THREADS, work);
    return check_done();
}
