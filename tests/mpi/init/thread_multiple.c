/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* across: threads share a device's progress */
/* MPI_Init_thread with MPI_THREAD_MULTIPLE grants it. */
#include "thread_level.h"

int main(void)
{
    return check_level(MPI_THREAD_MULTIPLE, MPI_THREAD_MULTIPLE);
}
