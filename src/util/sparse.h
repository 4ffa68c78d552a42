/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.h: an array of pointers of which few are ever set.
 *
 * It is an ordinary array to its reader: at[i], NULL until it is set.  A large one lies in pages of its own that
 * cost nothing until they are written, so that the memory it takes follows the entries in use, not its length. */
#ifndef KU_SPARSE_H
#define KU_SPARSE_H

#include <stddef.h>

enum { KU_SPARSE_SMALL = 64 /* pointers: so many come from malloc */ };

/* n pointers, all NULL.  NULL: no memory. */
void **ku_sparse_new(size_t n);

/* `at`, which has n pointers, gets `more` of them, more > n: the new ones are NULL.  It may move; an entry keeps
 * its index. NULL: no memory, and `at` stays as it is. */
void **ku_sparse_grow(void **at, size_t n, size_t more);

/* Free what new or grow returned for n pointers; `at` may be NULL. */
void ku_sparse_free(void **at, size_t n);

#endif
