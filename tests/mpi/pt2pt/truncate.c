/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 8 */
/* A message longer than its receive: MPI_ERR_TRUNCATE with both lengths, source and tag; the buffer is filled
 * and no more; what comes after it is not hurt.  By every receive, for each protocol. */
#include "check.h"

enum { MAX = 200000 };
static unsigned char in[MAX + 8], out[MAX];
static int from, to;
static char words[4][80];

static void post(int how, int n, int fits, int tag)
{
    MPI_Request r, q;
    MPI_Status s;
    MPI_Message m;
    int count = -1;
    MPI_Isend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &q);
    memset(in, 99, sizeof in);
    s.MPI_ERROR = 12345;
    switch (how) {
    case 0:
        CHECK_ERR(MPI_Recv(in, fits, MPI_BYTE, from, tag, MPI_COMM_WORLD, &s), MPI_ERR_TRUNCATE);
        break;
    case 1:
        MPI_Irecv(in, fits, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r);
        CHECK_ERR(MPI_Wait(&r, &s), MPI_ERR_TRUNCATE);
        CHECK(r == MPI_REQUEST_NULL, " ");
        break;
    case 2:
        MPI_Mprobe(from, tag, MPI_COMM_WORLD, &m, &s);
        CHECK_ERR(MPI_Mrecv(in, fits, MPI_BYTE, &m, &s), MPI_ERR_TRUNCATE);
        CHECK(m == MPI_MESSAGE_NULL, " ");
        break;
    case 3:
        CHECK_ERR(MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, in, fits, MPI_BYTE, from, tag,
                               MPI_COMM_WORLD, &s),
                  MPI_ERR_TRUNCATE);
        break;
    }
    for (int i = 0; i < 4; i++)
        CHECK_SAYS(words[i]);
    MPI_Get_count(&s, MPI_BYTE, &count);
    CHECK_EQ(count, fits);
    CHECK_EQ(s.MPI_SOURCE, from);
    CHECK_EQ(s.MPI_TAG, tag);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(in[fits + i], 99, "written behind the buffer: how %d, %d of %d bytes", how, fits, n);
    CHECK_BYTES(in, (size_t)fits, 5);
    CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS, "the sender is not to blame");
    MPI_Sendrecv(out, 100, MPI_BYTE, to, tag, in, 100, MPI_BYTE, from, tag, MPI_COMM_WORLD, &s);
    CHECK_BYTES(in, 100, 5);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 1, 8, 48, 49, 4000, 20000, MAX };
    check_init(&argc, &argv);
    check_errors_return();
    check_fill(out, MAX, 5);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    for (int how = 0; how < 4; how++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int part = 0; part < 3; part++) {
                int n = sizes[i], fits = part == 0 ? 0 : part == 1 ? n / 2 : n - 1, tag = 10 + how;
                snprintf(words[0], sizeof words[0], "%d bytes", n);
                snprintf(words[1], sizeof words[1], "%d bytes", fits);
                snprintf(words[2], sizeof words[2], "rank %d", from);
                snprintf(words[3], sizeof words[3], "tag %d", tag);
                post(how, n, fits, tag);
            }
    return check_done();
}
