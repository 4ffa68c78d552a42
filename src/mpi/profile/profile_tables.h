/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_tables.h: what the files of the profile share: the tables of this process, and its present call. */
#ifndef MPIR_PROFILE_TABLES_H
#define MPIR_PROFILE_TABLES_H

#include <stdbool.h>
#include "comm.h"
#include "mpid_listen.h"
#include "util/profiled.h"

struct MPIR_HANDLE;

/* NULL: this process is not profiled. */
extern struct ku_profiled *MPIR_Profiled;

/* profile_tables.c: map the tables; false: that does not work, and it has been said. */
bool MPIR_Profiled_open(const char *folder);
void MPIR_Profiled_close(void);

/* What is known of a procedure; -1: it has no such argument. */
struct MPIR_Profiled_proc {
    bool looked, collective, sends, starts, frees;
    bool waits, any; /* any: for one of its requests, or some */
    bool receives;   /* one message, and nothing else */
    bool init;       /* it makes a request that is started later */
    int8_t comm, count, type, dest, tag, request, parts;
};
const struct MPIR_Profiled_proc *MPIR_Profiled_proc_of(const struct MPID_Call *call);

/* Their numbers and 1; 0: there is no room. */
uint32_t MPIR_Profiled_site(uint64_t address, uint32_t call);
struct ku_profiled_comm *MPIR_Profiled_comm(const MPIR_Comm *comm); /* NULL: no room */
void MPIR_Profiled_sent(uint32_t site, int32_t peer, uint32_t stream, uint64_t n, uint64_t bytes);
void MPIR_Profiled_waited(uint32_t site, enum ku_profiled_why why, int32_t peer, uint32_t stream,
                          uint64_t call, uint64_t ns);
int MPIR_Profiled_class(uint64_t bytes);
uint64_t MPIR_Profiled_mix(uint64_t a, uint64_t b);

/* profile_requests.c: sends that are started again and again, by the handles of their requests ... */
struct MPIR_Profiled_request {
    uint64_t handle; /* 0: none */
    int32_t peer;
    uint32_t stream;
    uint64_t bytes;
};
void MPIR_Profiled_keep(const struct MPIR_Profiled_request *r);
const struct MPIR_Profiled_request *MPIR_Profiled_kept(uint64_t handle); /* NULL: it is none */
void MPIR_Profiled_drop(uint64_t handle);
/* ... and collectives that are under way: their slots; 0: none. */
void MPIR_Profiled_keep_slot(uint64_t handle, uint64_t which);
uint64_t MPIR_Profiled_kept_slot(uint64_t handle);
void MPIR_Profiled_forget(void);

/* profile_waits.c: who waits for whom, in the present call. */
struct MPIR_Profiled_inside {
    uint64_t id, entered, waited, late;
    uint32_t site;
    const struct MPID_Call *waits; /* it has requests to wait for; NULL */
    const struct MPIR_Profiled_proc *proc;
    /* Of a call that receives the clock is not read again for the first wait, nor when the call is left after one: what
     * lies between takes less than a look at the clock. */
    bool receives;
    uint64_t ended; /* the last wait; 0: none */
    /* The wait that has begun. */
    uint64_t since, split;             /* split: the other side has begun its part; 0: not yet */
    const struct MPIR_HANDLE *message; /* NULL: it is for something else */
    bool sends, any;
    int32_t peer;
    uint32_t stream;
    uint64_t which; /* the collective that is waited for: its slot; 0: none */
};
extern _Thread_local void *MPIR_Profiled_own __attribute__((tls_model("initial-exec"), visibility("hidden")));
struct MPIR_Profiled_inside *MPIR_Profiled_in_first(void);
static inline struct MPIR_Profiled_inside *MPIR_Profiled_in(void)
{
    return MPIR_Profiled_own != NULL ? MPIR_Profiled_own : MPIR_Profiled_in_first();
}

/* This process has come to a collective of the communicator: its slot's number. */
uint64_t MPIR_Profiled_arrive(const MPIR_Comm *comm, uint64_t now);
/* It is over here, since `from` in it: who was late is told. */
void MPIR_Profiled_over(uint64_t which, uint64_t from, uint64_t now);
bool MPIR_Profiled_board(const char *folder);
void MPIR_Profiled_board_close(void);
void MPIR_Profiled_wait_begun(void *self, const struct MPID_Waits *what);
void MPIR_Profiled_wait_ended(void *self);
int MPIR_Profiled_hears(void *self, const char *event);
void MPIR_Profiled_happened(void *self, const struct MPID_Happening *h);

#endif
