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
    bool begins, persistent; /* it makes a request; of an operation that is started later */
    bool takes, starts;      /* it is given requests; to start them */
    bool stays, ends;        /* without a request, it is under way after the call; it completes such ones */
    bool message, replaces;  /* a send or a receive; with one buffer for both */
    bool broadcasts;         /* what the root has is sent, to the others, which receive it */
    bool arrays;             /* it has some, of counts or displacements, that stay in use */
    int8_t request, target, root; /* arguments; -1: none */
    int8_t object;                /* the window of a one-sided call, the file of a split collective */
    uint8_t nbuffers;             /* 0: they are not looked at */
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
/* Is it still memory of the process, as far as its ends tell?  (Looked at where it is large; else it is.) */
bool MPIR_Call_buffer_is_there(const struct MPIR_Call_buffer *b);
/* An array of counts or displacements that has to stay as it is until the operation is complete. */
enum { MPIR_CALL_ARRAYS = 4 /* of a call, at most */ };
struct MPIR_Call_array {
    const char *at, *name;
    size_t bytes;
    uint64_t sum;
};
int MPIR_Call_arrays(const struct MPID_Call *call, struct MPIR_Call_array a[MPIR_CALL_ARRAYS]);
/* Is it as it was? */
bool MPIR_Call_array_is_kept(const struct MPIR_Call_array *a);

/* A digest of its data. */
uint64_t MPIR_Call_buffer_sum(const struct MPIR_Call_buffer *b);

#endif
