/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4 */
/* Names that several processes publish and take back all the time: the folder of names goes with the last one, and
 * another process may just be about to use it. */
#include <unistd.h>
#include "../check.h"

enum { ROUNDS = 1000 };

int main(int argc, char **argv)
{
    char name[48], port[MPI_MAX_PORT_NAME], got[MPI_MAX_PORT_NAME];
    check_init(&argc, &argv);
    int job = getpid(); /* other jobs of this user publish, too */
    check_errors_return();
    MPI_Bcast(&job, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "of rank %d of %d", check_rank, job);
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_ERR(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_ERR(MPI_Lookup_name(name, MPI_INFO_NULL, got), MPI_SUCCESS);
        CHECK(!strcmp(got, port), "round %d: %s; expected %s", i, got, port);
        CHECK_ERR(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
    }
    MPI_Close_port(port);
    return check_done();
}
