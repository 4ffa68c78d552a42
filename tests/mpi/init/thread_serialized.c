/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Init_thread with MPI_THREAD_SERIALIZED grants MPI_THREAD_SERIALIZED. */
#include "thread_level.h"

int main(void)
{
    return check_level(MPI_THREAD_SERIALIZED, MPI_THREAD_SERIALIZED);
}
