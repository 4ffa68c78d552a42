/* SPDX-License-Identifier: BSD-3-Clause */
/* completion.c: the paper's routines for completion, which name sends and receives apart. */
#include "mpid.h"

int MPID_RecvIcomplete(MPID_Request request, MPIR_Status *status, int *error_code)
{
    return MPID_Test(request, status, error_code);
}

int MPID_SendIcomplete(MPID_Request request, int *error_code)
{
    return MPID_Test(request, NULL, error_code);
}

void MPID_RecvComplete(MPID_Request request, MPIR_Status *status, int *error_code)
{
    int err = MPID_Wait(request, status);
    if (err != 0)
        *error_code = err;
}

void MPID_SendComplete(MPID_Request request, int *error_code)
{
    MPID_RecvComplete(request, NULL, error_code);
}

int MPID_WaitForCompleteSend(MPIR_SHANDLE *request)
{
    return MPID_Wait(request, NULL);
}

int MPID_WaitForCompleteRecv(MPIR_RHANDLE *request)
{
    return MPID_Wait(request, NULL);
}

void MPID_SendFree(MPID_Request request)
{
    MPID_Request_free(request);
}

void MPID_RecvFree(MPID_Request request)
{
    MPID_Request_free(request);
}

void MPID_SendCancel(MPID_Request request, int *error_code)
{
    (void)error_code;
    MPID_Cancel(request);
}

void MPID_RecvCancel(MPID_Request request, int *error_code)
{
    (void)error_code;
    MPID_Cancel(request);
}
