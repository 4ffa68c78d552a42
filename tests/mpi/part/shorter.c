/* SPDX-License-Identifier: BSD-3-Clause */
/* A partitioned receive takes a send that is shorter, as any receive does: the status counts what
 * came, what lies behind it is not touched, and MPI_Parrived tells of no partition that the send
 * does not fill before the whole is complete. */
/* ranks: 1 2 3 5 */
#include "check.h"

enum { MOST = 3 << 20 };
static char out[MOST], in[2 * MOST];

/* ns partitions of cs bytes to the next rank; there, nr of cr elements of the type, which has
 * `each` bytes in `wide`. */
static void meet(int ns, int cs, int nr, int cr, MPI_Datatype type, int each, int wide, int at_once)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, flag, count,
        n = ns * cs;
    MPI_Request s, r;
    MPI_Status status;
    MPI_Psend_init(out, ns, cs, MPI_CHAR, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(in, nr, cr, type, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int round = 0; round < 3; round++) {
        check_fill(out, (size_t)n, (uint64_t)(check_rank * 10 + round));
        memset(in, 77, (size_t)nr * (size_t)cr * (size_t)wide);
        MPI_Start(&r);
        MPI_Start(&s);
        for (int i = ns - 1; i > 0 && !at_once; i--)
            MPI_Pready(i, s);
        for (int i = 0; (i + 1) * cr * each <= n && !at_once; i++)
            for (flag = 0; !flag && i * cr * each >= cs;) /* what needs not the sender's first one */
                MPI_Parrived(r, i, &flag);
        CHECK_ERR(MPI_Parrived(r, nr - 1, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0, "nothing fills the last partition");
        MPI_Barrier(MPI_COMM_WORLD); /* so far nobody could complete */
        if (at_once)
            MPI_Pready_range(0, ns - 1, s);
        else
            MPI_Pready(0, s);
        CHECK_ERR(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_ERR(MPI_Wait(&r, &status), MPI_SUCCESS);
        CHECK_ERR(MPI_Parrived(r, nr - 1, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 1, "the whole is complete");
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK_EQ(count, n);
        CHECK_EQ(status.MPI_SOURCE, from);
        int wrong = 0;
        for (int i = 0; i < nr * cr * wide; i++) {
            int k = i / wide * each + i % wide, data = i % wide < each && k < n;
            wrong += in[i] != (data ? (char)check_byte((uint64_t)(from * 10 + round), (uint64_t)k) : 77);
        }
        CHECK_EQ(wrong, 0, "bytes, of %d in %d partitions", n, ns);
    }
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

int main(int argc, char **argv)
{
    MPI_Datatype three, gaps;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Type_contiguous(3, MPI_CHAR, &three);
    MPI_Type_create_resized(three, 0, 5, &gaps);
    MPI_Type_commit(&gaps);
    for (int at_once = 0; at_once < 2; at_once++) {
        meet(4, 6, 5, 5, MPI_CHAR, 1, 1, at_once);
        meet(1, 10, 10, 9, MPI_CHAR, 1, 1, at_once);
        meet(10, 0, 2, 1, MPI_CHAR, 1, 1, at_once);
        meet(7, 100, 1, 1000, MPI_CHAR, 1, 1, at_once);
        meet(100, 1, 50, 3, MPI_CHAR, 1, 1, at_once);
        meet(3, MOST / 4, 5, MOST / 4, MPI_CHAR, 1, 1, at_once);
        meet(4, 7, 5, 2, gaps, 3, 5, at_once);
        meet(3, 100001, 4, 30000, gaps, 3, 5, at_once);
    }
    MPI_Type_free(&three);
    MPI_Type_free(&gaps);
    return check_done();
}
