/* names.h: what the ranks of a job publish for each other, by PMI or by PMIx.  The servant of the first host keeps it; the others ask
 * (share.h).  Bodies are pack.h's:
 *
 *   NAMES_PUBLISH    the rank; how many; of each its name, bytes.   Status: NAMES_OK, or NAMES_TAKEN and none is published
 *   NAMES_LOOK_UP    how many must be there before the answer (0: none), for how many seconds that is waited (0: for ever); how many;
 *                    names.   Status: NAMES_OK, NAMES_NONE or NAMES_LATE; body: of each that is there its name, rank, bytes
 *   NAMES_WITHDRAW   the rank; how many; names (0: all of the rank's).   Status: NAMES_OK, or NAMES_NONE: there was none
 *
 * A name is a text, everything else is of 4 bytes; bytes are how many and these. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include "pack.h"
#include "share.h"

enum names_what { NAMES_PUBLISH = 1, NAMES_LOOK_UP, NAMES_WITHDRAW, NAMES_END };
enum names_status { NAMES_OK, NAMES_NONE, NAMES_TAKEN, NAMES_LATE };

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
