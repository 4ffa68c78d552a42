/* SPDX-License-Identifier: BSD-3-Clause */
/* configfile.c: -configfile: each line of the file is one section of the command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/job/launch.h"
#include "options.h"

struct words {
    char **word;
    size_t n;
};

static void add(struct words *w, char *word)
{
    w->word = xgrow(w->word, w->n + 2, sizeof *w->word);
    w->word[w->n++] = word;
    w->word[w->n] = NULL;
}

/* Split at blanks; '...' and "..." keep them, a backslash keeps the next letter.  Words are made in place. */
static void split(struct words *w, char *line)
{
    for (;;) {
        line += strspn(line, " \t\r\n");
        if (*line == '\0' || *line == '#')
            return;
        char *out = line, quote = 0;
        add(w, line);
        for (; *line && (quote || !strchr(" \t\r\n", *line)); line++) {
            if (quote ? *line == quote : (*line == '\'' || *line == '"'))
                quote = quote ? 0 : *line;
            else if (*line == '\\' && quote != '\'' && line[1])
                *out++ = *++line;
            else
                *out++ = *line;
        }
        char *next = *line ? line + 1 : line;
        *out = '\0';
        line = next;
    }
}

/* A line with those that continue it: it ends with a backslash. */
static bool next_line(FILE *f, char **line, size_t *cap)
{
    ssize_t n = getline(line, cap, f), k;
    char *more = NULL;
    size_t room = 0;
    while (n >= 2 && (*line)[n - 1] == '\n' && (*line)[n - 2] == '\\' &&
           (k = getline(&more, &room, f)) >= 0) {
        *line = xgrow(*line, *cap = (size_t)(n + k), 1);
        memcpy(*line + n - 2, more, (size_t)k + 1);
        n += k - 2;
    }
    free(more);
    return n >= 0;
}

char **config_file(const char *option, const char *name)
{
    FILE *f = fopen(name, "re");
    static struct words w; /* kept: options point into it */
    char *line = NULL;
    size_t cap = 0;
    if (!f) {
        say("%s: %s: %s", option, name, strerror(errno));
        return NULL;
    }
    while (next_line(f, &line, &cap)) {
        struct words here = { NULL, 0 };
        split(&here, xformat("%s", line));
        if (here.n && w.n && strcmp(w.word[w.n - 1], ":") != 0)
            add(&w, ":");
        for (size_t i = 0; i < here.n; i++)
            add(&w, here.word[i]);
        free(here.word);
    }
    bool whole = feof(f);
    if (!whole)
        say("%s: %s cannot be read: %s", option, name, strerror(errno));
    free(line);
    fclose(f);
    if (!whole)
        return NULL;
    if (!w.n) {
        say("%s: %s holds no line that starts a program", option, name);
        return NULL;
    }
    return w.word;
}
