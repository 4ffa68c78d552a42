/* SPDX-License-Identifier: BSD-3-Clause */
/* call_data.h: the data that a call reads and writes, and what else a check of buffers has to know of a procedure. */
#ifndef MPIR_CALL_DATA_H
#define MPIR_CALL_DATA_H

#include <stdbool.h>
#include <stdint.h>
#include "mpid_listen.h"
#include "stage.h"

enum { MPIR_CALL_BUFFERS = 3 /* of a call, at most */ };

/* Of a procedure, by its number in this process. */
struct MPIR_Call_traits {
    bool looked;
    bool begins, persistent;              /* it makes a request; of an operation that is started later */
    bool takes, starts;                   /* it is given requests; to start them */
    bool synchronizes;                    /* it completes one-sided calls, at the origin */
    bool message, replaces;               /* a send or a receive; with one buffer for both */
    bool broadcasts;                      /* what the root has is sent, to the others, which receive it */
    int8_t request, window, target, root; /* arguments; -1: none */
    uint8_t nbuffers;                     /* 0: they are not looked at */
    int8_t buffer[MPIR_CALL_BUFFERS];
};
const struct MPIR_Call_traits *MPIR_Call_traits_of(const struct MPID_Procedure *p);
void MPIR_Call_traits_end(void);

/* A buffer of a call. */
struct MPIR_Call_buffer {
    struct MPIR_Data data;
    uintptr_t from, to; /* its bytes, where there are no gaps between them; equal: there are */
    int64_t bytes;
    const char *name; /* of the argument */
    bool written;     /* by MPI */
};

/* How many the call has; each is kept, or forgotten. */
int MPIR_Call_buffers(const struct MPID_Call *call, struct MPIR_Call_buffer b[MPIR_CALL_BUFFERS]);
void MPIR_Call_buffer_forget(struct MPIR_Call_buffer *b);
/* Beyond the call: its types live on until it is let go. */
void MPIR_Call_buffer_keep(struct MPIR_Call_buffer *b);
void MPIR_Call_buffer_let_go(struct MPIR_Call_buffer *b);
/* A digest of its data. */
uint64_t MPIR_Call_buffer_sum(const struct MPIR_Call_buffer *b);

#endif
