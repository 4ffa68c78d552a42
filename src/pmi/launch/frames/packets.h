/* SPDX-License-Identifier: BSD-3-Clause */
/* packets.h: what the daemon and the process beside it (servant.h) say to each other, through a SOCK_SEQPACKET
 * socket.  Neither ever waits for the other to read: what does not go at once is kept. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKET_MOST = 64 << 10 };

enum packet_what {
    /* From the daemon. */
    PACKET_SOCKET,  /* value: a rank; with a descriptor: its PMI_FD's other end */
    PACKET_ENVIRON, /* value: a rank; what is it to have in its environment for PMIx? */
    PACKET_SETTLE,  /* value: a rank that has ended; answered when all that it has said has been heard */
    PACKET_FROM,    /* value: a host; a parcel of its servant (share.h) */
    /* From the servant. */
    PACKET_SET,     /* value: the rank of ENVIRON; NAME=VALUE, each with a 0 at its end */
    PACKET_REFUSED, /* value: the rank of ENVIRON; a text: why there is none */
    PACKET_SETTLED, /* value: the rank of SETTLE */
    PACKET_TO,      /* value: a host, -1: all others; a parcel for its servant */
    /* Between the servants of a job and of one that its ranks have spawned (elder.h), besides ENVIRON and SETTLE
     * and their answers.  The younger one begins with SPACE. */
    PACKET_SPACE,     /* its job, as space_put */
    PACKET_BEGUN,     /* value: a rank that has called PMIx_Init */
    PACKET_FINALIZED, /* value: a rank that has called PMIx_Finalize */
    PACKET_ABORTED,   /* value: a rank that ends the job; 4 bytes, the code */
};

struct packet {
    struct packet *next;
    int32_t what, value;
    int fd; /* that goes with it; -1: none */
    size_t len;
    char bytes[];
};

struct packets {
    int fd; /* -1: there is nobody (any more) */
    struct packet *first, **end;
};

void packets_open(struct packets *p, int fd);
void packets_close(struct packets *p);

/* `with` is closed when it has gone; -1: none. */
void packets_send(struct packets *p, enum packet_what what, int value, const void *bytes, size_t len,
                  int with);
void packets_flush(struct packets *p);
static inline bool packets_wait(const struct packets *p)
{
    return p->first != NULL;
}

/* The next one, to be freed; NULL: there is none yet, or the other is gone and the socket has been closed. */
struct packet *packets_next(struct packets *p);
/* The same, with the descriptor that came with it and nobody has taken. */
void packet_free(struct packet *k);

#endif
