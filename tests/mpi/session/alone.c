/* ranks: 1 2 3 5 8 */
/* One rank uses a session, the others nothing of MPI at all; it does not wait for them. */
#include "session.h"
#include <unistd.h>

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
    MPI_Comm_free(&self);
    CHECK_EQ(MPI_Session_finalize(&s), MPI_SUCCESS);
    return session_done();
}
