/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c: the fields of a status (counts are the datatype chapter's). */
#include "config.h"
#include "bodies.h"
#include "request.h"

int MPIR_Test_cancelled(const MPIR_Status *status, int *flag)
{
    *flag = status->cancelled != 0;
    return 0;
}

int MPIR_Status_set_cancelled(MPIR_Status *status, int flag)
{
    status->cancelled = flag != 0;
    return 0;
}

int MPIR_Status_get_source(const MPIR_Status *status, int *source)
{
    *source = status->MPI_SOURCE;
    return 0;
}

int MPIR_Status_get_tag(const MPIR_Status *status, int *tag)
{
    *tag = status->MPI_TAG;
    return 0;
}

int MPIR_Status_get_error(const MPIR_Status *status, int *error)
{
    *error = status->MPI_ERROR;
    return 0;
}

int MPIR_Status_set_source(MPIR_Status *status, int source)
{
    status->MPI_SOURCE = source;
    return 0;
}

int MPIR_Status_set_tag(MPIR_Status *status, int tag)
{
    status->MPI_TAG = tag;
    return 0;
}

int MPIR_Status_set_error(MPIR_Status *status, int error)
{
    status->MPI_ERROR = error;
    return 0;
}
