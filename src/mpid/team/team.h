/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h: a communicator's team as its own process sees it: what the files of this folder share, and what the core
 * calls. */
#ifndef MPID_TEAM_INTERNAL_H
#define MPID_TEAM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include "mpid_team.h"
#include "util/epoch.h"
#include "util/segment.h"

/* A communicator's team (team.c). */
struct team_head;
struct stream_head;

/* What of a stream, or of steps, is waited for (team_stream.c): of member `who`, until `word` of it, or of what it
 * gives, is at least `least`. */
struct stream_wait {
    int32_t who;
    bool source; /* it is the source that is waited for */
    bool begins; /* with its part of the call with the tag, which it may have refused */
    int32_t tag;
    const _Atomic uint64_t *word, *or_word;
    uint64_t least, or_least;
    uint64_t end;   /* steps: the last of the operation; else 0 */
    uint32_t calls; /* of the head, before the last look */
};

struct team {
    struct team_head *head; /* in the segment; NULL: none */
    struct stream_head *streams;
    struct MPIR_COMMUNICATOR *comm;
    uint64_t epoch;         /* operations that have ended */
    uint64_t shown;         /* the one whose rooms are read: of the last arrival */
    struct ku_epochs lines; /* members that have a core each meet over these; its head is NULL: by `word` */
    uint32_t calls;         /* of the lines' head, before the last look */
    uint64_t said;          /* on this process's line */
    int64_t shows;          /* bytes each shows in the present operation; */
    char *rooms;            /* if they are more than a line has, they are here: */
    uint64_t room_bytes;    /* two rooms a member, one after the other */
    const struct comm_failures *failures; /* of comm */
    int patience_ms;                      /* how long the next sleep may be */
    uint32_t missing;                     /* members that had not come when this process did */
    struct team *next;                    /* of MPID_core.begun */
    bool in_begun;
    bool lies;                  /* of that list: this process is one of its sleepers */
    bool on_word;               /* the present sleep is on the team's word, too */
    struct stream_wait *stream; /* what of a stream is waited for; NULL: a meeting */
    struct stream_wait later;   /* that, if the stream goes on in a later call */
    uint64_t streamed;          /* number of this process's last stream */
    uint64_t skipped;    /* the last operation that it has left out, and others may be in still; 0: none */
    uint64_t all_done;   /* streams up to this one all members have done, and all pieces before */
    uint64_t free_to;    /* this one all have taken */
    uint64_t bench_used; /* bytes of all operations by steps */
    uint64_t step, step_end;   /* where the present operation by steps begins and ends */
    ku_block block;            /* of its core; 0: the team is the given one */
    char *part[KU_TEAM_PARTS]; /* where they lie in this process; NULL: not used yet */
};

/* team.c */
/* Have all that are there come to an operation after that one? */
bool MPID_Team_passed(const struct team *t, uint64_t number);
/* The last look before sleeping, on the team's word too (MPID_Team_sleep) if on_word; then MPID_Team_awake. */
bool MPID_Team_may_sleep(struct team *t, bool on_word, int *most_ms);
void MPID_Team_sleep(struct team *t, _Atomic uint32_t *sleeping, int most_ms);
void MPID_Team_awake(struct team *t);
/* Whatever this process sleeps for, it sleeps for this, too (MPID_core.begun), until it is forgotten. */
void MPID_Team_await(struct team *t);
void MPID_Team_forget(struct team *t);
/* The same of all teams of MPID_core.begun. */
bool MPID_Teams_may_sleep(int *most_ms);
void MPID_Teams_awake(void);
void MPID_Team_wake_each(const struct team *t);  /* its members that sleep, on their own words */
void MPID_Team_drop(struct team *t);             /* its communicator ends */
int32_t MPID_Team_missing(const struct team *t); /* global rank of a member that has not come; -1: none */
/* A part, got when it is first used; NULL: there is no memory for it, as all members find. */
char *MPID_Team_part_get(struct team *t, enum ku_team_part part);
static inline char *team_part(struct team *t, enum ku_team_part part)
{
    return __builtin_expect(t->part[part] != NULL, 1) ? t->part[part] : MPID_Team_part_get(t, part);
}
int MPID_Team_patience(const struct team *t); /* how long the first sleep of a wait may be, ms */

/* even.c, for team.c: the meetings of a team whose members have a core each */
void MPID_Even_join(struct team *t, struct ku_epoch_head *head, void *lines, size_t stride);
void MPID_Even_arrive(struct team *t, uint32_t what);
bool MPID_Even_wait(struct team *t);
enum MPID_TEAM_TURN MPID_Even_look(struct team *t);
void MPID_Even_leave(const struct team *t);  /* it has come to the present meeting, and waits no longer */
void MPID_Even_refuse(const struct team *t); /* it will not come to the next one */
void MPID_Even_lie_down(struct team *t);     /* t->on_word is set; then the last look, */
bool MPID_Even_waits(const struct team *t);  /* which is this; then sleep, if it does; then rise */
void MPID_Even_sleep(const struct team *t, _Atomic uint32_t *sleeping, int most_ms);
void MPID_Even_rise(const struct team *t);

/* team_stream.c, for team.c */
void MPID_Stream_reset(struct stream_head *streams);
void MPID_Stream_join(struct team *t);
bool MPID_Stream_may_sleep(struct team *t, bool on_word);
void MPID_Stream_sleep(struct team *t, _Atomic uint32_t *sleeping, int most_ms);
void MPID_Stream_awake(struct team *t);
int32_t MPID_Stream_missing(const struct team *t); /* rank in the team of the member that is waited for */

#endif
