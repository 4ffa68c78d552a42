/* SPDX-License-Identifier: BSD-3-Clause */
/* talk.h: the answering side of PMI-1 and PMI-2 (pmi/words.h): what ranks that were linked with another MPI
 * library ask for.  No descriptors, no processes: bytes in, bytes out.  The ranks of other hosts have a process of
 * their own there. */
#ifndef TALK_H
#define TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct offspring;
enum talk_event { TALK_INIT, TALK_FINALIZED, TALK_ABORT };

enum talk_name { TALK_PUBLISH, TALK_LOOK_UP, TALK_WITHDRAW };

struct talk_job {
    int size, universe;
    int host; /* of the ranks that talk here, where the nodes are hosts; -1: all talk here */
    const int32_t *node_of, *section_of; /* [size] */
    uint64_t id;
    /* keys that are there from the beginning, lines KEY=VALUE; NULL: the job has not been spawned by one that is
     * served */
    const char *put;
    /* An answer for a rank; it may be the answer to what another one has said. */
    void (*send)(int rank, const char *bytes, size_t len);
    /* code: of TALK_ABORT, which ends the job. */
    void (*on)(int rank, enum talk_event event, int code);
    /* All ranks here wait in a fence; these are the keys that they have put.  talk_fenced lets them out. */
    void (*fence)(const void *bytes, size_t len);
    /* A rank waits for talk_named.  port: of TALK_PUBLISH. */
    void (*name)(int rank, enum talk_name what, const char *name, const char *port);
    /* A rank waits for talk_spawned; `what` is the callee's. */
    void (*spawn)(int rank, struct offspring *what);
};

/* `job` stays where it is until talk_end. */
void talk_begin(const struct talk_job *job);
void talk_end(void);

/* More of what a rank says.  False: it is nonsense, or too much; nothing more is to be taken from it. */
bool talk_take(int rank, const char *bytes, size_t len);

/* What the ranks of all hosts have put, one host's after another's.  False: it is nonsense. */
bool talk_fenced(const void *bytes, size_t len);
/* port: of TALK_LOOK_UP; NULL: there is none. */
void talk_named(int rank, bool ok, const char *port);
void talk_spawned(int rank, const char *why); /* NULL: they have been started */

#endif
