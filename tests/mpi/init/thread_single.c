/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Init_thread with MPI_THREAD_SINGLE grants MPI_THREAD_SINGLE. */
#include "thread_level.h"

int main(void)
{
    return check_level(MPI_THREAD_SINGLE, MPI_THREAD_SINGLE);
}
