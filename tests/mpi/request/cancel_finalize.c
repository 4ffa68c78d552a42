/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 */
/* Sends that nobody receives, cancelled: MPI_Wait returns though the other processes are in MPI_Finalize, and the
 * cancellation must succeed ("Finalizing MPI"). */
#include "check.h"

int main(int argc, char **argv)
{
    static char big[500000];
    int size = sizeof big + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)size);
    MPI_Request r[4];
    MPI_Status s[4];
    check_init(&argc, &argv);
    if (check_rank == 0) {
        MPI_Buffer_attach(buffer, size);
        MPI_Issend(big, 4, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(big, sizeof big, MPI_CHAR, check_size - 1, 0, MPI_COMM_WORLD, &r[1]);
        MPI_Ibsend(big, sizeof big, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r[2]);
        MPI_Ssend_init(big, sizeof big, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r[3]);
        MPI_Start(&r[3]);
        for (int i = 0; i < 4; i++)
            MPI_Cancel(&r[i]);
        MPI_Waitall(4, r, s);
        for (int i = 0; i < 4; i++) {
            int flag = -1;
            MPI_Test_cancelled(&s[i], &flag);
            CHECK_EQ(flag, 1, "send %d", i);
        }
        MPI_Request_free(&r[3]);
        MPI_Buffer_detach(&buffer, &size);
    }
    int code = check_done();
    free(buffer);
    return code;
}
