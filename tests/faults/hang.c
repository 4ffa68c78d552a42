/* A program that hangs, in the way that its first argument names; or only looks as if it did. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static char big[1 << 20], small[8];

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

static void compute(double seconds)
{
    time_t end = time(NULL) + (time_t)seconds;
    while (time(NULL) < end)
        small[0]++;
}

static void computing(void)
{
    if (rank == size - 1)
        compute(6);
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

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    { "recv_cycle", recv_cycle }, { "head_to_head", head_to_head },
    { "long_sends", long_sends }, { "recv_and_barrier", recv_and_barrier },
    { "returned", returned },     { "computing", computing },
    { "sleeping", sleeping },     { "wrong_tag", wrong_tag },
    { "waitall", waitall },       { "probe", probe },
    { "mixed", mixed },           { "part", part },
    { "polls", polls },           { "generalized", generalized },
    { "threads", threads },
};

int main(int argc, char **argv)
{
    int provided;
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Init_thread(NULL, NULL, strcmp(name, "threads") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            ways[i].run();
    MPI_Finalize();
    puts("done");
    return 0;
}
