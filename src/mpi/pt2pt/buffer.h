/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h: a buffer for buffered sends (4.6): of the process, a session, or a communicator.
 *
 * Invariants
 *   1. Messages stand in one queue in the order they were sent, and leave it from its head when they are
 * complete, as in the standard's model (4.6.1).  Each counts with its packed size and the program's MPI_BSEND_OVERHEAD.
 *   2. A message is taken whenever what counts fits the size attached; so none is refused that the model
 * would take. It lies in the user's memory if there is room in one piece (a ring), else in memory of its own.
 *   3. A message holds a reference to its communicator until it leaves the queue. */
#ifndef MPIR_BUFFER_H
#define MPIR_BUFFER_H

#include "request.h"

struct message; /* one in the queue */

struct buffer {
    bool attached, automatic; /* automatic: MPI_BUFFER_AUTOMATIC, no limit */
    void *user;               /* as attached */
    int64_t user_size;
    char *base; /* `user` aligned */
    int64_t room;
    int64_t counted;     /* bytes of the messages in the queue, by invariant 1 */
    int64_t inside;      /* messages that lie in the ring */
    int64_t start, stop; /* offsets: the oldest message's begin, the youngest one's end */
    uint64_t sent, done; /* messages that ever came, that left */
    int flushes;         /* requests that wait for it */
    bool orphan;         /* its owner has gone: the last of them frees it */
    int failed;          /* error class of a message that could not be sent; reported by flush and detach */
    struct message *first, *last;
    struct buffer *next; /* of all that exist */
};

/* The buffer in charge of sends on comm; NULL if none is attached. */
struct buffer *MPIR_Buffer_of(MPIR_Comm *comm);

/* A message that may have left long ago: the `number`-th that came to the buffer. */
struct place {
    struct buffer *buffer;
    struct message *message;
    uint64_t number;
};

/* Room for a message of `size` packed bytes, linked at the queue's end, or none (message NULL, recorded); where to pack
 * it: *data. */
struct place MPIR_Buffer_take(struct buffer *b, MPIR_Comm *comm, int64_t size, void **data);
/* The youngest message is not sent after all. */
void MPIR_Buffer_give_back(struct buffer *b, struct message *m);
MPIR_Request *MPIR_Buffer_request(struct message *m);

/* Try to cancel a message for the request that stands for it, which is complete when that is decided, s.cancelled
 * telling: at once, or by a later call of MPIR_Buffer_cancelled.  Returns an error class. */
int MPIR_Buffer_cancel(const struct place *place, MPIR_Request *request);
void MPIR_Buffer_cancelled(const struct place *place, MPIR_Request *request);

#endif
