/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* across: devices start and stop with sessions */
/* exit: 123 */
/* stderr: rank 1 .*MPI_Session_finalize */
/* A process that ends with a session is noticed. */
#include "session.h"

int main(void)
{
    const char *rank = getenv("KEEL_RANK");
    MPI_Session s = session();
    if (rank && atoi(rank) == 1)
        return 0;
    MPI_Session_finalize(&s);
    return 0;
}
