/* SPDX-License-Identifier: BSD-3-Clause */
/* published.h: what ranks publish, by PMI or by PMIx.  The servant of the first host keeps it; the others ask
 * (share.h).  What other jobs may see, too, is also in the user's name service (util/publish.h) as long as the
 * servant keeps it: the rank in 4 bytes, then the bytes. Bodies are frame_pack.h's:
 *
 *   NAMES_PUBLISH    the rank; NAMES_FOR_ALL and NAMES_ONCE; how many; of each its name, bytes.
 *                    Status: NAMES_OK, or NAMES_TAKEN and none is published
 *   NAMES_LOOK_UP    how many must be there before the answer (0: none), for how many seconds that is waited
 *                    (0: for ever); how many; names.
 *                    Status: NAMES_OK, NAMES_NONE, NAMES_LATE, or NAMES_APART: another job has published one, to be
 *                    looked up there once; body: of each that is there its name, rank, bytes
 *   NAMES_WITHDRAW   the rank; how many; names (0: all of the rank's).
 *                    Status: NAMES_OK, or NAMES_NONE: there was none
 *
 * A name is a text, everything else is of 4 bytes; bytes are how many and these. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include "pmi/launch/frames/frame_pack.h"
#include "share.h"

enum names_what { NAMES_PUBLISH = 1, NAMES_LOOK_UP, NAMES_WITHDRAW, NAMES_END };
/* Other jobs of the user may see it; it is withdrawn when it has been looked up (then no other job sees more than
 * that there is one, which nobody has looked up for a while). */
enum names_how { NAMES_FOR_ALL = 1, NAMES_ONCE = 2 };
enum names_status { NAMES_OK, NAMES_NONE, NAMES_TAKEN, NAMES_LATE, NAMES_APART };

/* A name with what is published of it, in either direction; `bytes` are the unpack's. */
struct name {
    char *name; /* to be freed; NULL: it was wrong */
    uint32_t rank;
    const char *bytes;
    uint32_t len;
};
void names_put(struct pack *p, const char *name, const void *bytes, size_t len);
void names_get(struct unpack *u, struct name *n); /* from the answer of NAMES_LOOK_UP */

/* Ask whoever keeps them. */
void names_ask(enum names_what what, const struct pack *body, share_done *done, void *arg);

/* A question of that kind has come, for share_ops.asked. */
bool names_asked(int from, uint32_t id, int what, const char *bytes, size_t len);

/* When names_on_time is to be called; 0: never. */
double names_due(void);
void names_on_time(void);
void names_end(void);

#endif
