/* SPDX-License-Identifier: BSD-3-Clause */
/* With the info key keel_same_bits a reduction has the same bits in all forms, with and without a team, crowded or
 * not. */
/* ranks: 2 3 5 8 17 */
#include "../check.h"

enum { N = 2000 };

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Request r;
    char value[8];
    int flag = 0;
    static double in[N], out[3][N];
    check_init(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "keel_same_bits", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, "keel_same_bits", 7, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "the key is not there");
    MPI_Info_free(&info);
    for (int n = 1; n <= N; n = n * 3 + 1)
        for (int turn = 0; turn < 7; turn++) { /* a team comes with the fifth collective */
            for (int i = 0; i < n; i++)
                in[i] = 1.0 / (1 + i + 7919 * check_rank) * (i % 3 ? 1e-9 : 1e9);
            MPI_Allreduce(in, out[0], n, MPI_DOUBLE, MPI_SUM, comm);
            MPI_Iallreduce(in, out[1], n, MPI_DOUBLE, MPI_SUM, comm, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Allreduce_init(in, out[2], n, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &r);
            MPI_Start(&r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
            MPI_Request_free(&r);
            CHECK(!memcmp(out[0], out[1], (size_t)n * sizeof *in), "%d, turn %d: nonblocking differs", n,
                  turn);
            CHECK(!memcmp(out[0], out[2], (size_t)n * sizeof *in), "%d, turn %d: persistent differs", n,
                  turn);
        }
    MPI_Comm_free(&comm);
    return check_done();
}
