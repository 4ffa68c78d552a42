/* SPDX-License-Identifier: BSD-3-Clause */
/* link.h: frames between mpiexec and the daemons of other hosts (doc/wire.md, "Between mpiexec and its daemons"). */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "queue.h"

enum { LINK_VERSION = 13, FRAME_CHECK = 0x4b4c, FRAME_MOST = 64 << 20, NODE_ALL = -1 };

enum frame_kind {
    /* Both ways, between neighbours. */
    FRAME_PING = 1,
    /* Down: to the daemon `node`, or NODE_ALL. */
    FRAME_LAUNCH,    /* the hosts behind this one; see fleet.c */
    FRAME_JOB,       /* what is to be started; see job.c */
    FRAME_SIGNAL,    /* value: the signal */
    FRAME_KILL,      /* SIGKILL to every process of the job, again and again */
    FRAME_KILL_RANK, /* value: the rank; it alone; 4 bytes: 1: if it is in MPI */
    FRAME_WANT,      /* value: a rank there, whose card is wanted; put_want */
    FRAME_CARD,      /* value: the rank; put_card: a card that was wanted there */
    FRAME_GONE,      /* value: a rank that has died; 4 bytes: enum gone */
    FRAME_RELEASE,   /* ranks that are held go on */
    FRAME_ASK,       /* value: number of the question; what do the ranks wait for? */
    FRAME_STDIN,     /* value: the rank; bytes; none: that was all */
    FRAME_TAKEN,     /* value: 0 stdout, 1 stderr; 4 bytes: so many bytes of output have been passed on */
    FRAME_SHUT,      /* value: 0 stdout, 1 stderr; nobody takes it any more */
    FRAME_FROM,      /* value: a host; a parcel of its servant (share.h) */
    FRAME_END,       /* end what is left, say DONE, and exit */
    /* Up: from the daemon `node`. */
    FRAME_HELLO,   /* put_hello, texts; the first, after the banner */
    FRAME_STARTED, /* the pids of the ranks there, in their order */
    FRAME_FAILED,  /* value: an exit code; the ranks could not be started, and it was said why */
    FRAME_OUTPUT,  /* value: 2 * rank + (0 stdout, 1 stderr); bytes; none: closed */
    FRAME_RECORD,  /* value: the rank; 4 bytes: 1 if it has found another gone; put_record */
    FRAME_HAVE,    /* value: the rank; put_card: its card, which was wanted */
    FRAME_ENDED,   /* value: the rank; put_ended, a text */
    FRAME_READ,    /* value: the rank; 4 bytes: so many bytes of stdin it has taken; -1: it has closed it */
    FRAME_STOPPED, /* every rank there that lets itself be stopped is */
    FRAME_STATE,   /* value: the rank; what it waits for; see hang.c */
    FRAME_STATES,  /* value: number of the question: that were all */
    FRAME_DONE,    /* no process of the job is left there */
    FRAME_TO,      /* value: a host, -1: all others; a parcel for its servant */
    FRAME_TEXT,    /* lines for mpiexec's stderr */
    FRAME_LOST,    /* text: why `node` cannot be reached any more */
    FRAME_JOBS, /* value: jobs that ranks there have spawned and that have not ended; 4 bytes each: crew.ends */
    /* Down: what do the tables of the profiled ranks there say?  Up, for each of them, and once more when the job ends:
     * value: the rank; see prof_read. */
    FRAME_PROFILE,
    FRAME_KINDS
};

struct frame {    /* little-endian on the way */
    uint32_t len; /* bytes that follow */
    uint16_t kind, check;
    int32_t node, value;
};

/* Of the node-timeout: who has said nothing for so long says PING.  Where that is looked for as often, nobody is
 * silent for longer than twice that, a quarter. */
#define LINK_PING 0.125

/* What the daemon's shell may have written before it is skipped. */
#define LINK_BANNER "\nkeel-node-link\n"

struct link {
    int in, out;
    bool broken;       /* nothing more comes or goes */
    bool cut;          /* nothing more goes; what has come may still be read */
    const char *wrong; /* then: what came was no frame; NULL: it ended */
    bool banner;       /* it has come (or none is expected) */
    char *rbuf;
    size_t roff, rlen, rcap;
    struct queue said; /* what is to be written */
};

/* Both descriptors are made nonblocking, and closed by link_close. */
void link_init(struct link *l, int in, int out, bool banner);
void link_close(struct link *l);
void link_send(struct link *l, enum frame_kind kind, int node, int value, const void *bytes, size_t len);
/* A frame that goes on as it is. */
void link_pass(struct link *l, const struct frame *f, const char *bytes);
static inline bool link_waits(const struct link *l)
{
    return !l->broken && queue_waits(&l->said) > 0;
}
/* Write what goes without blocking. */
void link_flush(struct link *l);
/* Read what is there. */
void link_read(struct link *l);
/* The next whole frame, valid until the next call; false: there is none. */
bool link_next(struct link *l, struct frame *f, const char **bytes);

/* Why a node is lost that said what cannot be. */
#define LINK_NONSENSE "what it says is not understood"

#endif
