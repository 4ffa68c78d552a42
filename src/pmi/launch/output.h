/* output.h: the ranks' stdout and stderr, line by line, to our own.
 *
 * Invariants
 *   1. A line of one rank is never continued by another's, nor by a message of mpiexec: who writes while
 * somebody else's line is open ends that line first.
 *   2. Nothing is thrown away while the destination takes it; when it does not (a slow reader), at most ROOM
 * bytes wait here and the ranks' pipes are not read: the ranks wait, mpiexec does not.
 *   3. When a destination is gone (its reader has left) the ranks' pipes are closed: they see SIGPIPE as
 * under a shell. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* Prepare for 2 * nranks streams.  merge: the ranks' stderr goes to our stdout.  Dies on errors. */
void output_init(int nranks, bool tag, bool merge);

/* Take the read end of rank's stdout (which = 0) or stderr (1); owned from here on. */
void output_add(int rank, int which, int fd);

/* For the main loop: fill up to OUTPUT_POLLS entries of `p`; then, after poll, move what can be moved. */
enum { OUTPUT_POLLS = 4 };
int output_polls(struct pollfd *p);
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
