/* SPDX-License-Identifier: BSD-3-Clause */
/* absent.c: extensions of MPICH (to 5.0) and Open MPI (to 6.0) that are not here: a program that calls one is told
 * its name, and one that is linked so that all names must be found at its start (-z now) starts. */
#include "config.h"
#include "front_abi.h"

#define ABSENT(name) \
    FRONT_EXPORT int P##name(void); \
    FRONT_EXPORT int name(void) __attribute__((weak, alias("P" #name))); \
    int P##name(void) \
    { \
        return front_out_error(MPIR_front_fail(front_target(NULL), #name, MPIR_front_absent())); \
    }

#ifdef ABI_OPENMPI
ABSENT(MPI_Session_set_info) /* of Open MPI 5 alone; no procedure of MPI */
ABSENT(OMPI_Affinity_str)
#else
ABSENT(MPIX_Allreduce_enqueue)
ABSENT(MPIX_Allreduce_enqueue_c)
ABSENT(MPIX_Async_get_state)
ABSENT(MPIX_Async_spawn)
ABSENT(MPIX_Async_start)
ABSENT(MPIX_Bcast_enqueue)
ABSENT(MPIX_Comm_get_stream)
ABSENT(MPIX_Comm_test_threadcomm)
ABSENT(MPIX_Grequest_class_allocate)
ABSENT(MPIX_Grequest_class_create)
ABSENT(MPIX_Grequest_start)
ABSENT(MPIX_Info_set_hex)
ABSENT(MPIX_Irecv_enqueue)
ABSENT(MPIX_Irecv_enqueue_c)
ABSENT(MPIX_Isend_enqueue)
ABSENT(MPIX_Isend_enqueue_c)
ABSENT(MPIX_Recv_enqueue)
ABSENT(MPIX_Recv_enqueue_c)
ABSENT(MPIX_Reduce_enqueue)
ABSENT(MPIX_Request_is_complete)
ABSENT(MPIX_Send_enqueue)
ABSENT(MPIX_Send_enqueue_c)
ABSENT(MPIX_Start_progress_thread)
ABSENT(MPIX_Stop_progress_thread)
ABSENT(MPIX_Stream_comm_create)
ABSENT(MPIX_Stream_comm_create_multiplex)
ABSENT(MPIX_Stream_create)
ABSENT(MPIX_Stream_free)
ABSENT(MPIX_Stream_irecv)
ABSENT(MPIX_Stream_irecv_c)
ABSENT(MPIX_Stream_isend)
ABSENT(MPIX_Stream_isend_c)
ABSENT(MPIX_Stream_progress)
ABSENT(MPIX_Stream_recv)
ABSENT(MPIX_Stream_recv_c)
ABSENT(MPIX_Stream_send)
ABSENT(MPIX_Stream_send_c)
ABSENT(MPIX_Threadcomm_finish)
ABSENT(MPIX_Threadcomm_free)
ABSENT(MPIX_Threadcomm_init)
ABSENT(MPIX_Threadcomm_start)
ABSENT(MPIX_Type_iov)
ABSENT(MPIX_Type_iov_len)
ABSENT(MPIX_Wait_enqueue)
ABSENT(MPIX_Waitall_enqueue)
#endif
