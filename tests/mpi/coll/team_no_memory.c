/* SPDX-License-Identifier: BSD-3-Clause */
/* The system has no memory for what teams share: nothing at all, or nothing large.  Collectives go by messages
 * then, whatever their size and wherever the request came from, and communicators that have their memory already
 * go on. */
/* ranks: 2 3 4 8 */
/* env: KEEL_COLL=bcast=team */
/* nodes: one, because processes of several nodes have no team */
/* timeout: 120 */
#define _GNU_SOURCE
#include "forms.h"
#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { ROUNDS = 12, MOST = 70000 };

static long refuse_from =
    LONG_MAX; /* bytes; while MPI begins nothing is refused: addresses of devices need memory */
static int refused, asked;

/* The library's requests for pages come here. */
int fallocate(int fd, int mode, off_t offset, off_t len);
int fallocate(int fd, int mode, off_t offset, off_t len)
{
    asked += mode == 0;
    if (mode == 0 && len >= refuse_from) {
        refused++;
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

static int in[8 * MOST], out[8 * MOST];

static void check_all(MPI_Comm c, int n, int round)
{
    int p = check_size, root = round % p, s = p * (p - 1) / 2;
    for (int i = 0; i < n; i++)
        in[i] = check_rank == root ? i + round : -1;
    MPI_Bcast(in, n, MPI_INT, root, c);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == i + round, "bcast of %d, round %d: element %d is %d", n, round, i, in[i]);
    for (int i = 0; i < n; i++)
        in[i] = check_rank + i;
    MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, c);
    for (int i = 0; i < n; i++)
        CHECK(out[i] == s + p * i, "allreduce of %d, round %d: element %d is %d", n, round, i, out[i]);
    MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, c);
    for (int i = 0; i < n * p; i++)
        CHECK(out[i] == i / n + i % n, "allgather of %d, round %d: element %d is %d", n, round, i, out[i]);
    MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, c);
    for (int i = 0; check_rank == root && i < n * p; i++)
        CHECK(out[i] == i / n + i % n, "gather of %d, round %d: element %d is %d", n, round, i, out[i]);
}

/* In all forms by turns. */
static void use(MPI_Comm c)
{
    static const int counts[] = { 1, 12, 100, 1000, 20000, MOST };
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 6; k++) {
            form = (enum form)(round % FORMS);
            check_all(c, counts[k], round);
        }
    form = BLOCKING;
}

int main(int argc, char **argv)
{
    static const long from[] = { 1 << 30, 200000, 1 << 20, 1 };
    MPI_Comm c[5];
    int all = 0;
    check_init(&argc, &argv);
    for (int k = 0; k < 4; k++) {
        refuse_from = from[k];
        MPI_Comm_dup(MPI_COMM_WORLD, &c[k]);
        use(c[k]);
    }
    MPI_Allreduce(&refused, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all >= 3, "%d requests were refused", all);
    MPI_Allreduce(&asked, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 8, "%d requests came", all);
    refuse_from = 1;
    use(c[0]);
    refuse_from = 1 << 30;
    MPI_Comm_dup(MPI_COMM_WORLD, &c[4]);
    use(c[4]);
    for (int k = 0; k < 5; k++)
        MPI_Comm_free(&c[k]);
    return check_done();
}
