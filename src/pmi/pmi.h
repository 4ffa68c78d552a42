/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi.h: how a process learns which job it belongs to, and tells the launcher what the launcher must know.
 *
 * One file a wire: keel (our mpiexec), singleton (no launcher).  A process started by a launcher that no wire
 * can talk to is refused with a text that says so: it is never taken for a job of one rank.
 *
 * The keel wire.  mpiexec leaves two descriptors open in each rank and says so in the environment:
 *   KEEL_JOB=<version>:<pid of the ranks' parent>:<segment fd>:<control fd>:<job id, hex>:<section>
 *   KEEL_RANK=<global rank>
 *
 * (section: counted from 0 between the ':'s of the command line.)  KEEL_JOB wins over whatever another
 * launcher left in the environment.  A descriptor that was closed on the way (a shell, a Python
 * subprocess) is opened again through
 * /proc/<pid>/fd. The control descriptor is a pipe to the launcher; each record is one write of at most
 * PIPE_BUF bytes: struct pmi_record, then `len` bytes of text or other.  The launcher answers through the segment
 * alone. */
#ifndef PMI_H
#define PMI_H

#include <stdint.h>
#include "util/card.h"
#include "util/segment.h"

struct pmi_job {
    int32_t rank, size; /* in the job's MPI_COMM_WORLD */
    int32_t local_rank, local_size;
    int32_t appnum;            /* number of the ':' section; -1 without a launcher */
    int32_t universe_size;     /* cores the launcher would give this job; -1 if unknown */
    uint32_t epoch;            /* which pmi_init of this rank it is, from 1: of whichever process */
    struct ku_segment segment; /* always there: a singleton makes its own */
    const char *wire;          /* "keel", "singleton" */
};

enum pmi_record_kind {
    PMI_ABORT = 1, /* value: the code to end the job with; text: why */
    PMI_MESSAGE =
        2, /* text: an error report to be shown once, equal ones of several ranks merged; value: enum pmi_text */
    PMI_CARD = 3, /* value: the epoch; this rank's card is there now, for which the launcher has asked */
    PMI_ABORT_SOME =
        4,         /* value: the job's exit code; n, n ranks (int32_t), text: these end, the job goes on */
    PMI_STILL = 5, /* every rank of this node sleeps, for seconds by now */
    PMI_ASK = 7,   /* value: the epoch; a rank (uint32_t) of another node, whose card is wanted here */
    PMI_JOB = 8,   /* value: the process of an mpiexec that this rank has started for a job that it spawns */
    PMI_BORN = 11, /* value: that process: all ranks of its job have been started */
    PMI_RUNS =
        12, /* this rank has begun with MPI, in a job of several nodes that goes on without ranks that fail */
    PMI_DOUBTS =
        13, /* value: a rank of this job that this one cannot reach any more, where the job goes on without it */
    PMI_FREE = 9,  /* value: that process: no rank here is connected to its job any more */
    PMI_REST = 10, /* value: that process: nothing can go on in its job but by other jobs; struct pmi_rest */
    PMI_TRACE = 6, /* struct pmi_trace: look where this rank is, then set its call's `traced` */
};
/* A job and those that it has spawned, in which every process sleeps; times of ku_clock_ns. */
enum { PMI_REST_JOBS = 200 };
struct pmi_rest {
    uint64_t first;      /* since then at the latest: then all had been asked, and nothing was under way */
    uint64_t looked;     /* they were asked again from then on, and had met nothing meanwhile */
    uint32_t njobs, met; /* names of these jobs; then of those that their processes are connected to */
    uint64_t name[PMI_REST_JOBS];
};
/* What is in the text of a message.  Of places (PMI_PLACE) the launcher tells where they are, and then sets the
 * call's `traced`. */
enum pmi_text {
    PMI_WORDS,
    PMI_PLACES, /* words with places */
    PMI_FAULT,  /* a fault of the program with places (util/faults.h) */
    PMI_TIMES   /* "number times": how often this rank has met that fault */
};
enum { PMI_SOME_MAX = 700, PMI_SOME_TEXT = 1000 /* what one record holds */ };

struct pmi_record {
    uint64_t job_id;
    uint32_t rank, kind, value, len; /* len: bytes of text after the record */
};

/* A place in a text: how an address of this process is written in it; with a '+' before the number it is told with
 * the file's folder. */
#define PMI_PLACE_BEGIN "\1"
#define PMI_PLACE_END "\2"
#define PMI_PLACE PMI_PLACE_BEGIN "%llx" PMI_PLACE_END

