/* configfile.c: -configfile: each line of the file is one section of the command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "launch.h"
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

static char **read_file(const char *name)
{
    FILE *f = fopen(name, "re");
    static struct words w; /* kept: options point into it */
    char *line = NULL;
    size_t cap = 0;
    if (!f) {
        say("-configfile: %s: %s", name, strerror(errno));
        return NULL;
    }
    while (getline(&line, &cap, f) >= 0) {
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
        say("-configfile: %s cannot be read: %s", name, strerror(errno));
    free(line);
    fclose(f);
    if (!whole)
        return NULL;
    if (!w.n) {
        say("-configfile: %s holds no line that starts a program", name);
        return NULL;
    }
    return w.word;
}

char **config_file(char **argv)
{
    const char *a = argv[0];
    if (!a || a[0] != '-')
        return argv;
    a += 1 + (a[1] == '-');
    if (strcmp(a, "configfile") == 0 && argv[1])
        return read_file(argv[1]);
    if (strncmp(a, "configfile=", 11) == 0)
        return read_file(a + 11);
    return argv;
}
