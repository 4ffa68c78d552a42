/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c: buffers of operations under way that are changed, or used twice. */
#include "set.h"
#include <sys/mman.h>

/* ---- Sends whose data are changed ---- */

WRONG(isend_changed, 1)
{
    MPI_Isend(a, 100, MPI_INT, next, 1, comm, r); /* send-changed: buf */
    a[99] = -1;
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
}

RIGHT(isend_read, 1)
{
    MPI_Isend(a, 100, MPI_INT, next, 1, comm, r);
    b[0] = a[99];
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    a[99] = -1;
}

WRONG(issend_changed, 1)
{
    MPI_Issend(a, 100, MPI_INT, next, 1, comm, r); /* send-changed: buf */
    a[0]--;
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
    MPI_Waitall(1, r, none);
}

RIGHT(issend_changed_later, 1)
{
    MPI_Issend(a, 100, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
    MPI_Waitall(1, r, none);
    a[0]--;
}

WRONG(irsend_changed, 1)
{
    MPI_Irecv(b, 100, MPI_INT, prev, 1, comm, r);
    MPI_Barrier(comm);
    MPI_Irsend(a, 100, MPI_INT, next, 1, comm, r + 1); /* send-changed: buf */
    a[50] = -1;
    MPI_Waitall(2, r, none);
}

RIGHT(irsend_beside, 1)
{
    MPI_Irecv(b, 100, MPI_INT, prev, 1, comm, r);
    MPI_Barrier(comm);
    MPI_Irsend(a, 100, MPI_INT, next, 1, comm, r + 1);
    a[100] = -1;
    MPI_Waitall(2, r, none);
}

WRONG(isend_c_changed, 1)
{
    int done = 0;
    MPI_Isend_c(a, 100, MPI_INT, next, 1, comm, r); /* send-changed: buf */
    a[7] = -1;
    MPI_Recv_c(b, 100, MPI_INT, prev, 1, comm, no);
    while (!done)
        MPI_Test(r, &done, no);
}

RIGHT(isend_c_kept, 1)
{
    int done = 0;
    MPI_Isend_c(a, 100, MPI_INT, next, 1, comm, r);
    MPI_Recv_c(b, 100, MPI_INT, prev, 1, comm, no);
    while (!done)
        MPI_Test(r, &done, no);
    a[7] = -1;
}

WRONG(column_changed, 1)
{
    int which;
    MPI_Isend(a, 3, column, next, 1, comm, r); /* send-changed: buf */
    a[20] = -1;
    MPI_Recv(b, 30, MPI_INT, prev, 1, comm, no);
    MPI_Waitany(1, r, &which, no);
}

RIGHT(gap_changed, 1)
{
    int which;
    MPI_Isend(a, 3, column, next, 1, comm, r);
    a[21] = -1;
    MPI_Recv(b, 30, MPI_INT, prev, 1, comm, no);
    MPI_Waitany(1, r, &which, no);
}

WRONG(persistent_send_changed, 1)
{
    MPI_Send_init(a, 100, MPI_INT, next, 1, comm, r); /* send-changed: buf */
    MPI_Start(r);
    a[99] = -1;
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

RIGHT(persistent_send_between, 1)
{
    MPI_Send_init(a, 100, MPI_INT, next, 1, comm, r);
    for (int i = 0; i < 3; i++) {
        a[99] = i;
        MPI_Start(r);
        MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
        MPI_Wait(r, no);
    }
    MPI_Request_free(r);
}

WRONG(persistent_changed_in_a_later_round, 1)
{
    MPI_Ssend_init(a, 100, MPI_INT, next, 1, comm, r); /* send-changed: buf */
    for (int i = 0; i < 3; i++) {
        MPI_Startall(1, r);
        a[99] += i == 2;
        MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
        MPI_Waitall(1, r, none);
    }
    MPI_Request_free(r);
}

RIGHT(buffered_send_changed, 1)
{
    static char room[1000 + MPI_BSEND_OVERHEAD];
    void *at;
    int n;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Ibsend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Bsend_init(a, 10, MPI_INT, next, 2, comm, r + 1);
    MPI_Start(r + 1);
    a[0] = -1;
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Recv(b, 10, MPI_INT, prev, 2, comm, no);
    MPI_Waitall(2, r, none);
    MPI_Request_free(r + 1);
    MPI_Buffer_detach(&at, &n);
}

WRONG(isendrecv_changed, 1)
{
    MPI_Isendrecv(a, 100, MPI_INT, next, 1, b, 100, MPI_INT, prev, 1, comm, r); /* send-changed: sendbuf */
    a[3] = -1;
    MPI_Wait(r, no);
}

RIGHT(isendrecv_kept, 1)
{
    MPI_Isendrecv(a, 100, MPI_INT, next, 1, b, 100, MPI_INT, prev, 1, comm, r);
    MPI_Wait(r, no);
    a[3] = b[3] = -1;
}

WRONG(memory_given_back, 1)
{
    enum { BYTES = 1 << 20 };
    char *from = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *to = calloc(BYTES, 1);
    MPI_Isend(from, BYTES, MPI_CHAR, next, 1, comm, r); /* send-changed: buf */
    MPI_Recv(to, BYTES, MPI_CHAR, prev, 1, comm, no);
    MPI_Barrier(comm);
    munmap(from, BYTES);
    MPI_Wait(r, no);
    free(to);
}

RIGHT(memory_given_back_later, 1)
{
    enum { BYTES = 1 << 20 };
    char *from = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *to = calloc(BYTES, 1);
    MPI_Isend(from, BYTES, MPI_CHAR, next, 1, comm, r);
    MPI_Recv(to, BYTES, MPI_CHAR, prev, 1, comm, no);
    MPI_Wait(r, no);
    munmap(from, BYTES);
    free(to);
}

/* ---- Data of collectives ---- */

WRONG(iallreduce_changed, 1)
{
    MPI_Iallreduce(a, b, 100, MPI_INT, MPI_SUM, comm, r); /* send-changed: sendbuf */
    a[5] = -1;
    MPI_Wait(r, no);
}

RIGHT(iallreduce_kept, 1)
{
    MPI_Iallreduce(a, b, 100, MPI_INT, MPI_SUM, comm, r);
    MPI_Iallreduce(a, b + 100, 100, MPI_INT, MPI_SUM, comm, r + 1); /* two may read */
    MPI_Waitall(2, r, none);
    a[5] = -1;
}

WRONG(ialltoallv_changed, 1)
{
    int n[64], at[64];
    for (int i = 0; i < size; i++)
        n[i] = 5, at[i] = 10 * i;
    MPI_Ialltoallv(a, n, at, MPI_INT, b, n, at, MPI_INT, comm, r); /* send-changed: sendbuf */
    a[4] = -1;
    MPI_Wait(r, no);
}

RIGHT(ialltoallv_gap_changed, 1)
{
    int n[64], at[64];
    for (int i = 0; i < size; i++)
        n[i] = 5, at[i] = 10 * i;
    MPI_Ialltoallv(a, n, at, MPI_INT, b, n, at, MPI_INT, comm, r);
    a[5] = -1;
    MPI_Wait(r, no);
}

WRONG(counts_changed, 1)
{
    int n[64], at[64];
    for (int i = 0; i < size; i++)
        n[i] = 1, at[i] = i;
    MPI_Ialltoallv(a, n, at, MPI_INT, b, n, at, MPI_INT, comm, r); /* array-changed: any */
    n[0] = 2;
    MPI_Wait(r, no);
}

RIGHT(counts_changed_later, 1)
{
    int n[64], at[64];
    for (int i = 0; i < size; i++)
        n[i] = 1, at[i] = i;
    MPI_Igatherv(a, 1, MPI_INT, b, n, at, MPI_INT, 0, comm, r);
    if (rank != 0)
        n[0] = at[0] = 7; /* they have no meaning here */
    MPI_Wait(r, no);
    n[0] = at[0] = 7;
}

WRONG(ibcast_root_changed, 1)
{
    MPI_Ibcast(a, 100, MPI_INT, 0, comm, r); /* send-changed: buffer in 0 */
    if (rank == 0)
        a[5] = -1;
    MPI_Wait(r, no);
}

RIGHT(ibcast_root_kept, 1)
{
    MPI_Ibcast(a, 100, MPI_INT, 0, comm, r);
    MPI_Wait(r, no);
    a[5] = -1;
}

WRONG(igather_changed, 2)
{
    MPI_Igather(a, 10, MPI_INT, b, 10, MPI_INT, 0, comm, r); /* send-changed: sendbuf in 1 */
    if (rank == 1)
        a[5] = -1;
    MPI_Wait(r, no);
}

RIGHT(igather_insignificant, 2)
{
    MPI_Igather(rank == 0 ? MPI_IN_PLACE : a, 10, MPI_INT, a, 10, MPI_INT, 0, comm, r);
    if (rank == 1)
        a[50] = -1; /* its recvbuf is none */
    MPI_Wait(r, no);
}

WRONG(persistent_collective_changed, 1)
{
    MPI_Allreduce_init(a, b, 100, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, r); /* send-changed: sendbuf */
    MPI_Start(r);
    a[5] = -1;
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

RIGHT(persistent_collective_between, 1)
{
    MPI_Allreduce_init(a, b, 100, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, r);
    for (int i = 0; i < 2; i++) {
        a[5] = i;
        MPI_Start(r);
        MPI_Wait(r, no);
    }
    MPI_Request_free(r);
}

/* ---- Buffers that are used twice ---- */

WRONG(two_receives, 1)
{
    MPI_Irecv(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Irecv(b + 5, 10, MPI_INT, prev, 2, comm, r + 1); /* overlap: buf */
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Send(a, 10, MPI_INT, next, 2, comm);
    MPI_Waitall(2, r, none);
}

RIGHT(two_receives_beside, 1)
{
    MPI_Irecv(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Irecv(b + 10, 10, MPI_INT, prev, 2, comm, r + 1);
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Send(a, 10, MPI_INT, next, 2, comm);
    MPI_Waitall(2, r, none);
}

WRONG(send_of_what_is_received, 1)
{
    MPI_Irecv(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Send(b + 9, 10, MPI_INT, next, 1, comm); /* overlap: buf */
    MPI_Wait(r, no);
}

RIGHT(send_twice, 1)
{
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
}

WRONG(receive_into_what_is_sent, 1)
{
    MPI_Issend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Irecv(a + 9, 10, MPI_INT, MPI_ANY_SOURCE, 2, comm, r + 1); /* overlap: buf */
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    MPI_Barrier(comm);
    MPI_Send(b, 10, MPI_INT, next, 2, comm);
    MPI_Wait(r + 1, no);
}

RIGHT(receive_from_nobody, 1)
{
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Irecv(a, 10, MPI_INT, MPI_PROC_NULL, 2, comm, r + 1);
    MPI_Irecv(a, 0, MPI_INT, prev, 2, comm, r + 2);
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Send(b, 0, MPI_INT, next, 2, comm);
    MPI_Waitall(3, r, none);
}

WRONG(sendrecv_of_one_buffer, 1)
{
    MPI_Sendrecv(a, 10, MPI_INT, next, 1, a + 5, 10, MPI_INT, prev, 1, comm, no); /* overlap: recvbuf */
}

RIGHT(sendrecv_halves, 1)
{
    MPI_Sendrecv(a, 10, MPI_INT, next, 1, a + 10, 10, MPI_INT, prev, 1, comm, no);
    MPI_Sendrecv_replace(a, 10, MPI_INT, next, 1, prev, 1, comm, no);
}

WRONG(isendrecv_of_one_buffer, 1)
{
    memset(a, 0, 1000 * sizeof *a); /* else what comes changes what is sent */
    MPI_Isendrecv(a, 10, MPI_INT, next, 1, a + 9, 10, MPI_INT, prev, 1, comm, r); /* overlap: recvbuf */
    MPI_Wait(r, no);
}

RIGHT(isendrecv_replaces, 1)
{
    MPI_Isendrecv_replace(a, 10, MPI_INT, next, 1, prev, 1, comm, r);
    MPI_Wait(r, no);
}

WRONG(persistent_receives_overlap, 1)
{
    MPI_Recv_init(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Recv_init(b + 5, 10, MPI_INT, prev, 2, comm, r + 1); /* overlap: buf */
    MPI_Start(r);
    MPI_Start(r + 1);
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Send(a, 10, MPI_INT, next, 2, comm);
    MPI_Waitall(2, r, none);
    MPI_Request_free(r);
    MPI_Request_free(r + 1);
}

RIGHT(persistent_receives_in_turn, 1)
{
    MPI_Recv_init(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Recv_init(b + 5, 10, MPI_INT, prev, 2, comm, r + 1);
    for (int i = 0; i < 2; i++) {
        MPI_Start(r + i);
        MPI_Send(a, 10, MPI_INT, next, 1 + i, comm);
        MPI_Wait(r + i, no);
    }
    MPI_Request_free(r);
    MPI_Request_free(r + 1);
}

WRONG(receive_into_a_broadcast, 1)
{
    MPI_Ibcast(a, 10, MPI_INT, 0, comm, r);
    MPI_Irecv(a, 10, MPI_INT, prev, 1, comm, r + 1); /* overlap: buf */
    MPI_Wait(r, no);
    MPI_Send(b, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r + 1, no);
}

RIGHT(receive_beside_a_broadcast, 1)
{
    MPI_Ibcast(a, 10, MPI_INT, 0, comm, r);
    MPI_Irecv(a + 10, 10, MPI_INT, prev, 1, comm, r + 1);
    MPI_Send(b, 10, MPI_INT, next, 1, comm);
    MPI_Waitall(2, r, none);
}

WRONG(two_reductions_into_one, 1)
{
    MPI_Iallreduce(a, b, 10, MPI_INT, MPI_SUM, comm, r);
    MPI_Iallreduce(a, b, 10, MPI_INT, MPI_MAX, comm, r + 1); /* overlap: recvbuf */
    MPI_Waitall(2, r, none);
}

RIGHT(two_reductions_in_turn, 1)
{
    MPI_Iallreduce(a, b, 10, MPI_INT, MPI_SUM, comm, r);
    MPI_Wait(r, no);
    MPI_Iallreduce(a, b, 10, MPI_INT, MPI_MAX, comm, r);
    MPI_Wait(r, no);
    MPI_Iallreduce(MPI_IN_PLACE, b, 10, MPI_INT, MPI_MAX, comm, r);
    MPI_Wait(r, no);
}

WRONG(blocking_reduction_into_what_is_received, 1)
{
    MPI_Irecv(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Allreduce(a, b + 9, 10, MPI_INT, MPI_SUM, comm); /* overlap: recvbuf */
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

RIGHT(blocking_reduction_beside, 1)
{
    MPI_Irecv(b, 10, MPI_INT, prev, 1, comm, r);
    MPI_Allreduce(a, b + 10, 10, MPI_INT, MPI_SUM, comm);
    MPI_Send(a, 10, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

WRONG(gather_of_the_receive_buffer, 1)
{
    MPI_Allgather(b + 1, 10, MPI_INT, b, 10, MPI_INT, comm); /* overlap: recvbuf */
}

RIGHT(gather_in_place, 1)
{
    MPI_Allgather(MPI_IN_PLACE, 10, MPI_INT, b, 10, MPI_INT, comm);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : b, 10, MPI_INT, b, 10, MPI_INT, 0, comm);
}
