/* SPDX-License-Identifier: BSD-3-Clause */
/* talk_spawn.h: what a rank that talks PMI-1 or PMI-2 says of a job that it spawns.  For talk.c. */
#ifndef TALK_SPAWN_H
#define TALK_SPAWN_H

#include <stdbool.h>
#include "offspring.h"

/* So far. */
struct spawn_words {
    struct offspring *of; /* NULL: nothing */
    bool in_lines, wrong;
    int maxprocs, so_far, all; /* of the lines: of this command; commands */
    char key[256];             /* its value is to come */
};

/* PMI-1: for each command the line "mcmd=spawn", lines NAME=VALUE, "endcmd". */
enum spawn_words_are { SPAWN_NONE /* the line is none of it */, SPAWN_MORE, SPAWN_WHOLE, SPAWN_WRONG };
enum spawn_words_are talk_spawn_line(struct spawn_words *s, int rank, const char *line);
/* PMI-2: all in one frame. */
void talk_spawn_frame(struct spawn_words *s, int rank, const char *frame);

/* When it is whole: to the caller; NULL: it is nonsense. */
struct offspring *talk_spawn_take(struct spawn_words *s);
void talk_spawn_free(struct spawn_words *s);

#endif
