/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* exit: 125 */
/* mpiexec: -initial-errhandler mpi_errors_shrug */
/* stderr: "mpi_errors_shrug"; expected mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return */
int main(void)
{
    return 0;
}
