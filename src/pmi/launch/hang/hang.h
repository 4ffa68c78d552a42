/* SPDX-License-Identifier: BSD-3-Clause */
/* hang.h: what the ranks wait for: the roll-call of a job, and recognising that nothing can go on.
 *
 * A rank that sleeps in MPI (or polls in vain) answers a question with what it waits for (struct ku_seg_call);
 * others are told by what the system says of their processes.  Nobody is stopped. */
#ifndef HANG_H
#define HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "util/segment.h"

struct launch;

/* What another host's daemon tells of a rank there; texts follow: where its call is, what the system says of it. */
struct hang_state {
    int32_t pid;
    uint32_t answered, others;    /* others: as hang_has_others says */
    uint64_t since_age, seen_age; /* ns; since and seen are of the clock there */
    struct ku_seg_rank seg;
    struct ku_seg_call call;
};

/* One rank, as the daemon knows it, and as it was found when asked. */
struct hang_rank {
    pid_t pid;  /* 0: it has ended */
    int status; /* then, as waitpid has it */
    struct ku_seg_rank *seg;
    struct ku_seg_call *call;
    uint32_t state;       /* enum ku_rank_state */
    bool asleep;          /* in MPI, for messages */
    bool answered;        /* *call says what it waits for */
    uint64_t since;       /* ns: no event since then, if it sleeps */
    uint64_t seen;        /* ns: it was in MPI then, at the latest */
    char *where;          /* of its threads' calls, as of hang_places; NULL: not known */
    char *waits_for;      /* in words */
    struct hang_far *far; /* of another host; NULL: of this one */
};

/* Then: what was told last. */
struct hang_far {
    struct hang_state state;
    int question;   /* of which this is the answer; 0: none yet */
    uint64_t since; /* by the clock there */
    char *where, *process;
};

/* `look` fills in the first four for a rank; seg is NULL if it is on another host. */
void hang_init(const struct launch *l, const struct ku_segment *segments,
               void (*look)(int rank, struct hang_rank *r));
/* What the daemons of other hosts are asked besides numbered questions: are they there?  Let the ranks say again
 * when all of them sleep. */
enum { ASK_WHETHER_THERE = -1, ASK_STILL = -2 };
/* There are other hosts: how to ask their daemons, and to hear what they say until all have answered (then true). */
void hang_init_far(void (*ask)(int question), bool (*hear)(int question));
/* An answer; it is made readable here. */
void hang_take(int rank, int question, const struct hang_state *s, char *where, char *process);

/* For such a daemon: ask the ranks here, and tell of each. */
void hang_tell(void (*tell)(int rank, const struct hang_state *s, const char *where, const char *process));

/* The roll-call on stderr, under this headline. */
void hang_report(const char *why);

/* Likewise of those that it has spawned, which take so long for it. */
#define HANG_SPAWNED_SECONDS 1.0
/* A job that it has spawned can go on by other jobs only (struct pmi_rest). */
void hang_rests(pid_t mpiexec, const void *rest, size_t len);
/* Look whether this job can go on. */
void hang_look(void);

/* The ranks of a node say that all of them sleep.  A rank has ended, for whom others may wait. */
void hang_still(int node);
void hang_ended(void);
/* The user has stopped the job, or lets it go on. */
void hang_stopped(bool stopped);

/* When (now()) hang_on_time wants to look; 0: not before hang_still. */
double hang_due(void);
/* Look whether the job hangs, and report that once; true: the job is to be ended for it. */
bool hang_on_time(void);

/* hang_text.c: the roll-call of `n` ranks.  family: nothing else than one of them can help any, nor those of other
 * jobs. */
void hang_text(FILE *out, struct hang_rank *ranks, int n, bool family);

/* hang_family.c: jobs that have spawned each other. */
void hang_family_take(pid_t mpiexec, const void *rest, size_t len);
/* All ranks here sleep since before `looked`, and can go on by other jobs only.  True: nothing can go on in any of
 * the jobs. */
bool hang_family_rests(const struct hang_rank *ranks, int n, uint64_t looked);
/* Put a question (REPORT_TOO_VALUE, REST_VALUE) to the jobs that ranks of this one have spawned: how many there are. */
int hang_family_ask(int question);

/* hang_where.c: where an address of a process lies: "file.c:12 (function)", "function+0x1c in program" or
 * "program+0x12"; NULL:
 * unknown.  folder: with that of the source file.  To be freed. */
char *hang_where(pid_t pid, uint64_t address, bool folder);
/* The same of a place in a file, also of a process that has ended: `linked` is the place as the file's linker has
 * numbered it.  With the source file's folder. */
char *hang_where_in(const char *file, uint64_t offset, uint64_t linked);
/* The places of a rank's calls, a line each: of the first thread, and of the others; empty where it is not known.
 * To be freed. */
char *hang_places(pid_t pid, const struct ku_seg_call *call);

/* The name of the file that is mapped at the address, without its folder; NULL: unknown.  To be freed. */
char *hang_module(pid_t pid, uint64_t address);

/* The addresses of the frames of a thread, the innermost first, which is the place itself; the others are where
 * calls return to.  At most `max` of them; 1 if the stack cannot be followed, 0 if nothing is known. */
struct pmi_trace;
int hang_frames(pid_t pid, const struct pmi_trace *t, uint64_t *address, int max);

/* hang_elf.c: "function+0x1c" for a place in an ELF file; NULL: it has no such symbol.  To be freed. */
char *hang_symbol(const char *path, uint64_t offset);

/* The same of a rank, wherever it is. */
const char *hang_process_of(const struct hang_rank *r, char *text, size_t size);
bool hang_others_of(const struct hang_rank *r);

#endif
