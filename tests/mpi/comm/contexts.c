/* SPDX-License-Identifier: BSD-3-Clause */
/* Context ids come again after a while (here soon), but not those still in use: communicators that live on keep
 * their messages to themselves, whatever the processes have made meanwhile, each another number. */
/* ranks: 1 2 3 5 */
/* env: KEEL_CONTEXT_IDS=8192 */
#include "../check.h"

enum { LAPS = 2, LAP = 8192, KEPT = 24, STEP = LAP * LAPS / KEPT };

static MPI_Comm kept[KEPT], inter;

static void make(int how, MPI_Comm *c)
{
    MPI_Request r;
    MPI_Group g;
    switch (how % 5) {
    case 0:
        MPI_Comm_idup(MPI_COMM_WORLD, c, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Comm_split(MPI_COMM_WORLD, 0, check_rank, c);
        break;
    case 2:
        MPI_Comm_group(MPI_COMM_WORLD, &g);
        MPI_Comm_create_from_group(g, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, c);
        MPI_Group_free(&g);
        break;
    default:
        MPI_Comm_dup(MPI_COMM_WORLD, c);
    }
}

/* Communicators of some processes only: what each has made differs. */
static void drift(int n)
{
    MPI_Comm c, d;
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &c);
        if (i % 3 == 0) {
            MPI_Comm_dup(c, &d);
            MPI_Comm_free(&d);
        }
        MPI_Comm_free(&c);
    }
}

/* A message on each, all at a time, taken in another order. */
static void use(int n)
{
    MPI_Request r[KEPT];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size, out[KEPT],
        in;
    for (int i = 0; i < n; i++) {
        out[i] = 1000 * check_rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, 0, kept[i], &r[i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        MPI_Recv(&in, 1, MPI_INT, left, 0, kept[i], MPI_STATUS_IGNORE);
        CHECK_EQ(in, 1000 * left + i, "communicator %d of %d", i, n);
    }
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}

static void between(int v)
{
    int w = -1, other = check_rank ^ 1;
    if (inter == MPI_COMM_NULL)
        return;
    MPI_Sendrecv(&v, 1, MPI_INT, 0, 0, &w, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    CHECK_EQ(w, v + other - check_rank);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    inter = MPI_COMM_NULL;
    if (check_size > 1 && check_rank < 2)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !check_rank, 0, &inter);
    for (int i = 0; i < KEPT; i++) {
        make(i, &kept[i]);
        drift(STEP / (check_rank + 1));
        if (i % 4 == 0) {
            MPI_Comm c;
            make(i / 4, &c);
            MPI_Comm_free(&c);
        }
        use(i + 1);
        between(check_rank);
    }
    for (int i = 0; i < KEPT; i++)
        MPI_Comm_free(&kept[i]);
    if (inter != MPI_COMM_NULL)
        MPI_Comm_free(&inter);
    return check_done();
}
