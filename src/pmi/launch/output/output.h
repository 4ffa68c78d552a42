/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h: the ranks' stdout and stderr, line by line, to our own.
 *
 * Invariants
 *   1. A line of one rank is never continued by another's, nor by a message of mpiexec: who writes while
 * somebody else's line is open ends that line first.
 * A line without an end is passed on when its rank has written nothing for 50 ms, if nobody else's line is open.
 *   2. Nothing is thrown away while the destination takes it; when it does not (a slow reader), at most ROOM
 * bytes wait here and the ranks' pipes are not read: the ranks wait, mpiexec does not.
 *   3. When a destination is gone (its reader has left) the ranks' pipes are closed: they see SIGPIPE as
 * under a shell.
 *   4. What goes to a file (-outfile-pattern, --output-filename) is written before more is read: a file takes all, or
 * is lost (a full disk), which is said. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct launch;

/* Does the job's one rank have our own descriptors, as under a shell? */
bool output_direct(const struct launch *l);

/* Prepare for the ranks' streams: their files are there when this returns.  Dies on errors. */
void output_init(const struct launch *l);

/* Before output_init: the ranks' output goes to somebody else, bytes as they come, and none at the end; as long as
 * he has room for that of all ranks' stdout (which = 0), stderr (1). */
enum { OUTPUT_CHUNK = 64 << 10 /* bytes that he is given at once, at most */ };
void output_divert(void (*to_whom)(int rank, int which, const char *data, size_t n), bool (*room)(int which));

/* The ranks' output comes from somebody else; n = 0: that was all.  Is there room for more?  Has the reader gone,
 * so that nobody wants more? */
void output_take(int rank, int which, const char *data, size_t n);
bool output_room(int which);
bool output_gone(int which);
/* Close what is diverted. */
void output_shut(int which);

/* Take the read end of rank's stdout (which = 0) or stderr (1); owned from here on. */
void output_add(int rank, int which, int fd);

/* For the main loop: fill up to OUTPUT_POLLS entries of `p`, wait for `ms` (-1: for ever) or less; then, after
 * poll, move what can be moved. */
enum { OUTPUT_POLLS = 6 };
int output_polls(struct pollfd *p);
int output_ms(int ms);
void output_move(void);

/* Take everything the ranks have written so far that fits; for when messages should come after it. */
void output_catch_up(void);

/* A message of mpiexec's own: whole lines, to stderr, after what is there already. */
void output_message(const char *text);

/* No process is left that could write: read what the pipes still hold, close them. */
void output_close(void);

/* Nothing is waiting to be written. */
bool output_done(void);

/* A destination takes no more: ranks that die of SIGPIPE are no news. */
bool output_reader_gone(void);

/* errno of the first read or write that failed (but not for a reader that left), or 0. */
int output_failed(void);

#endif
