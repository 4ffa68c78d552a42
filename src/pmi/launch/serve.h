/* serve.h: PMI-1 and PMI-2 for ranks that were linked with another MPI library (talk.h), by a process beside the daemon. */
#ifndef SERVE_H
#define SERVE_H

/* What is to be this rank's PMI_FD: to be closed when the rank is started.  The first call starts that process, after crew_make. */
int serve_rank(int rank);

/* This rank has ended: returns when all that it had said has reached the segment and the control pipe. */
void serve_settle(int rank);

#endif
