/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn_link.h: a connection between two processes that do not know each other yet: roots of groups that connect,
 * parent and child, the two of MPI_Comm_join.  It lasts until the groups have been introduced to each other; from
 * then on messages go the ADI's ways. */
#ifndef SPAWN_LINK_H
#define SPAWN_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mpi_const.h"
#include "util/auth.h"
#include "util/segment.h"

struct link {
    int fd;      /* a stream socket */
    bool masked; /* what goes over it is hidden from who does not know the port's secret */
    uint8_t key[KU_AUTH_PROOF];
    uint8_t mine, theirs; /* masked: enum ku_auth_role of this side and the other */
    uint64_t sent, got;   /* bytes so far */
};

/* A port that is open in this process, or that a port name tells of. */
enum { PORT_SECRET = 16, PORT_ADDRESSES = 6 };
struct port {
    struct port *next;
    int fd; /* listens; -1: at another process */
    char name[MPI_MAX_PORT_NAME];
    uint8_t secret[KU_SECRET_BYTES];
};

/* What ends a wait early: `gone` (may be NULL) is asked every few milliseconds and returns an error class,
 * recorded, or 0; `until` is a time of ku_clock_ns, 0: never. */
struct patience {
    int (*gone)(void *arg);
    void *arg;
    uint64_t until;
};

/* All return an error class, recorded. */
int MPIR_Port_open(struct port *p);
void MPIR_Port_close(struct port *p);
/* Wait for who knows the port's secret; whoever does not is sent away. */
int MPIR_Port_accept(struct port *p, const struct patience *how, struct link *l);
int MPIR_Port_connect(const char *port_name, const struct patience *how, struct link *l);
/* Send and receive so many bytes, at the same time.  MPI is driven meanwhile. */
int MPIR_Link_swap(struct link *l, const void *out, size_t nout, void *in, size_t nin);
void MPIR_Link_close(struct link *l);

#endif
