/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp.h: the parts of ch_tcp: tcp.c (the device, its progress), places.c (addresses), tcp_link.c (how a connection
 * comes and goes), tcp_stream.c (bytes and packets on one).
 *
 *   IDLE --(a send: dev_tcp_want)--> WANTED --(address known, connect begun: attempt)--> CONNECTING
 *   CONNECTING --(hello written: connected)--> GREETED --(answer read: answered)--> OPEN
 *   CONNECTING, GREETED --(refused, or closed without an answer: attempt_failed)--> WANTED, after a pause
 *   IDLE, WANTED, and of the higher rank CONNECTING, GREETED --(the other's hello read: accept_peer)--> OPEN
 *   OPEN --(goodbye read)--> LEFT    OPEN --(end of file, error, nonsense)--> GONE    WANTED --(KEEL_TCP_CONNECT_S
 *                                                                                     in vain)--> GONE
 *
 * Invariants
 *   1. Two ranks have one connection.  Who accepts decides: the lower rank turns the other's hello away while it has an
 *      attempt of its own or a connection, the higher rank drops its attempt for the other's.  Who is turned away
 *      finds the connection closed, and tries again until one stands.  Nothing of a connection is delivered before
 *      it was accepted, and an attempt on which the answer may come is never given up but for an accepted one.  Of
 *      two processes of different jobs the one whose job has the lower number is the lower.
 *   2. Frames follow the hello without waiting for the answer, so a process that sends and then computes has
 *      sent.  Until the answer they stay in `out`, to be sent again on the connection that stands.
 *   3. What is written, is written in order: `out`, then `rest`.  Behind something in `rest` nothing is taken.
 *   4. `lock` guards what senders use.  fd and state are changed with it, and but for IDLE to WANTED only by the
 *      device's thread, which may read them without.  No upcall is made with a lock held.
 *   5. The epoll set tells when there is something to read or accept, when what waits can be written, and (by a
 *      timer) when something is due.  Packets that lie in a buffer are handed up by the next progress, which then
 *      counts an event. */
#ifndef TCP_H
#define TCP_H

#include <stdio.h>
#include <sys/uio.h>
#include "frame.h"
#include "util/lock.h"

enum {
    TCP_GUESTS = 64,
    TCP_HOT = 4,
    TCP_PIECES = 8, /* of an iov that is sent from where it lies */
    TCP_SPILL = 192 /* a hello and a short frame, when there is no memory */
};
#define TCP_MS 1000000ull

enum tcp_state { TCP_IDLE, TCP_WANTED, TCP_CONNECTING, TCP_GREETED, TCP_OPEN, TCP_LEFT, TCP_GONE };

enum tcp_refusal { TCP_TURNED_AWAY = -1, TCP_NOT_OURS = -2 };

/* What a descriptor of the epoll set stands for.  Returns the number of events. */
struct source {
    int (*ready)(struct dev *d, struct source *s, uint32_t events);
};

/* A connection of somebody who has not yet said who he is. */
struct guest {
    struct source source;
    int fd; /* -1: free */
    uint64_t since;
    struct ku_sock_addr from;
    size_t got;
    struct tcp_hello hello;
};

struct dev_peer {
    struct source source;
    struct dev *dev;
    int32_t grank;
    /* with `lock` */
    struct ku_lock lock;
    int fd;
    _Atomic uint8_t state;
    bool watched; /* the epoll set tells when it can be written */
    bool refused; /* a send was told AGAIN */
    bool blind;   /* the epoll set should tell when it can be written, and would not */
    bool cut;     /* ended by this side, for `error`: what can be read still is */
    bool keeps;   /* `rest` is there, and belongs to `cookie` or is `room` */
    int error;
    uint32_t sent, end, cap;
    uint8_t *out; /* NULL, a buffer, or spill */
    struct tcp_frame head;
    struct iovec rest[TCP_PIECES + 2]; /* head, pieces, padding */
    int nrest;
    void *cookie;
    uint8_t *room;
    uint8_t spill[TCP_SPILL];
    struct dev_peer *next_wanted; /* on dev.wanted */
    /* of the device's thread */
    uint8_t *in;
    uint32_t
        room_in; /* bytes that it has room for: TCP_BUF, or more: a longer frame that has no other place */
    uint32_t at, have;     /* unread bytes of `in` */
    uint64_t ticket;       /* of the packet whose body goes where it belongs; 0: none does */
    uint32_t placed, body; /* bytes of it that are there, and all */
    bool pending, said_bye, shut;
    struct dev_peer *next_pending, *next_trying, *next_known;
    bool trying;
    uint64_t since, begun, next_try, pause; /* of attempts; ns, 0: the first */
    uint64_t heard;                         /* the last serial number that the peer has used */
    int nplaces, turn;                      /* addresses to be tried, and which one is */
    int16_t failed[TCP_ADDRESSES + 1];      /* why each was not: errno, or enum tcp_refusal */
    size_t got;
    struct tcp_hello answer;
    struct ku_sock_addr where;
};

struct dev {
    uint32_t skip, idle, turn;  /* calls of progress that do nothing; looks in vain; looks and packets */
    uint64_t looked, asked;     /* ns: the last look, the last reading of the clock, when looks are rare */
    _Atomic uint32_t *sleeping; /* of this rank, in the segment */
    _Atomic(struct dev_peer *) wanted; /* not yet in `trying` */
    struct dev_peer *pending, *pending_last, *trying;
    struct dev_peer *hot[TCP_HOT]; /* brought something last, and there may be more soon; NULL: fewer did */
    struct dev_services up;
    struct dev_world world;
    struct source listener;
    struct source timer;
    _Atomic int32_t nwatched; /* peers that wait until they can be written */
    int epoll, listen_fd, timer_fd;
    struct ku_sock_addr own[TCP_ADDRESSES]; /* of this host, that this process may use */
    int nown;
    struct tcp_address address; /* what its peers are told */
    uint64_t patience;          /* ns for attempts */
    uint64_t serial;            /* of the last hello that was sent, to whomever */
    int silence;                /* s for a peer's host; 0: any time */
    uint32_t failed_seen;       /* of up.next_failed */
    uint64_t hark;              /* when it is looked who is silent; 0: nobody is connected yet */
    _Atomic int32_t nblind;     /* peers of which `blind` holds */
    uint64_t alarm;             /* when the timer fires; 0: not set */
    uint64_t deaf;              /* accepts again at this time; 0: does now */
    bool warned;
    struct dev_peer **peers; /* [npeers], of util/sparse.h; */
    int32_t npeers;          /* world.size, and more where other jobs have been met */
    struct dev_peer *known;  /* those that are not NULL, linked by next_known */
    int nguests;
    struct guest guests[TCP_GUESTS];
    struct ku_lock pool_lock;
    uint8_t *pool;  /* free buffers, linked through their first bytes */
    uint8_t *spare; /* NULL, or one more for what is read: the device's thread gets it without the lock */
    uint32_t lent;  /* rooms that are the core's */
};

/* tcp.c */
struct dev_peer *dev_tcp_peer(struct dev *d, int32_t grank);                        /* NULL: no memory */
bool dev_tcp_identity(const struct dev *d, int32_t grank, struct dev_identity *id); /* false: there is none */
uint8_t *dev_tcp_buffer(struct dev *d); /* of TCP_BUFFER bytes, aligned to 8; NULL: no memory */
void dev_tcp_release(struct dev *d, uint8_t *buffer);
void dev_tcp_ring(struct dev *d);
void dev_tcp_alarm(struct dev *d, uint64_t at); /* the timer fires then, or earlier */
enum { TCP_BUFFER = TCP_BUF + 128 };

/* tcp_link.c */
void dev_tcp_want(struct dev_peer *p); /* locked, IDLE */
int dev_tcp_accept(struct dev *d, struct source *s, uint32_t events);
int dev_tcp_due(struct dev *d); /* all that waits for a time or an address */
void dev_tcp_look_at_deaths(struct dev *d);
int dev_tcp_ready(struct dev *d, struct source *s, uint32_t events);
int dev_tcp_gone(struct dev_peer *p, enum tcp_state state, const char *why); /* why: of GONE alone */
void dev_tcp_forget_fd(struct dev *d, int fd);
void dev_tcp_hang_up(struct dev_peer *p);
void dev_tcp_dismiss(struct dev *d, struct guest *g);

/* places.c: addresses */
bool dev_tcp_places(struct dev *d); /* this process's; false and the error set: none */
int dev_tcp_choose(
    struct dev_peer
        *p); /* how many of the peer's there are, p->where is that of p->turn; -1: not known yet */
bool dev_tcp_nonce_of(struct dev_peer *p, uint8_t *nonce); /* of the peer that is called */
const char *dev_tcp_failures(struct dev_peer *p, char *text, size_t size);

/* tcp_count.c: a connection stands, or has ended */
void dev_tcp_opened(int32_t grank);
void dev_tcp_closed(int32_t grank);

/* tcp_stream.c */
void dev_tcp_cut(struct dev_peer *p, int error);         /* locked */
bool dev_tcp_open_out(struct dev_peer *p);               /* locked; false: only `spill` was there */
void dev_tcp_drop_out(struct dev_peer *p);               /* locked */
void dev_tcp_flush(struct dev_peer *p);                  /* locked */
void dev_tcp_watched(struct dev_peer *p, bool writable); /* locked: the epoll set tells that, or no more */
int dev_tcp_write(struct dev_peer *p);                   /* flush, and tell who waited */
int dev_tcp_read(struct dev_peer *p);                    /* once; packets are then pending */
int dev_tcp_deliver(struct dev *d);                      /* one pending packet */
void dev_tcp_cool(struct dev_peer *p);                   /* nothing more comes */
void dev_tcp_unread(struct dev_peer *p);                 /* what was received and not delivered is dropped */
dev_status dev_tcp_bye(struct dev_peer *p);              /* locked */
dev_status dev_tcp_send_short(struct dev_peer *p, const struct dev_head *head, const void *body);
dev_status dev_tcp_send(struct dev_peer *p, const struct dev_head *head, const struct dev_iov *iov, int n,
                        void *cookie);
void *dev_tcp_reserve(struct dev_peer *p, size_t want);
dev_status dev_tcp_commit(struct dev_peer *p, const struct dev_head *head, void *room, size_t len);
void dev_tcp_drop(struct dev_peer *p, void *room);

#endif
