/* Communicators by the thousand: made and freed again and again, and many alive at once.
 */
/* ranks: 1 2 4 */
#include "../check.h"

int main(int argc, char **argv)
{
    enum { CYCLES = 3000, ALIVE = 500 };
    static MPI_Comm c[ALIVE];
    MPI_Comm d;
    int sum;
    check_init(&argc, &argv);
    for (int i = 0; i < CYCLES; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &d);
        MPI_Comm_free(&d);
    }
    for (int i = 0; i < ALIVE; i++)
        if (i % 2)
            MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &c[i]);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
    for (int i = ALIVE - 1; i >= 0; i -= 7) {
        sum = check_rank + i;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(sum, check_size * (check_size - 1) / 2 + check_size * i);
    }
    for (int i = 0; i < ALIVE; i++)
        MPI_Comm_free(&c[i]);
    return check_done();
}
