/* SPDX-License-Identifier: BSD-3-Clause */
/* talk_spawn.c: see talk_spawn.h.
 *
 * In both protocols words follow each other: a command, its arguments, its keys; "_0", "_1" and the like at the
 * end of a name only count them. */
#include "talk_spawn.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/words.h"

enum { NAME = 64, WORD = 1 << 14 };

static void begin(struct spawn_words *s, int rank)
{
    if (!s->of)
        s->of = offspring_new(rank);
}

void talk_spawn_free(struct spawn_words *s)
{
    if (s->of)
        offspring_free(s->of);
    *s = (struct spawn_words){ 0 };
}

/* Is it `name` with a number, perhaps, behind it? */
static bool is(const char *word, const char *name)
{
    size_t n = strlen(name);
    return strncmp(word, name, n) == 0 && strspn(word + n, "0123456789") == strlen(word + n);
}

static bool take_number(const char *text, int *n)
{
    char *end;
    long value = strtol(text, &end, 10);
    *n = value > 0 && value < OFFSPRING_MOST ? (int)value : 0;
    return end != text && !*end && *n > 0;
}

static bool take_key(struct spawn_words *s, const char *key)
{
    return snprintf(s->key, sizeof s->key, "%s", key) < (int)sizeof s->key;
}

/* False: it is nonsense. */
static bool take_line(struct spawn_words *s, const char *name, const char *value)
{
    if (is(name, "nprocs"))
        return take_number(value, &s->maxprocs);
    if (is(name, "totspawns"))
        return take_number(value, &s->all);
    if (is(name, "spawnssofar"))
        return take_number(value, &s->so_far);
    if (is(name, "execname"))
        return s->maxprocs > 0 && offspring_add(s->of, value, s->maxprocs);
    if (is(name, "argcnt") || is(name, "preput_num") || is(name, "info_num"))
        return true;
    if (is(name, "arg"))
        return offspring_word(s->of, value);
    if (is(name, "preput_key_") || is(name, "info_key_"))
        return take_key(s, value);
    if (is(name, "preput_val_"))
        return offspring_put(s->of, s->key, value);
    return is(name, "info_val_") && offspring_key(s->of, s->key, value);
}

enum spawn_words_are talk_spawn_line(struct spawn_words *s, int rank, const char *line)
{
    char name[NAME], value[WORD];
    if (!s->in_lines && strcmp(line, "mcmd=spawn") != 0)
        return SPAWN_NONE;
    if (!s->in_lines) {
        begin(s, rank);
        s->in_lines = true;
        s->maxprocs = 0;
        return SPAWN_MORE;
    }
    if (strcmp(line, "endcmd") == 0) {
        s->in_lines = false;
        return s->wrong || s->so_far >= s->all ? SPAWN_WHOLE : SPAWN_MORE;
    }
    if (!pmi_next_word(&line, '\n', name, sizeof name, value, sizeof value))
        return SPAWN_WRONG;
    s->wrong = s->wrong || !take_line(s, name, value);
    return SPAWN_MORE;
}

static bool take_word(struct spawn_words *s, const char *name, const char *value)
{
    struct offspring *o = s->of;
    if (is(name, "ppkey") || is(name, "infokey"))
        return take_key(s, value);
    if (is(name, "ppval"))
        return offspring_put(o, s->key, value);
    if (is(name, "subcmd"))
        return offspring_add(o, value, 1);
    if (is(name, "maxprocs"))
        return o->n > 0 && take_number(value, &o->command[o->n - 1].maxprocs);
    if (is(name, "argv"))
        return offspring_word(o, value);
    if (is(name, "infoval"))
        return offspring_key(o, s->key, value);
    return true; /* cmd, thrid, what is counted */
}

void talk_spawn_frame(struct spawn_words *s, int rank, const char *frame)
{
    char name[NAME], value[WORD];
    begin(s, rank);
    while (*frame && !s->wrong)
        s->wrong = !pmi_next_word(&frame, PMI_FRAME_END, name, sizeof name, value, sizeof value) ||
                   !take_word(s, name, value);
}

struct offspring *talk_spawn_take(struct spawn_words *s)
{
    struct offspring *o = s->wrong || !s->of || s->of->n == 0 ? NULL : s->of;
    if (o)
        s->of = NULL;
    talk_spawn_free(s);
    return o;
}