/* Where a thread of a rank is.  Registers are numbered as DWARF does it on this kind of machine. */
enum { PMI_TRACE_REGISTERS = 33 };
struct pmi_trace {
    int32_t signal;     /* of which the rank is about to die; 0: it ends the job for an error */
    int32_t at_address; /* 1: the signal is about `address` */
    uint64_t address, pc;
    uint32_t nregisters, spare;
    uint64_t registers[PMI_TRACE_REGISTERS];
};

/* pmi_trace.c.  From now on a signal that kills this process because it went wrong (SIGSEGV, SIGABRT, SIGFPE,
 * SIGBUS, SIGILL) is told the launcher first, with the place.  Signals for which the program has a handler, or
 * sets one later, are its own business. */
void pmi_trace_begin(const struct pmi_job *job);
void pmi_trace_end(void);
/* The job is about to end for an error: tell the launcher where the calling thread is.  Does nothing before
 * pmi_trace_begin, or if the error is perhaps that another rank has gone. */
void pmi_trace_here(void);
/* pmi_message for a text with places (PMI_PLACES, PMI_FAULT): "file.c:12 (function)" where the launcher finds
 * that, else "function+0x1c in program" or "program+0x2f1c".  Returns when the launcher has looked. */
void pmi_message_places(struct pmi_job *job, enum pmi_text what, const char *text);
/* A fault of the program, and how often it was met so far. */
struct ku_fault;
void pmi_message_fault(struct pmi_job *job, const struct ku_fault *fault);
void pmi_fault_times(uint32_t number, int64_t times);

/* Join the job: fills in `job` and marks this rank KU_RANK_RUNNING, by this process.  0, or a nonzero
 * errno-like value with the reason in ku_err_last()->text. */
int pmi_init(struct pmi_job *job);

/* Wait until no rank of this node is still in an epoch before this one.  In the first there is nothing to wait
 * for; later nobody may send to a rank whose process of the epoch before may still receive. */
void pmi_join(const struct pmi_job *job);

/* What should have followed pmi_init has failed: this epoch of the rank has not been.  pmi_fini follows. */
void pmi_undo(struct pmi_job *job);

/* `bytes` are this rank's card of this epoch, from now on, for all ranks that ask (util/card.h).  0, or an errno
 * value with a text in ku_err_last(). */
int pmi_card(const struct pmi_job *job, struct ku_heap *heap, const void *bytes, uint32_t len);

/* The card of another rank, as ku_card_look.  KU_CARD_NONE: it has been asked for; all ranks here are woken when
 * it comes. */
enum ku_card_state pmi_card_of(const struct pmi_job *job, struct ku_heap *heap, int32_t rank,
                               struct ku_card *card);

/* This rank has left MPI (KU_RANK_FINALIZED); its exit with 0 is then right. */
void pmi_finalized(struct pmi_job *job);

/* This rank uses MPI no more for now (KU_RANK_RESTING); and uses it again. */
void pmi_rest(struct pmi_job *job);
void pmi_resume(struct pmi_job *job);

/* This process has slept in vain for seconds: where no launcher tells, find out whether ranks of this node have
 * died. */
void pmi_look(const struct pmi_job *job);

/* Every rank here sleeps: the launcher may want to know whether any can go on. */
void pmi_still(struct pmi_job *job);

/* This process cannot reach a rank any more, of which the launcher has not told that it is gone. */
void pmi_doubts(struct pmi_job *job, int32_t rank);

/* Show `text` through the launcher (merged with equal ones), or on stderr without one. */
void pmi_message(struct pmi_job *job, const char *text);

/* End the whole job with `code`, showing `text` once (NULL or "": the launcher makes one).  Flushes stdio.
 * Does not return; works in any state, even before pmi_init (job NULL). */
_Noreturn void pmi_abort(struct pmi_job *job, int code, const char *text);

/* End these `n` ranks (this one among them) and no others: their peers find them gone.  The job's exit code is
 * `code`, if nothing failed before.  Where there is no telling the launcher, or more ranks than a record holds,
 * the whole job ends. */
_Noreturn void pmi_abort_some(struct pmi_job *job, const int32_t *ranks, int32_t n, int code,
                              const char *text);

/* Undo pmi_init (MPID_End): unmap the segment, close what is open.  pmi_init may be called again afterwards.
 */
void pmi_fini(struct pmi_job *job);

#endif
