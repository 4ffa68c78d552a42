/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank costs of the memory that ranks share: all pages that the job's segment has, divided by the ranks, is
 * below 64 KB at rest and below 768 KB when busy with small and medium messages to six neighbours and small
 * collectives, also after large messages. Printed too: the largest share of one rank of the pages that it maps
 * (PSS). */
/* ranks: 2 4 64 256 */
/* timeout: 180 */
/* nodes: one, because it is the memory of one node that is counted */
#include <sys/stat.h>
#include "check.h"

enum { IDLE_KB = 64, BUSY_KB = 768, NEIGHBOURS = 3 /* on either side */, LARGE = 1 << 20 };

/* KB of the segment that exist, divided by the ranks; KB of it that this rank maps, by the share of its users. */
static void figures(double *exist, double *mine)
{
    char line[512], name[64];
    unsigned long a, b, inside = 0, kb;
    FILE *f = fopen("/proc/self/smaps", "r");
    *exist = *mine = 0;
    while (f != NULL && fgets(line, sizeof line, f)) {
        struct stat st;
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
            inside = strstr(line, "/memfd:keel") != NULL;
            snprintf(name, sizeof name, "/proc/self/map_files/%lx-%lx", a, b);
            if (inside && stat(name, &st) == 0 && (double)st.st_blocks / 2 > *exist * check_size)
                *exist = (double)st.st_blocks / 2 / check_size;
        } else if (inside && sscanf(line, "Pss: %lu", &kb) == 1)
            *mine += (double)kb;
    }
    if (f != NULL)
        fclose(f);
}

static void look(const char *when, double limit)
{
    double mine[2], most[2];
    MPI_Barrier(MPI_COMM_WORLD);
    figures(&mine[0], &mine[1]);
    MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (check_rank != 0)
        return;
    printf("%d ranks, %s: %.1f KB a rank exist, the largest share is %.1f KB\n", check_size, when, most[0],
           most[1]);
    CHECK(most[1] > 0, "the job's memory was not found in /proc/self/smaps");
    if (limit > 0)
        CHECK(most[0] < limit, "%s: %.1f KB a rank exist; expected less than %.0f", when, most[0], limit);
}

/* Up to NEIGHBOURS on either side, both ways at once. */
static void exchange(int bytes, int times)
{
    static unsigned char in[2 * NEIGHBOURS][16384], out[16384];
    int n = NEIGHBOURS < check_size - 1 ? NEIGHBOURS : check_size - 1;
    for (int k = 0; k < times; k++) {
        MPI_Request q[4 * NEIGHBOURS];
        for (int i = 0; i < n; i++) {
            int up = (check_rank + i + 1) % check_size, down = (check_rank + check_size - i - 1) % check_size;
            MPI_Irecv(in[2 * i], bytes, MPI_BYTE, up, 2 * i, MPI_COMM_WORLD, &q[4 * i]);
            MPI_Irecv(in[2 * i + 1], bytes, MPI_BYTE, down, 2 * i + 1, MPI_COMM_WORLD, &q[4 * i + 1]);
            MPI_Isend(out, bytes, MPI_BYTE, down, 2 * i, MPI_COMM_WORLD, &q[4 * i + 2]);
            MPI_Isend(out, bytes, MPI_BYTE, up, 2 * i + 1, MPI_COMM_WORLD, &q[4 * i + 3]);
        }
        MPI_Waitall(4 * n, q, MPI_STATUSES_IGNORE);
    }
}

static void busy(int times)
{
    static const int sizes[] = { 8, 48, 200, 1024, 4096, 16384 };
    double x[16] = { 0 }, y[16];
    for (int i = 0; i < 6; i++) {
        exchange(sizes[i], times);
        MPI_Allreduce(x, y, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(x, 16, MPI_DOUBLE, i % check_size, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Pairs, one way, a few messages under way at once. */
static void stream(int times)
{
    unsigned char *buf = calloc(4, LARGE);
    int other = check_rank ^ 1;
    MPI_Request q[4];
    for (int k = 0; k < times && other < check_size; k++) {
        for (int i = 0; i < 4; i++)
            if (check_rank & 1)
                MPI_Irecv(buf + (size_t)i * LARGE, LARGE, MPI_BYTE, other, i, MPI_COMM_WORLD, &q[i]);
            else
                MPI_Isend(buf + (size_t)i * LARGE, LARGE, MPI_BYTE, other, i, MPI_COMM_WORLD, &q[i]);
        if (k == times - 1 && check_rank < 2) { /* in the middle of the last */
            double exist, mine;
            MPI_Wait(&q[0], MPI_STATUS_IGNORE);
            figures(&exist, &mine);
            if (check_rank == 0)
                printf("%d ranks, in a stream of 1 MB messages: %.1f KB a rank exist, rank 0's share is %.1f "
                       "KB\n",
                       check_size, exist, mine);
        }
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    }
    free(buf);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    look("at rest", IDLE_KB);
    busy(check_size > 64 ? 2 : 20);
    look("busy", BUSY_KB);
    stream(check_size > 64 ? 2 : 8);
    look("after large messages", 0);
    busy(check_size > 64 ? 2 : 20);
    look("busy after large messages", BUSY_KB);
    return check_done();
}
