/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* One rank uses a session, the others nothing of MPI at all; it does not wait for them. */
#include "session.h"
#include <unistd.h>

/* Of the predefined attributes one is there (10.1.2). */
static void attributes(MPI_Comm comm)
{
    static const int gone[] = { MPI_IO,           MPI_HOST,  MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE,
                                MPI_LASTUSEDCODE, MPI_APPNUM };
    void *value;
    int flag = -1;
    CHECK_EQ(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag), MPI_SUCCESS);
    CHECK(flag && *(int *)value >= 32767);
    for (unsigned i = 0; i < sizeof gone / sizeof *gone; i++) {
        CHECK_EQ(MPI_Comm_get_attr(comm, gone[i], &value, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0);
    }
}

int main(void)
{
    const char *rank = getenv("KEEL_RANK");
    if (rank && atoi(rank) != 0) {
        usleep(1000 * atoi(rank));
        return 0;
    }
    MPI_Session s = session();
    MPI_Comm self = comm_of(s, "mpi://SELF", "alone");
    int seven = 7, got = 0;
    CHECK_EQ(MPI_Sendrecv(&seven, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, self, MPI_STATUS_IGNORE),
             MPI_SUCCESS);
    CHECK_EQ(got, 7);
    attributes(self);
    MPI_Comm_free(&self);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return session_done();
}
