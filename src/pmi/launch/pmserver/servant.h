/* SPDX-License-Identifier: BSD-3-Clause */
/* servant.h: the process beside the daemon, keel-pmi, which serves ranks that were linked with another MPI
 * library: PMI-1 and PMI-2 (talk.h), PMIx (serve_pmix.h).  It ends with the daemon.  serve.h is the daemon's side
 * of it. */
#ifndef SERVANT_H
#define SERVANT_H

/* A fork of the daemon becomes it: `from` leads to the daemon (packets.h). */
_Noreturn void servant_main(int from);

/* For serve_pmix.c, in any thread.  A rank has begun, has ended properly; has ended the job, with these words. */
void servant_begun(int rank);
void servant_finalized(int rank);
void servant_aborted(int rank, int code, const char *text);

/* Start it (offspring.h); in the main thread. */
struct offspring;
void servant_spawn(struct offspring *o);

#endif
