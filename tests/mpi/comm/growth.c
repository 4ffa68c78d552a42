/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process allocates for a communicator of few does not grow with the job, and MPI_Comm_split takes what its
 * collective part must know of each process: 8 bytes, and as much again while it gathers them. */
/* ranks: 5 64 */
#include "../check.h"
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>

static _Thread_local long live, most; /* bytes of this thread's own calls */

#ifdef __SANITIZE_ADDRESS__ /* which has an allocator of its own: nothing is counted */
#else
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static void *count(void *p)
{
    live += p ? (long)malloc_usable_size(p) : 0;
    most = live > most ? live : most;
    return p;
}

void *malloc(size_t n)
{
    return count(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return count(__libc_calloc(n, size));
}

void *realloc(void *old, size_t n)
{
    live -= old ? (long)malloc_usable_size(old) : 0;
    return count(__libc_realloc(old, n));
}

void free(void *p)
{
    live -= p ? (long)malloc_usable_size(p) : 0;
    __libc_free(p);
}
#endif

enum { FEW = 16 << 10 /* bytes: what is made for the first use of two peers, too */ };

static void begin(void)
{
    live = most = 0;
}

enum { GROUP, INTER, SPLIT, KINDS };
static const char *const name[] = { "MPI_Comm_create_group of 2", "MPI_Intercomm_create of 1 and 1",
                                    "MPI_Comm_split into pairs" };
static long least[KINDS] = { LONG_MAX, LONG_MAX, LONG_MAX }; /* of the rounds */

static void end(int kind)
{
    least[kind] = most < least[kind] ? most : least[kind];
}

static void at_most(int kind, long bytes)
{
    CHECK(least[kind] <= bytes, "%s of %d processes: %ld bytes were allocated, expected at most %ld",
          name[kind], check_size, least[kind], bytes);
}

static void make_all(void)
{
    MPI_Comm pair = MPI_COMM_NULL, inter = MPI_COMM_NULL, two = MPI_COMM_NULL;
    MPI_Group all, both;
    int ends[2] = { 0, 1 };
    bool early = check_rank < 2;

    begin();
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, ends, &both);
    if (early)
        MPI_Comm_create_group(MPI_COMM_WORLD, both, 7, &two);
    end(GROUP);

    begin();
    if (early)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !check_rank, 3, &inter);
    end(INTER);

    begin();
    MPI_Comm_split(MPI_COMM_WORLD, check_rank / 2, 0, &pair);
    end(SPLIT);

    if (early) {
        MPI_Comm_free(&two);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&pair);
    MPI_Group_free(&both);
    MPI_Group_free(&all);
}

int main(int argc, char **argv)
{
    int flag, *value;
    check_init(&argc, &argv);

    begin();
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    CHECK(most == 0, "MPI_WTIME_IS_GLOBAL: %ld bytes were allocated, expected none", most);

    /* In the first round peers are met, whose devices may have buffers for each; and now and then a device needs
     * one more. */
    for (int i = 0; i < 4; i++)
        make_all();
    at_most(GROUP, FEW);
    at_most(INTER, FEW);
    at_most(SPLIT, FEW + 16L * check_size);
    return check_done();
}
