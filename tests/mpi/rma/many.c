/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* across: regions are named by number to another node */
/* Many windows one after the other, some of them at once; a dynamic window with thousands of regions, attached and
 * detached in any order. */
#include "rma.h"

enum { WINDOWS = 400, AT_ONCE = 40, REGIONS = 3000, REGION = 24 };

static void windows(void)
{
    MPI_Win win[AT_ONCE];
    char *base[AT_ONCE], own[8] = { 0 };
    for (int i = 0; i < WINDOWS; i++) {
        int k = i % AT_ONCE, v = i, to = (check_rank + 1) % check_size, is;
        if (i >= AT_ONCE)
            CHECK_EQ(MPI_Win_free(&win[k]), MPI_SUCCESS);
        if (i % 2)
            CHECK_EQ(MPI_Win_create(own, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[k]), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Win_allocate(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base[k], &win[k]), MPI_SUCCESS);
        if (i % 20 > 1)
            continue;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win[k]);
        MPI_Put(&v, 1, MPI_INT, to, 0, 1, MPI_INT, win[k]);
        MPI_Win_unlock(to, win[k]);
        MPI_Barrier(MPI_COMM_WORLD);
        memcpy(&is, i % 2 ? own : base[k], sizeof is);
        CHECK_EQ(is, i);
    }
    for (int k = 0; k < AT_ONCE; k++)
        CHECK_EQ(MPI_Win_free(&win[k]), MPI_SUCCESS);
}

/* Region i is at a place of its own; the odd ones go first. */
static void regions(void)
{
    MPI_Win win;
    char *room = calloc(REGIONS, REGION + 8), *got = malloc(REGION);
    MPI_Aint *at = malloc(check_size * sizeof *at), mine;
    int to = (check_rank + 1) % check_size, wrong = 0;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < REGIONS; i++) {
        int k = (int)((long)i * 1237 % REGIONS);
        CHECK_EQ(MPI_Win_attach(win, room + k * (REGION + 8), REGION), MPI_SUCCESS);
        memset(room + k * (REGION + 8), k % 100, REGION);
    }
    MPI_Get_address(room, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, at, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < REGIONS; i += 7) {
        MPI_Get(got, REGION, MPI_CHAR, to, MPI_Aint_add(at[to], i * (REGION + 8)), REGION, MPI_CHAR, win);
        CHECK_EQ(MPI_Win_flush(to, win), MPI_SUCCESS);
        wrong += got[0] != i % 100 || got[REGION - 1] != i % 100;
    }
    CHECK_EQ(wrong, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 1; i < REGIONS; i += 2)
        CHECK_EQ(MPI_Win_detach(win, room + i * (REGION + 8)), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    int err = MPI_Get(got, REGION, MPI_CHAR, to, MPI_Aint_add(at[to], REGION + 8), REGION, MPI_CHAR, win);
    CHECK_ERR(err ? err : MPI_Win_flush(to, win), MPI_ERR_RMA_RANGE);
    CHECK_EQ(MPI_Get(got, REGION, MPI_CHAR, to, at[to], REGION, MPI_CHAR, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock_all(win), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < REGIONS; i += 2)
        CHECK_EQ(MPI_Win_detach(win, room + i * (REGION + 8)), MPI_SUCCESS);
    MPI_Win_free(&win);
    free(room);
    free(got);
    free(at);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    windows();
    regions();
    return check_done();
}
