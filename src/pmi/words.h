/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h: what PMI-1 and PMI-2 say, for those who speak (pmi1.c, pmi2.c) and for those who answer
 * (launch/pmserver/talk.c).
 *
 * Both send words NAME=VALUE.  PMI-1 sends lines: blanks between words, a line feed at the end.  PMI-2 sends
 * frames: the length in six decimal characters, filled up with blanks on either side, then the words, each with a
 * ';' at its end; a ';' within a value is doubled. */
#ifndef PMI_WORDS_H
#define PMI_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PMI_LINE_END = ' ', PMI_FRAME_END = ';' }; /* what ends a word */
enum {
    PMI_FRAME_HEAD = 6,
    PMI_FRAME_MOST = 1 << 18 /* bytes of a frame, of a line: no job needs more in one */
};

/* The value of the first word of this name; false: there is none, or it has `cap` bytes or more. */
bool pmi_word(const char *text, char end, const char *name, char *value, size_t cap);
/* The word at *at, which goes on behind it; false: there is none, or name or value are too long. */
bool pmi_next_word(const char **at, char end, char *name, size_t name_cap, char *value, size_t cap);
/* The same as pmi_word if it is a decimal number. */
bool pmi_number(const char *text, char end, const char *name, int32_t *n);
/* Is there such a word with this value? */
bool pmi_says(const char *text, char end, const char *name, const char *value);

/* Bytes that follow such a head; -1: it is no number, or more than PMI_FRAME_MOST. */
int32_t pmi_frame_length(const char head[PMI_FRAME_HEAD]);
void pmi_frame_head(char head[PMI_FRAME_HEAD], size_t length);

/* `value` with each ';' doubled; `cap` is more than twice its length. */
void pmi_double(char *to, size_t cap, const char *value);

#endif
