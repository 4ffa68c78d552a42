/* SPDX-License-Identifier: BSD-3-Clause */
/* The first bytes of a long message go before the receiver has answered (core/rndv.c, START): they are taken where
 * the receive waits, and come again where it does not.  Receives shorter than the message, and than its start;
 * derived types on either side; synchronous messages of few bytes; messages taken after MPI_Mprobe; sends that are
 * cancelled; both ranks at once; many in a row, of which the receiver is ready for some. */
/* ranks: 2 3 5 */
#include <stdbool.h>
#include "check.h"

enum { LONG = 300000, TAG = 5 };

static unsigned char out[LONG], in[LONG];

static unsigned char at(int i, int seed)
{
    return (unsigned char)(i * 7 + i / 251 + seed * 13);
}

static void fill(int n, int seed)
{
    for (int i = 0; i < n; i++)
        out[i] = at(i, seed);
}

static void clear(void)
{
    memset(in, 0xee, sizeof in);
}

/* The first n bytes are there and nothing behind them. */
static void look(int n, int seed, const char *what)
{
    for (int i = 0; i < n; i++)
        if (in[i] != at(i, seed)) {
            CHECK(in[i] == at(i, seed), "%s: byte %d of %d is %d, not %d", what, i, n, in[i], at(i, seed));
            return;
        }
    for (int i = n; i < n + 100 && i < LONG; i++)
        CHECK(in[i] == 0xee, "%s: byte %d, behind the last, was written", what, i);
}

/* Rank 1 waits already when rank 0 sends, or `late`: it does not.  A short message tells when. */
static void pair(int bytes, int room, bool late, bool synchronous, const char *what)
{
    MPI_Request r;
    MPI_Status s;
    int count, err;
    if (check_rank == 0) {
        fill(bytes, bytes + room);
        if (late) {
            (synchronous ? MPI_Issend : MPI_Isend)(out, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &r);
            MPI_Send(NULL, 0, MPI_BYTE, 1, TAG + 1, MPI_COMM_WORLD);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            (synchronous ? MPI_Ssend : MPI_Send)(out, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        }
    } else if (check_rank == 1) {
        clear();
        if (late)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(in, room, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &r);
        if (!late)
            MPI_Send(NULL, 0, MPI_BYTE, 0, TAG + 1, MPI_COMM_WORLD);
        err = MPI_Wait(&r, &s);
        MPI_Get_count(&s, MPI_BYTE, &count);
        CHECK(err == (room < bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "%s: %d bytes into %d: error %d", what,
              bytes, room, err);
        CHECK(room < bytes || count == bytes, "%s: %d bytes of %d", what, count, bytes);
        look(room < bytes ? room : bytes, bytes + room, what);
    }
}

static void sizes(void)
{
    static const int bytes[] = { 25,    49,    100,   4000,  16383,  16384,  16385,
                                 20000, 32768, 32769, 65536, 100001, 250000, LONG };
    static const int less[] = { 0, 1, 1000, 16383, 16384, 16385, 40000, 200000 };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int k = 0; k < 4; k++) {
            pair(bytes[i], bytes[i], k & 1, k & 2, "exact");
            pair(bytes[i], LONG, k & 1, k & 2, "larger");
            for (size_t j = 0; j < sizeof less / sizeof *less && less[j] < bytes[i]; j++)
                pair(bytes[i], less[j], k & 1, k & 2, "truncated");
        }
}

/* A third of what lies in the buffer: 4 of 12 bytes. */
static void types(void)
{
    MPI_Datatype part;
    int n = LONG / 12;
    MPI_Type_vector(n, 4, 12, MPI_BYTE, &part);
    MPI_Type_commit(&part);
    for (int k = 0; k < 4; k++) {
        MPI_Request r;
        MPI_Datatype mine = (k & 1) == check_rank ? part : MPI_BYTE;
        int count = mine == part ? 1 : 4 * n;
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) {
            fill(LONG, k);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, count, mine, 1, TAG, MPI_COMM_WORLD);
        } else if (check_rank == 1) {
            clear();
            MPI_Irecv(in, count, mine, 0, TAG, MPI_COMM_WORLD, &r);
            MPI_Send(NULL, 0, MPI_BYTE, 0, TAG + 1, MPI_COMM_WORLD);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            for (int i = 0; i < 4 * n; i++) {
                int spread = i / 4 * 12 + i % 4, from = mine == part ? i : spread,
                    to = mine == part ? spread : i;
                if (in[to] != at(from, k)) {
                    CHECK(in[to] == at(from, k), "type %d: byte %d is %d, not %d", k, i, in[to], at(from, k));
                    break;
                }
            }
        }
    }
    MPI_Type_free(&part);
}

static void probed(void)
{
    MPI_Message m;
    MPI_Status s;
    if (check_rank == 0) {
        fill(LONG, 3);
        MPI_Send(out, LONG, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else if (check_rank == 1) {
        clear();
        MPI_Mprobe(0, TAG, MPI_COMM_WORLD, &m, &s);
        MPI_Mrecv(in, LONG, MPI_BYTE, &m, &s);
        look(LONG, 3, "after a probe");
    }
}

static void cancelled(void)
{
    MPI_Request r;
    MPI_Status s;
    int flag;
    if (check_rank == 0) {
        fill(LONG, 4);
        MPI_Isend(out, LONG, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &s);
        MPI_Test_cancelled(&s, &flag);
        CHECK(flag, "a message that nobody waits for was not cancelled");
        MPI_Barrier(MPI_COMM_WORLD);
        fill(LONG, 5);
        MPI_Send(out, LONG, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank != 1)
            return;
        clear();
        MPI_Recv(in, LONG, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        look(LONG, 5, "after one that was cancelled");
    }
}

/* To the next rank and from the one before, both at once. */
static void ring(void)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    for (int i = 0; i < 200; i++) {
        int bytes = 20000 + i * 1117;
        fill(bytes, check_rank + i);
        clear();
        MPI_Sendrecv(out, bytes, MPI_BYTE, to, TAG, in, LONG, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        look(bytes, from + i, "in a ring");
    }
}

/* Of four messages at a time the receiver waits for none, one, ... four when they are sent. */
static void some_ready(void)
{
    enum { FEW = 4, BYTES = 40000 };
    for (int round = 0; round < 100; round++) {
        MPI_Request r[FEW];
        int ready = round % (FEW + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check_rank == 0) {
            for (int k = 0; k < FEW; k++)
                for (int i = 0; i < BYTES; i++)
                    out[k * BYTES + i] = at(i, round + k);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < FEW; k++)
                MPI_Isend(out + k * BYTES, BYTES, MPI_BYTE, 1, k, MPI_COMM_WORLD, &r[k]);
            MPI_Waitall(FEW, r, MPI_STATUSES_IGNORE);
        } else if (check_rank == 1) {
            clear();
            for (int k = 0; k <= FEW; k++) {
                if (k == ready)
                    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG + 1, MPI_COMM_WORLD);
                if (k < FEW)
                    MPI_Irecv(in + k * BYTES, BYTES, MPI_BYTE, 0, k, MPI_COMM_WORLD, &r[k]);
            }
            MPI_Waitall(FEW, r, MPI_STATUSES_IGNORE);
            for (int k = 0; k < FEW; k++)
                for (int i = 0; i < BYTES; i += 997)
                    CHECK(in[k * BYTES + i] == at(i, round + k), "round %d, message %d, byte %d", round, k,
                          i);
        }
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    sizes();
    types();
    probed();
    cancelled();
    ring();
    some_ready();
    return check_done();
}
