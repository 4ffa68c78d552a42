/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* timeout: 120 */
/* Floods: 10^6 messages of 8 bytes and 10^5 of 4 KB in all to a rank that computes, or that receives in reverse
 * order of the tags; nothing is lost, the order of equal envelopes is kept. */
#include "check.h"

enum { SMALL = 1000000, LARGE = 100000, BYTES = 4096 };

static void compute(double seconds)
{
    volatile double x = 1;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
}

static void small(int tags)
{
    int senders = check_size - 1, each = SMALL / senders / tags;
    if (check_rank) {
        for (int t = 0; t < tags; t++)
            for (int64_t i = 0; i < each; i++)
                MPI_Send(&i, 1, MPI_INT64_T, 0, t, MPI_COMM_WORLD);
        return;
    }
    compute(0.3);
    for (int t = tags - 1; t >= 0; t--)
        for (int64_t i = 0; i < each; i++)
            for (int from = senders; from; from--) {
                int64_t got = -1;
                MPI_Recv(&got, 1, MPI_INT64_T, from, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK_EQ(got, i, "from %d, tag %d", from, t);
                if (check_failures)
                    return;
            }
}

static void large(void)
{
    static unsigned char buf[BYTES];
    int senders = check_size - 1, each = LARGE / senders;
    if (check_rank) {
        for (int i = 0; i < each; i++) {
            memcpy(buf, &i, sizeof i);
            memcpy(buf + BYTES - sizeof i, &i, sizeof i);
            MPI_Send(buf, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD);
        }
        return;
    }
    compute(0.2);
    for (int i = each - 1; i >= 0; i--)
        for (int from = 1; from <= senders; from++) {
            int head = -1, tail = -1;
            MPI_Recv(buf, BYTES, MPI_BYTE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memcpy(&head, buf, sizeof head);
            memcpy(&tail, buf + BYTES - sizeof tail, sizeof tail);
            CHECK(head == i && tail == i, "message %d from %d begins with %d and ends with %d", i, from, head,
                  tail);
        }
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    small(1);
    MPI_Barrier(MPI_COMM_WORLD);
    small(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    large();
    return check_done();
}
