/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 5 8 */
/* timeout: 60 */
/* Nobody is starved: while other ranks send to rank 0 without end, each as soon as it can, the one message of the
 * last rank comes through wildcards, probes, and the requests of MPI_Waitsome and MPI_Testsome (fair by MPI 5.0,
 * 3.7.5). */
#include <stdbool.h>
#include "check.h"

enum { FLOOD = 1, ONE = 2, STOP = 3, GO = 4, PATIENCE = 2000000 };

static char room[20000];
static int lone;

static void take_wild(int *source)
{
    MPI_Status s;
    MPI_Recv(room, sizeof room, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    *source = s.MPI_SOURCE;
}
static void take_probed(int *source)
{
    MPI_Status s;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    MPI_Recv(room, sizeof room, MPI_BYTE, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
    *source = s.MPI_SOURCE;
}
static void take_improbed(int *source)
{
    MPI_Status s;
    MPI_Message m = MPI_MESSAGE_NULL;
    for (int flag = 0; !flag;)
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s);
    MPI_Mrecv(room, sizeof room, MPI_BYTE, &m, &s);
    *source = s.MPI_SOURCE;
}

/* One receive a source, posted again as soon as it is done. */
static char rooms[8][sizeof room];
static MPI_Request posted[8];

static void post(int from)
{
    MPI_Irecv(rooms[from], sizeof room, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &posted[from]);
}
static void take_some(int *source, bool test)
{
    int n = 0, which[8];
    while (n == 0)
        if (test)
            MPI_Testsome(check_size, posted, &n, which, MPI_STATUSES_IGNORE);
        else
            MPI_Waitsome(check_size, posted, &n, which, MPI_STATUSES_IGNORE);
    *source = which[0];
    for (int i = 0; i < n; i++)
        if (which[i] == lone)
            *source = lone;
        else
            post(which[i]);
}

static void take(int way, int *source)
{
    if (way == 0)
        take_wild(source);
    else if (way == 1)
        take_probed(source);
    else if (way == 2)
        take_improbed(source);
    else
        take_some(source, way == 4);
}

/* The flood ends with an empty message of tag STOP from each, after which nothing is on its way. */
static void drain(int way)
{
    MPI_Status s;
    for (int from = 1; from < lone; from++) {
        MPI_Send(NULL, 0, MPI_BYTE, from, STOP, MPI_COMM_WORLD);
        do {
            if (way < 3)
                MPI_Recv(room, sizeof room, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            else {
                MPI_Wait(&posted[from], &s);
                if (s.MPI_TAG != STOP)
                    post(from);
            }
        } while (s.MPI_TAG != STOP);
    }
}

static void receive(int way)
{
    int source = -1, taken = 0;
    for (int from = 0; from < 8; from++)
        posted[from] = MPI_REQUEST_NULL;
    for (int from = 1; way >= 3 && from < check_size; from++)
        post(from);
    for (; taken < 200; taken++) /* the flood is there */
        take(way, &source);
    MPI_Send(NULL, 0, MPI_BYTE, lone, GO, MPI_COMM_WORLD);
    for (; source != lone && taken < PATIENCE; taken++)
        take(way, &source);
    CHECK(source == lone, "way %d: %d messages were taken, none from rank %d", way, taken, lone);
    drain(way);
}

static void flood(size_t bytes)
{
    for (int stop = 0; !stop;) {
        MPI_Send(room, (int)bytes, MPI_BYTE, 0, FLOOD, MPI_COMM_WORLD);
        MPI_Iprobe(0, STOP, MPI_COMM_WORLD, &stop, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, STOP, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, STOP, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 8, 2000, sizeof room };
    check_init(&argc, &argv);
    lone = check_size - 1;
    for (int way = 0; way < 5; way++)
        for (int i = 0; i < 3; i++) {
            if (check_rank == 0)
                receive(way);
            else if (check_rank < lone)
                flood(sizes[i]);
            else {
                MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(room, (int)sizes[i], MPI_BYTE, 0, ONE, MPI_COMM_WORLD);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
    return check_done();
}
