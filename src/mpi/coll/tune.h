/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.h: rules of KEEL_COLL that hold for some sizes: kind:BYTES:RANKS=algorithm (doc/collectives.md). */
#ifndef COLL_TUNE_H
#define COLL_TUNE_H

#include "coll.h"

/* Take one item, of `len` letters; false: it is no such rule.  An earlier rule comes before a later one. */
bool MPIR_Coll_tune_add(const char *item, size_t len);
/* The number of the row that the first rule for this call names, + 1; COLL_FLAT; 0: none does. */
uint8_t MPIR_Coll_tuned(enum coll_kind kind, const struct coll_size *s);
/* Of all rules, to compare them with another process's; 0: there are none. */
uint32_t MPIR_Coll_tune_hash(void);
/* In the place of a row's number: the cheapest of those that are not composed over nodes. */
enum { COLL_FLAT = UINT8_MAX };
/* The number of the kind that these letters name, and of a row of it + 1 (or COLL_FLAT); -1 and 0: there is none. */
int MPIR_Coll_kind_of(const char *word, size_t len);
uint8_t MPIR_Coll_row_of(int kind, const char *word, size_t len);

#endif
