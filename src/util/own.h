/* SPDX-License-Identifier: BSD-3-Clause */
/* own.h: memory that a thread has of its own, from the heap.
 *
 * Thread-local variables of a library that is loaded while the program runs (an extension module of Python) come
 * out of a small reserve that all libraries share; what is large and seldom used lies here instead, behind one
 * such pointer. */
#ifndef KU_OWN_H
#define KU_OWN_H

#include <stddef.h>

/* Memory of `size` zeroes for this thread; *slot, which is thread-local, is set to it, and to NULL again when the
 * thread ends.  Without memory it is `spare`, which threads share, and *slot stays NULL. */
void *ku_own(void **slot, size_t size, void *spare);

#endif
