/* SPDX-License-Identifier: BSD-3-Clause */
/* KEEL_COLL names an algorithm that does not exist: said once, and the rest is used. */
/* ranks: 2 */
/* env: KEEL_COLL=bcast=nosuch,reduce=wide */
/* stderr: KEEL_COLL: "bcast=nosuch" names no algorithm */
#include "../check.h"

int main(int argc, char **argv)
{
    int v = 3;
    check_init(&argc, &argv);
    MPI_Bcast(&v, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK_EQ(v, 3);
    return check_done();
}
