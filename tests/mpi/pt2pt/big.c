/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* part: long */
/* timeout: 300 */
/* A message of 5 GiB arrives whole: by MPI_Send_c of bytes, and as a few elements of a derived type through the
 * int calls. Skipped where less than 12 GB of memory is free. */
#include "check.h"

static const int64_t bytes = (int64_t)5 << 30, step = 4096 - 8;

static int64_t available_kb(void)
{
    char line[200];
    long long kb = -1;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && kb < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kb) != 1)
            kb = -1;
    if (f)
        fclose(f);
    return kb;
}

/* A word every so often tells its own place: enough to see a lost or moved piece, cheap enough for 5 GiB. */
static void mark(char *p, int64_t salt)
{
    for (int64_t at = 0; at + 8 <= bytes; at += step) {
        int64_t word = at ^ salt;
        memcpy(p + at, &word, 8);
    }
}
static void verify(const char *p, int64_t salt)
{
    for (int64_t at = 0; at + 8 <= bytes; at += step) {
        int64_t word;
        memcpy(&word, p + at, 8);
        CHECK_EQ(word, at ^ salt, "at byte %lld", (long long)at);
        if (check_failures > 3)
            return;
    }
}

int main(int argc, char **argv)
{
    MPI_Status s;
    MPI_Count n = -1;
    int enough = available_kb() > 12 * 1000 * 1000LL, all = 0;
    check_init(&argc, &argv);
    MPI_Allreduce(&enough, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    char *p = all ? malloc((size_t)bytes) : NULL;
    if (!p) {
        if (check_rank == 0)
            printf("less than 12 GB of memory are free\n");
        MPI_Finalize();
        return 77;
    }
    if (check_rank == 0) {
        mark(p, 1);
        MPI_Send_c(p, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv_c(p, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &s);
        MPI_Get_count_c(&s, MPI_BYTE, &n);
        CHECK_EQ(n, bytes);
        verify(p, 1);
    }
    MPI_Datatype half;
    int small = -1;
    MPI_Type_contiguous((int)(bytes / 8 / 2), MPI_INT64_T, &half);
    MPI_Type_commit(&half);
    if (check_rank == 0) {
        mark(p, 2);
        MPI_Send(p, 2, half, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(p, 2, half, 0, 0, MPI_COMM_WORLD, &s);
        MPI_Get_count(&s, half, &small);
        CHECK_EQ(small, 2);
        MPI_Get_count(&s, MPI_BYTE, &small);
        CHECK_EQ(small, MPI_UNDEFINED, "5 GiB do not fit an int");
        verify(p, 2);
    }
    MPI_Type_free(&half);
    /* with holes: 8 bytes of every 16, and back into one piece at the other side */
    MPI_Datatype holes;
    MPI_Type_vector((int)(bytes / 16), 1, 2, MPI_INT64_T, &holes);
    MPI_Type_commit(&holes);
    if (check_rank == 0) {
        MPI_Send(p, 1, holes, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv_c(p, bytes / 16, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, &s);
        MPI_Get_count_c(&s, MPI_INT64_T, &n);
        CHECK_EQ(n, bytes / 16);
        for (int64_t at = 0; at + 8 <= bytes && !check_failures;
             at += step * 2) { /* step is a multiple of 8 */
            int64_t word;
            memcpy(&word, p + at / 2, 8);
            CHECK_EQ(word, at ^ 2, "word of byte %lld", (long long)at);
        }
    }
    MPI_Type_free(&holes);
    free(p);
    return check_done();
}
