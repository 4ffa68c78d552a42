/* hang.h: what the ranks wait for: the roll-call of a job, and recognising that nothing can go on.
 *
 * A rank that sleeps in MPI (or polls in vain) answers a question with what it waits for (struct ku_seg_call); others are
 * told by what the system says of their processes.  Nobody is stopped. */
#ifndef HANG_H
#define HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "util/segment.h"

struct launch;

/* One rank, as the daemon knows it, and as it was found when asked. */
struct hang_rank {
    pid_t pid;  /* 0: it has ended */
    int status; /* then, as waitpid has it */
    struct ku_seg_rank *seg;
    struct ku_seg_call *call;
    uint32_t state;  /* enum ku_rank_state */
    bool asleep;     /* in MPI, for messages */
    bool answered;   /* *call says what it waits for */
    uint64_t since;  /* ns: no event since then, if it sleeps */
    uint64_t seen;   /* ns: it was in MPI then, at the latest */
    char *where;     /* of the call, "file.c:12"; NULL: not known */
    char *waits_for; /* in words */
};

/* `look` fills in the first four for a rank. */
void hang_init(const struct launch *l, const struct ku_segment *segments,
               void (*look)(int rank, struct hang_rank *r));

/* The roll-call on stderr, under this headline. */
void hang_report(const char *why);

/* The ranks say that all of them sleep. */
void hang_still(void);
/* The user has stopped the job, or lets it go on. */
void hang_stopped(bool stopped);

/* When (now()) hang_on_time wants to look; 0: not before hang_still. */
double hang_due(void);
/* Look whether the job hangs, and report that once; true: the job is to be ended for it. */
bool hang_on_time(void);

/* hang_text.c: the roll-call of `n` ranks. */
void hang_text(FILE *out, struct hang_rank *ranks, int n);

/* hang_where.c: where an address of a process lies: "file.c:12 (function)", "function+0x1c in program" or "program+0x12"; NULL:
 * unknown.  To be freed. */
char *hang_where(pid_t pid, uint64_t address);

/* hang_elf.c: "function+0x1c" for a place in an ELF file; NULL: it has no such symbol.  To be freed. */
char *hang_symbol(const char *path, uint64_t offset);

/* hang_proc.c.  What the system says of a process: "computing", "in a system call (hrtimer_nanosleep)", ... */
void hang_process(pid_t pid, char *text, size_t size);

/* Can anything but the call that this process waits in go on, or go on for it: a thread (any, if those may call MPI; else one that
 * computes or sleeps for a time), a handler of a signal?  Also if that cannot be told. */
bool hang_has_others(pid_t pid, bool threads_may_call);

#endif
