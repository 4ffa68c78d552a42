/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8 */
/* timeout: 120 */
/* All sizes 0..70000 in steps, and around every power of two up to 4 MB, in a ring, both directions at once,
 * verified. */
#include "check.h"

enum { MAX = (4 << 20) + 64 };
static unsigned char *out[2], *in[2];

/* To both neighbours and from both, nonblocking; the receive is one byte longer than the message. */
static void both(int n, int round)
{
    int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
    MPI_Request r[4];
    MPI_Status s[4];
    for (int d = 0; d < 2; d++) {
        check_fill(out[d], (size_t)n, (uint64_t)(round * 100 + check_rank * 2 + d));
        memset(in[d], 0xee, (size_t)n + 1);
    }
    MPI_Irecv(in[0], n + 1, MPI_BYTE, before, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out[0], n, MPI_BYTE, next, 0, MPI_COMM_WORLD, &r[2]);
    MPI_Isend(out[1], n, MPI_BYTE, before, 1, MPI_COMM_WORLD, &r[3]);
    MPI_Irecv(in[1], n + 1, MPI_BYTE, next, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(4, r, s);
    for (int d = 0; d < 2; d++) {
        int count = -1, from = d ? next : before;
        MPI_Get_count(&s[d], MPI_BYTE, &count);
        CHECK_EQ(count, n);
        CHECK_BYTES(in[d], (size_t)n, (uint64_t)(round * 100 + from * 2 + d));
        CHECK_EQ(in[d][n], 0xee, "size %d", n);
    }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int d = 0; d < 2; d++) {
        out[d] = malloc(MAX);
        in[d] = malloc(MAX + 1);
    }
    int round = 0;
    for (int n = 0; n < 300; n++)
        both(n, round++);
    for (int n = 300; n <= 70000; n += check_size > 2 ? 2503 : 331)
        both(n, round++);
    for (int p = 256; p <= 4 << 20; p *= 2)
        for (int d = -17; d <= 17; d += p < 100000 ? 1 : 17)
            both(p + d, round++);
    for (int d = 0; d < 2; d++) {
        free(out[d]);
        free(in[d]);
    }
    return check_done();
}
