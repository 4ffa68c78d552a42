/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that hangs, in the way that its first argument names; or only looks as if it did. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static char big[1 << 20], small[64];

static void recv_cycle(void)
{
    /* the line after this is LINE recv_cycle */
    MPI_Recv(small, 8, MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void head_to_head(void)
{
    MPI_Ssend(small, 8, MPI_BYTE, rank ^ 1, 5, MPI_COMM_WORLD);
}

/* Long messages are sent when the receiver asks for them. */
static void long_sends(void)
{
    MPI_Send(big, sizeof big, MPI_BYTE, rank ^ 1, 6, MPI_COMM_WORLD);
}

static void recv_and_barrier(void)
{
    if (rank == 0)
        MPI_Recv(small, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void returned(void)
{
    if (rank != size - 1)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Until the file is there that HANG_UNTIL names. */
static void computing(void)
{
    const char *file = getenv("HANG_UNTIL");
    if (rank == size - 1)
        while (file == NULL || access(file, F_OK) != 0)
            for (int i = 0; i < 1000000; i++)
                ((volatile char *)small)[0]++;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void sleeping(void)
{
    if (rank == size - 1)
        sleep(6);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wrong_tag(void)
{
    if (rank == 0)
        MPI_Recv(small, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 1)
        MPI_Send(small, 8, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void waitall(void)
{
    MPI_Request request[3];
    for (int i = 0; i < 3; i++)
        MPI_Irecv(&small[i], 1, MPI_BYTE, (rank + 1) % size, 10 + i, MPI_COMM_WORLD, &request[i]);
    MPI_Send(small, 1, MPI_BYTE, (rank + size - 1) % size, 11, MPI_COMM_WORLD);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
}

static void waitany(void)
{
    MPI_Request request[6];
    int i, peers = size - 1;
    for (i = 0; i < 6; i++)
        MPI_Irecv(&small[i], 1, MPI_BYTE, (rank + 1 + i % peers) % size, 10 + i, MPI_COMM_WORLD, &request[i]);
    MPI_Waitany(5, request + 1, &i, MPI_STATUSES_IGNORE);
}

static void itself(void)
{
    MPI_Recv(small, 1, MPI_BYTE, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* Nobody sends to ranks 0 and 1, and the others wait for rank 0. */
static void any_source(void)
{
    MPI_Recv(small, 8, MPI_BYTE, rank < 2 ? MPI_ANY_SOURCE : 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wrong_comm(void)
{
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_set_name(twin, "twin");
    if (rank == 1)
        MPI_Send(small, 8, MPI_BYTE, 0, 7, twin);
    MPI_Recv(small, 8, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void three_operations(void)
{
    if (rank == 0)
        MPI_Allreduce(small, small + 8, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (rank == size - 1)
        MPI_Bcast(small, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 ends alone; rank 0 would hear of that only if it waited for rank 1. */
static void ended(void)
{
    MPI_Comm self;
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_ABORT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Send(small, 1, MPI_BYTE, 99, 1, self);
    MPI_Recv(small, 8, MPI_BYTE, rank == 0 ? 2 : 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    MPI_Probe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void mixed(void)
{
    if (rank == 0) /* the others' Bcast has come from there, and they are in the Barrier */
        MPI_Reduce(small, small + 4, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(small, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

/* The last rank does not come to it. */
static void ibarrier(void)
{
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        MPI_Recv(small, 8, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    MPI_Request request;
    MPI_Allreduce_init(MPI_IN_PLACE, small, 8, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (rank == size - 1)
        MPI_Recv(small, 8, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static void part(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half");
    if (rank > 1)
        MPI_Barrier(half);
    else
        MPI_Recv(small, 8, MPI_BYTE, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void polls(void)
{
    MPI_Request request;
    int flag = 0;
    MPI_Irecv(small, 8, MPI_BYTE, (rank + 1) % size, 4, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void *later(void *request)
{
    sleep(6);
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

static void generalized(void)
{
    MPI_Request request, copy;
    pthread_t thread;
    MPI_Grequest_start(query, nothing, no_cancel, NULL, &request);
    copy = request;
    pthread_create(&thread, NULL, later, &copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One thread waits in MPI, the other one sends to it later. */
static void *send_later(void *arg)
{
    (void)arg;
    sleep(6);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, send_later, NULL);
    if (rank != 0)
        MPI_Recv(small, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    for (int i = 1; rank == 0 && i < size; i++)
        MPI_Send(small, 8, MPI_BYTE, i, 1, MPI_COMM_WORLD);
}

static void *probes(void *arg)
{
    /* this is LINE probes */
    MPI_Probe(1 - rank, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arg;
}

static void *receives(void *arg)
{
    /* this is LINE receives */
    MPI_Recv(small, 8, MPI_BYTE, 1 - rank, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arg;
}

/* Three threads wait, each in a call of its own. */
static void three_threads(void)
{
    pthread_t thread[2];
    MPI_Request request;
    pthread_create(&thread[0], NULL, probes, NULL);
    pthread_create(&thread[1], NULL, receives, NULL);
    MPI_Irecv(small + 8, 8, MPI_BYTE, 1 - rank, 23, MPI_COMM_WORLD, &request);
    /* this is LINE waits */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

/* A thread that cannot call MPI is at work; or a handler may do something. */
static void *work(void *arg)
{
    time_t end = time(NULL) + 6;
    while (time(NULL) < end)
        ((volatile char *)arg)[0]++;
    _exit(0);
}

static void worker(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, small + 8);
    recv_cycle();
}

static void on_alarm(int number)
{
    (void)number;
    _exit(0);
}

static void handler(void)
{
    signal(SIGALRM, on_alarm);
    alarm(6);
    recv_cycle();
}

/* Healthy, but all but one rank sleep for longer than it takes to be suspected, again and again. */
static void rounds(void)
{
    for (int i = 0; i < 6; i++) {
        int busy = i * 5 % size;
        if (rank == busy)
            usleep(2000000 + 150000 * (unsigned)i);
        if (i % 2)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (rank == busy)
            for (int k = 1; k < size; k++)
                MPI_Send(small, 8, MPI_BYTE, (rank + k) % size, i, MPI_COMM_WORLD);
        else
            MPI_Recv(small, 8, MPI_BYTE, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Ranks 0 and 1 have a message under way all the time, until the file is there. */
static void ping_pong(void)
{
    for (int stop = 0; rank < 2 && !stop;) {
        if (rank == 0)
            stop = access(getenv("HANG_UNTIL"), F_OK) == 0;
        for (int i = 0; i < 2; i++)
            if (i == rank)
                MPI_Send(&stop, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(&stop, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two ranks hang, and the last one computes. */
static void two_of_three(void)
{
    if (rank == size - 1)
        computing();
    recv_cycle();
}

/* Rank 0's last message waits for the file, and all others for that. */
static void kept(void)
{
    for (int i = 0; i < 2; i++) {
        if (rank == 0 && i == 1)
            puts("connected"), fflush(stdout);
        while (rank == 0 && i == 1 && access(getenv("HANG_UNTIL"), F_OK) != 0)
            usleep(10000);
        if (rank == 0)
            MPI_Send(small, 8, MPI_BYTE, size - 1, 7, MPI_COMM_WORLD);
        if (rank > 0)
            MPI_Recv(small, 8, MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank > 0)
            MPI_Send(small, 8, MPI_BYTE, rank - 1, 7, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(small, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The sender forgets two partitions. */
static void partitions(void)
{
    static char buf[40];
    MPI_Request r;
    if (rank == 0)
        MPI_Psend_init(buf, 4, 10, MPI_CHAR, 1, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(buf, 2, 20, MPI_CHAR, 0, 14, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    if (rank == 0)
        MPI_Pready_range(1, 2, r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    { "recv_cycle", recv_cycle },
    { "head_to_head", head_to_head },
    { "long_sends", long_sends },
    { "recv_and_barrier", recv_and_barrier },
    { "returned", returned },
    { "computing", computing },
    { "sleeping", sleeping },
    { "wrong_tag", wrong_tag },
    { "waitall", waitall },
    { "waitany", waitany },
    { "itself", itself },
    { "any_source", any_source },
    { "wrong_comm", wrong_comm },
    { "three_operations", three_operations },
    { "ended", ended },
    { "probe", probe },
    { "mixed", mixed },
    { "part", part },
    { "ibarrier", ibarrier },
    { "persistent", persistent },
    { "polls", polls },
    { "generalized", generalized },
    { "threads", threads },
    { "worker", worker },
    { "handler", handler },
    { "rounds", rounds },
    { "ping_pong", ping_pong },
    { "two_of_three", two_of_three },
    { "partitions", partitions },
    { "kept", kept },
    { "three_threads", three_threads },
};

int main(int argc, char **argv)
{
    int provided;
    const char *name = argc > 1 ? argv[1] : "";
    bool beside = strcmp(name, "three_threads") == 0 || strcmp(name, "generalized") == 0;
    int level = beside                         ? MPI_THREAD_MULTIPLE
                : strcmp(name, "threads") == 0 ? MPI_THREAD_SERIALIZED
                                               : MPI_THREAD_FUNNELED;
    MPI_Init_thread(NULL, NULL, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            ways[i].run();
    MPI_Finalize();
    puts("done");
    return 0;
}
