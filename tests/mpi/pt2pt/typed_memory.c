/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* timeout: 120 */
/* 256 MB of a derived type go from rank to rank in bounded memory: neither side keeps a packed copy.  The sender's type
 * describes the same few MB over and over; the receiver's memory is its own before the message comes. */
#include "check.h"

enum { BLOCKS = 65536, TO = 4080, STEP = 4096, FROM = 240, ROOM_KB = 48 << 10 };

static long peak_kb(void)
{
    char line[200];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kb < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %ld", &kb) != 1)
            kb = -1;
    if (f)
        fclose(f);
    return kb;
}

/* Word w of the message: blocks of 240 bytes that begin 8 bytes after one another. */
static int64_t word(int64_t w)
{
    return w / (FROM / 8) + w % (FROM / 8);
}

static void give(int how)
{
    int n = BLOCKS * (TO / FROM);
    size_t words = (size_t)n + FROM / 8;
    int64_t *p = malloc(words * 8);
    MPI_Datatype t;
    MPI_Request r;
    for (size_t i = 0; i < words; i++)
        p[i] = (int64_t)i;
    MPI_Type_create_hvector(n, FROM, 8, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    if (how == 0)
        MPI_Send(p, 1, t, 1, how, MPI_COMM_WORLD);
    else {
        MPI_Issend(p, 1, t, 1, how, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&t);
    free(p);
}

static void take(char *p, int how)
{
    int64_t wrong = 0, w = 0, got;
    MPI_Datatype t;
    memset(p, 99, (size_t)BLOCKS * STEP);
    MPI_Type_create_hvector(BLOCKS, TO, STEP, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    MPI_Recv(p, 1, t, how ? MPI_ANY_SOURCE : 0, how, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int64_t b = 0; b < BLOCKS; b++) {
        for (int i = 0; i < TO; i += 8, w++) {
            memcpy(&got, p + b * STEP + i, 8);
            wrong += got != word(w);
        }
        wrong += p[b * STEP + TO] != 99 || p[b * STEP + STEP - 1] != 99;
    }
    CHECK_EQ(wrong, 0, "words of 32 million");
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    char *p = check_rank == 1 ? malloc((size_t)BLOCKS * STEP) : NULL;
    if (p)
        memset(p, 1, (size_t)BLOCKS * STEP);
    long before = peak_kb();
    for (int how = 0; how < 2; how++)
        if (check_rank == 0)
            give(how);
        else
            take(p, how);
    CHECK(peak_kb() - before < ROOM_KB, "%ld kB before, %ld kB now", before, peak_kb());
    free(p);
    return check_done();
}
