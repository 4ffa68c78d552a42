/* ranks: 1 2 */
/* across: threads share a device's progress */
/* MPI_Init_thread with MPI_THREAD_MULTIPLE grants MPI_THREAD_SERIALIZED. */
#include "thread_level.h"

int main(void)
{
    return check_level(MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED);
}
