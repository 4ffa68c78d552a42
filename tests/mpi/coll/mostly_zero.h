/* SPDX-License-Identifier: BSD-3-Clause */
/* mostly_zero.h: alltoallv and alltoallw in which nearly all blocks are empty: an empty block takes no message,
 * whatever the algorithm and the form, so the messages a process sends are as many as its blocks that are not. */
#include "../tool/tool.h"
#include "forms.h"

enum { N = 3, PEERS = 3 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle sends;
static int *in, *out, *cnt[2], *dsp[2], *byte[2]; /* sends, receives */
static MPI_Datatype *types;

/* The k-th peer is so far away: to it in a send, from it in a receive. */
static int distance(int k)
{
    return k == 0 ? 0 : k == 1 ? 1 : check_size / 2;
}

static void layout(int p)
{
    for (int side = 0; side < 2; side++) {
        cnt[side] = calloc((size_t)p, sizeof(int));
        dsp[side] = calloc((size_t)p, sizeof(int));
        byte[side] = calloc((size_t)p, sizeof(int));
        for (int k = 0; k < PEERS; k++) {
            int peer = (check_rank + (side ? p - distance(k) : distance(k))) % p;
            cnt[side][peer] = N;
            dsp[side][peer] = k * N;
            byte[side][peer] = k * N * (int)sizeof(int);
        }
    }
    types = malloc((size_t)p * sizeof *types);
    for (int i = 0; i < p; i++)
        types[i] = MPI_INT;
    in = malloc(sizeof *in * N * PEERS);
    out = malloc(sizeof *out * N * PEERS);
}

static void once(int w)
{
    unsigned long long before, now;
    for (int i = 0; i < N * PEERS; i++) {
        in[i] = check_rank * 100 + i;
        out[i] = -1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    before = tool_read(session, sends);
    if (w)
        MPI_Alltoallw(in, cnt[0], byte[0], types, out, cnt[1], byte[1], types, MPI_COMM_WORLD);
    else
        MPI_Alltoallv(in, cnt[0], dsp[0], MPI_INT, out, cnt[1], dsp[1], MPI_INT, MPI_COMM_WORLD);
    now = tool_read(session, sends);
    CHECK_EQ(now - before, PEERS - 1, "messages of alltoall%s, form %d", w ? "w" : "v", (int)form);
    for (int i = 0; i < N * PEERS; i++)
        CHECK_EQ(out[i], (check_rank + check_size - distance(i / N)) % check_size * 100 + i, "element %d", i);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    tool_begin();
    MPI_T_pvar_session_create(&session);
    sends = tool_watch(session, "keel_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    layout(check_size);
    for (int i = 0; i < 6; i++)
        (MPI_Barrier)(MPI_COMM_WORLD); /* what the communicator agrees on is agreed */
    for (form = BLOCKING; form < FORMS; form++)
        for (int w = 0; w < 2; w++)
            once(w);
    MPI_T_pvar_handle_free(session, &sends);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    for (int side = 0; side < 2; side++) {
        free(cnt[side]);
        free(dsp[side]);
        free(byte[side]);
    }
    free(types);
    free(in);
    free(out);
    return check_done();
}
