/* SPDX-License-Identifier: BSD-3-Clause */
/* output_file.h: the names and the files that the ranks' output goes to; more of them than descriptors. */
#ifndef OUTPUT_FILE_H
#define OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* What stands for a rank in a pattern of the user's (-outfile-pattern, -prepend-pattern). */
struct pattern_values {
    const char *host;
    int rank, size, which; /* which: 0 stdout, 1 stderr */
};

/* The letter after the first % that means nothing, or 0.  A % at the end is a '%'. */
char pattern_bad(const char *pattern);

/* Is one of these letters in it? */
bool pattern_has(const char *pattern, const char *which);

/* The text, NUL-terminated and at most cap - 1 bytes: how many. */
size_t pattern_expand(char *text, size_t cap, const char *pattern, const struct pattern_values *v);

/* First of all: leave descriptors for the pipes of that many ranks. */
void output_file_leave(int nranks);

/* Create (or empty) the file, and the folders it is in.  NULL with errno set. */
struct output_file *output_file_create(const char *path);

/* A descriptor to append with, good until the next call for another file.  -1 with errno set. */
int output_file_fd(struct output_file *f);

/* What it is called, for messages. */
const char *output_file_path(const struct output_file *f);

/* Close and free it.  0, or the errno of a late failure to write. */
int output_file_close(struct output_file *f);

#endif
