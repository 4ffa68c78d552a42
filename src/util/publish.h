/* SPDX-License-Identifier: BSD-3-Clause */
/* publish.h: the user's name service: names with some bytes each, which this user's programs publish for each other.
 *
 * It is a folder (KEEL_NAMES) that nobody else can read, since port names hold secrets.  A name is a file there,
 * whose name is the published name in hexadecimal.  The process that has published it holds a lock on the file: so
 * a name whose publisher has ended, however it did, is known to be stale, and the next process that meets it
 * removes it.  Nothing runs for it, and the folder is empty when nobody publishes anything.
 *
 * A publisher makes the file under another name, locks it, and links it to its place: who finds it there finds it
 * whole.
 *
 * Errors are errno values with a text (err.h).  One thread at a time. */
#ifndef KU_PUBLISH_H
#define KU_PUBLISH_H

#include <stddef.h>

enum { KU_PUBLISH_NAME = 125 /* characters: a file's name has two for each */ };

struct ku_published; /* a name that this process has published */

/* 0; EEXIST: it is published already; or another error. */
int ku_publish(const char *name, const void *bytes, size_t len, struct ku_published **p);
void ku_publish_withdraw(struct ku_published *p);

/* 0 and what is published, to be freed, with a 0 behind it; ENOENT: nothing is; or another error. */
int ku_publish_look_up(const char *name, char **bytes, size_t *len);

/* The folder, as this process sees it. */
const char *ku_publish_folder(void);

#endif
