/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.c: what ends a job, or keeps it from ending. */
#include "set.h"
#include <pthread.h>

/* ---- Nobody goes on ---- */

ENDS(receive_first, 2)
{
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no); /* deadlock: - */
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
}

RIGHT(odd_ones_receive_first, 2)
{
    if (rank % 2)
        MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
    if (rank % 2 == 0)
        MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
}

ENDS(synchronous_sends_first, 2)
{
    MPI_Ssend(a, 1, MPI_INT, next, 1, comm); /* deadlock: - */
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
}

RIGHT(sends_and_receives_at_once, 1)
{
    MPI_Sendrecv(a, 1, MPI_INT, next, 1, b, 1, MPI_INT, prev, 1, comm, no);
}

ENDS(other_tag, 2)
{
    MPI_Irecv(b, 1, MPI_INT, prev, 2, comm, r);
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
    MPI_Wait(r, no); /* deadlock: - */
}

ENDS(other_collectives_that_wait, 2)
{
    if (rank == size - 1)
        MPI_Barrier(comm); /* collective-order: - in last, deadlock: - in last */
    else
        MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, comm); /* collective-order: - in first */
}

/* On each communicator the order is the same in all ranks. */
ENDS(two_communicators_crossed, 2)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin);
    if (rank == size - 1) {
        MPI_Barrier(comm); /* deadlock: - in last */
        MPI_Barrier(twin);
    } else {
        MPI_Barrier(twin); /* deadlock: - in others */
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&twin);
}

ENDS(other_form, 2)
{
    if (rank == size - 1) {
        MPI_Ibarrier(comm, r); /* collective-order: - in last */
        MPI_Wait(r, no);
    } else {
        MPI_Barrier(comm); /* collective-order: - in first */
    }
}

/* ---- Errors that are fatal ---- */

ENDS(fatal_count, 1)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Send(a, -1, MPI_INT, next, 1, comm); /* fatal-error: - */
}

ENDS(fatal_communicator, 1)
{
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_NULL); /* fatal-error: - */
}

/* ---- The end ---- */

ENDS(message_left, 1)
{
    MPI_Send(a, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Type_free(&column);
    MPI_Finalize(); /* leak-message: - */
    exit(0);
}

/* ---- Threads ---- */

static void *in_thread(void *comm_of);

/* As main asked for MPI_THREAD_SINGLE. */
ENDS(another_thread, 1)
{
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, &comm);
    pthread_join(thread, NULL);
}

static void *in_thread(void *comm_of)
{
    MPI_Barrier(*(MPI_Comm *)comm_of); /* thread-level: - */
    return NULL;
}

static void *without_mpi(void *value)
{
    *(int *)value = 1;
    return NULL;
}

RIGHT(thread_without_mpi, 1)
{
    pthread_t thread;
    int value = 0;
    pthread_create(&thread, NULL, without_mpi, &value);
    MPI_Barrier(comm);
    pthread_join(thread, NULL);
}
