/* SPDX-License-Identifier: BSD-3-Clause */
/* share.h: what the servants (servant.h) of a job's hosts tell each other: fences, in which each gives bytes and
 * gets those of all, and questions.  It travels in parcels that the daemons pass on as they are (doc/wire.md,
 * "Between servants").  No descriptors, no processes: bytes in, bytes out.
 *
 * A fence has a key, and hosts that take part; the first of these collects.  No host enters a fence of the same
 * key again before it has left the one before. */
#ifndef SHARE_H
#define SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHARE_PARCEL = 32 << 10, /* bytes of a parcel at most */
    SHARE_MOST = 1 << 30,    /* of a message in parcels */
    SHARE_ALL = -1,
};

/* status: of an answer, as its sender said; of a fence 0, or 1: the host was in one of this key already.  The
 * bytes are gone afterwards. */
typedef void share_done(void *arg, int status, const char *bytes, size_t len);

struct share_ops {
    void (*send)(int to, const void *bytes, size_t len); /* a parcel to a host, or to all others */
    /* A question, to be answered once by share_answer.  False: it is not understood. */
    bool (*asked)(int from, uint32_t id, int what, const char *bytes, size_t len);
};

void share_begin(int me, int hosts, const struct share_ops *ops);
void share_end(void);

/* `hosts` in ascending order, this one among them; done gets the bytes of all, one after the other in the order of
 * hosts. */
void share_fence(const char *key, const int32_t *hosts, int n, const void *bytes, size_t len,
                 share_done *done, void *arg);

/* Also of this host itself. */
void share_ask(int host, int what, const void *bytes, size_t len, share_done *done, void *arg);
void share_answer(int to, uint32_t id, int status, const void *bytes, size_t len);

/* A parcel that has come.  False: it is nonsense. */
bool share_take(int from, const char *bytes, size_t len);

#endif
