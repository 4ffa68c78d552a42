/* SPDX-License-Identifier: BSD-3-Clause */
/* suppress.c: -check-suppress: faults that are not told.
 *
 * A line of the file has a kind, a call, a place and perhaps ranks, separated by blanks; a * in one of the first three
 * fits anything.  A word that begins with # begins a comment. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "found.h"
#include "pmi/launch/base/util.h"

static struct suppression {
    struct suppression *next;
    const char *file;
    int line;
    char *kind, *call, *place, *ranks; /* ranks: "" for all */
    bool used;
} * all, **last = &all;

/* "*" fits anything. */
static bool suppress_fits(const char *pattern, const char *text, size_t len)
{
    if (!*pattern)
        return len == 0;
    if (*pattern != '*')
        return len > 0 && *pattern == *text && suppress_fits(pattern + 1, text + 1, len - 1);
    for (size_t i = 0; i <= len; i++)
        if (suppress_fits(pattern + 1, text + i, len - i))
            return true;
    return false;
}

static bool suppress_is_kind(const char *pattern)
{
    for (int k = 0; k < KU_FAULT_KINDS; k++)
        if (suppress_fits(pattern, ku_fault_rows[k].name, strlen(ku_fault_rows[k].name)))
            return true;
    return false;
}

/* Is the rank in "0-3,7"?  Of a list that is wrong, -1. */
static int suppress_in_list(const char *list, long rank)
{
    int found = 0;
    do {
        char *end;
        long first = strtol(list, &end, 10), to = first;
        if (end == list || first < 0)
            return -1;
        list = end;
        if (*list == '-') {
            to = strtol(list + 1, &end, 10);
            if (end == list + 1 || to < first)
                return -1;
            list = end;
        }
        found |= rank >= first && rank <= to;
    } while (*list++ == ',');
    return list[-1] ? -1 : found;
}

/* NULL: good. */
static char *suppress_line(const char *file, int number, char *line)
{
    enum { KIND, CALL, PLACE, RANKS, WORDS };
    char *word[WORDS + 1] = { NULL }, *save = NULL;
    int n = 0;
    for (char *w = strtok_r(line, " \t\r\n", &save); w && *w != '#' && n <= WORDS;
         w = strtok_r(NULL, " \t\r\n", &save))
        word[n++] = w;
    if (n == 0)
        return NULL;
    if (n < RANKS || n > WORDS)
        return xformat("%s, line %d: %d word%s; expected KIND CALL PLACE, and perhaps RANKS", file, number, n,
                       plural(n));
    if (!suppress_is_kind(word[KIND]))
        return xformat("%s, line %d: \"%s\" is no kind of fault (doc/checking.md)", file, number, word[KIND]);
    if (word[RANKS] && suppress_in_list(word[RANKS], 0) < 0)
        return xformat("%s, line %d: \"%s\" is no list of ranks; expected one as 0-3,7", file, number,
                       word[RANKS]);
    struct suppression *s = *last = xalloc(1, sizeof *s);
    last = &s->next;
    *s = (struct suppression){ .file = file,
                               .line = number,
                               .kind = xformat("%s", word[KIND]),
                               .call = xformat("%s", word[CALL]),
                               .place = xformat("%s", word[PLACE]),
                               .ranks = xformat("%s", word[RANKS] ? word[RANKS] : "") };
    return NULL;
}

char *suppress_read(const char *file)
{
    char *line = NULL, *wrong = NULL;
    size_t room = 0;
    FILE *f = fopen(file, "re");
    if (!f)
        return xformat("%s: %s", file, strerror(errno));
    for (int number = 1; !wrong && getline(&line, &room, f) >= 0; number++)
        wrong = suppress_line(file, number, line);
    fclose(f);
    free(line);
    return wrong;
}

/* A place by its file, with its folder or without, and perhaps the line; or by its function. */
static bool suppress_fits_place(const char *pattern, const char *place)
{
    struct ku_place p = ku_place_of(place), short_one = ku_place_of(ku_place_name(place));
    const char *end = strstr(place, " ("); /* of the line */
    size_t with_line = p.line && end ? (size_t)(end - place) : strlen(place),
           skipped = (size_t)(short_one.path - p.path);
    return suppress_fits(pattern, p.path, (size_t)p.path_len) || suppress_fits(pattern, place, with_line) ||
           suppress_fits(pattern, short_one.path, (size_t)short_one.path_len) ||
           suppress_fits(pattern, short_one.path, with_line - skipped) ||
           suppress_fits(pattern, p.function, (size_t)p.function_len);
}

bool suppressed(int rank, const struct ku_fault_words *f)
{
    const char *kind = ku_fault_rows[f->kind].name;
    bool any = false;
    for (struct suppression *s = all; s; s = s->next)
        if (suppress_fits(s->kind, kind, strlen(kind)) && suppress_fits(s->call, f->call, strlen(f->call)) &&
            (suppress_fits_place(s->place, f->here) ||
             (*f->there && suppress_fits_place(s->place, f->there))) &&
            (!*s->ranks || suppress_in_list(s->ranks, rank) > 0))
            any = s->used = true;
    return any;
}

void suppress_unused(void (*tell)(const char *place, const char *text))
{
    for (const struct suppression *s = all; s; s = s->next) {
        if (s->used)
            continue;
        char *place = xformat("%s:%d", s->file, s->line),
             *text = xformat("\"%s %s %s%s%s\" fits nothing that was found", s->kind, s->call, s->place,
                             *s->ranks ? " " : "", s->ranks);
        tell(place, text);
        free(place);
        free(text);
    }
}
