/* SPDX-License-Identifier: BSD-3-Clause */
/* The second program of section 7 of the paper: a nonblocking receive into a request on the stack.  main is the
 * paper's, in today's C; as a test it is run by two ranks. */
#include "mpid.h"

#define main paper_main
int main(int argc, char **argv);
int main(int argc, char **argv)
{
    char buf[256];
    int ntest, i, len = 256, err, msgrep = 0;
    struct MPIR_COMMUNICATOR *comm = 0;
    MPI_Status status;
    MPIR_RHANDLE rhandle;
    MPI_Request request = (MPI_Request)&rhandle;

    ntest = 10000;
    err = MPI_SUCCESS;
    MPID_Init(&argc, &argv, (void *)0, &err);
    for (i = 0; i < ntest; i++) {
        if (MPID_MyWorldRank == 0) {
            MPID_SendContig(comm, buf, len, 0, 0, 0, 1, msgrep, &err);
            MPID_IrecvContig(comm, buf, len, 1, 0, 0, request, &err);
            MPID_RecvComplete(request, &status, &err);
        } else {
            MPID_RecvContig(comm, buf, len, 0, 0, 0, &status, &err);
            MPID_SendContig(comm, buf, len, 1, 0, 0, 0, msgrep, &err);
        }
    }
    MPID_End();
    return err;
}
#undef main

#include "harness.h"

static int rank_main(int rank, void *arg)
{
    char name[] = "paper2", *argv[] = { name, NULL };
    (void)rank, (void)arg;
    return paper_main(1, argv);
}

int main(void)
{
    return job_run(2, 60, rank_main, NULL) != 0;
}
