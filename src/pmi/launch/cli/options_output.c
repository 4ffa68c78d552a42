/* SPDX-License-Identifier: BSD-3-Clause */
/* options_output.c: the options that say where the ranks' output goes and how its lines begin. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "pmi/launch/output/output_file.h"

static const char *checked(struct parse *p, const char *pattern)
{
    char bad = pattern_bad(pattern);
    if (bad)
        refuse(p,
               "%s: %%%c in \"%s\" means nothing; expected %%r (rank), %%R (with zeros), %%h (host), %%s "
               "(stdout or stderr), "
               "%%t (seconds), %%T (date), %%g, %%p or %%%%",
               p->name, bad, pattern);
    else if (!*pattern)
        refuse(p, "%s is empty", p->name);
    return pattern;
}

void do_outfile(struct parse *p, char **v)
{
    p->launch->pattern[0] = checked(p, v[0]);
    p->launch->no_copy = true;
}

void do_errfile(struct parse *p, char **v)
{
    p->launch->pattern[1] = checked(p, v[0]);
    p->launch->no_copy = true;
}

/* `name` where a pattern is expected, followed by `rest`. */
static const char *literal(const char *name, size_t n, const char *rest)
{
    char *text = xalloc(2 * n + strlen(rest) + 1, 1), *t = text;
    for (size_t i = 0; i < n; i++) {
        if (name[i] == '%')
            *t++ = '%';
        *t++ = name[i];
    }
    strcpy(t, rest);
    return text;
}

/* The qualifiers after the last ':', separated by commas; false: these are none, the ':' is of the name. */
static bool qualifiers(const char *q, bool *job, bool *copy)
{
    for (; *q; q += strcspn(q, ","), q += *q == ',') {
        size_t n = strcspn(q, ",");
        if (n == 7 && strncasecmp(q, "nojobid", n) == 0)
            *job = false;
        else if (n == 6 && strncasecmp(q, "nocopy", n) == 0)
            *copy = false;
        else if (!(n == 5 && strncasecmp(q, "jobid", n) == 0) &&
                 !(n == 4 && strncasecmp(q, "copy", n) == 0) && !(n == 3 && strncasecmp(q, "raw", n) == 0))
            return false;
    }
    return true;
}

/* Open MPI's layout: DIR/1/rank.N/stdout and stderr; or one file a rank, NAME.N.  :nojobid leaves out the 1,
 * :nocopy what else would be shown too. */
static void to_folders(struct parse *p, const char *name, bool folders)
{
    struct launch *l = p->launch;
    const char *colon = strrchr(name, ':');
    bool job = true, copy = true;
    size_t n = colon && qualifiers(colon + 1, &job, &copy) ? (size_t)(colon - name) : strlen(name);
    if (n == 0)
        refuse(p, "%s is \"%s\"; expected the name of a %s", p->name, name, folders ? "folder" : "file");
    l->pattern[0] = l->pattern[1] = literal(name, n, folders ? job ? "/1/rank.%R/%s" : "/rank.%R/%s" : ".%R");
    l->no_copy = !copy;
}

void do_output_filename(struct parse *p, char **v)
{
    to_folders(p, v[0], true);
}

/* One word of --output; false if there is no such word. */
static bool output_word(struct parse *p, char *word)
{
    if (strncasecmp(word, "dir=", 4) == 0)
        to_folders(p, word + 4, true);
    else if (strncasecmp(word, "file=", 5) == 0)
        to_folders(p, word + 5, false);
    else if (strcasecmp(word, "tag") == 0 || strcasecmp(word, "tag-detailed") == 0 ||
             strcasecmp(word, "tag-fullname") == 0)
        p->tag_job = true;
    else if (strcasecmp(word, "rank") == 0)
        p->tag_rank = true;
    else if (strcasecmp(word, "timestamp") == 0)
        p->timestamp = true;
    else if (strcasecmp(word, "merge") == 0 || strcasecmp(word, "merge-stderr-to-stdout") == 0)
        p->launch->merge_stderr = true;
    else if (strcasecmp(word, "xml") == 0)
        say("note: %s xml: ignored: lines are written as they are", p->name);
    else
        return false;
    return true;
}

/* Open MPI 5: words separated by commas; but a qualifier's comma goes on with the word before
 * (dir=x:nojobid,nocopy). */
void do_output(struct parse *p, char **v)
{
    bool ignored;
    for (char *word = v[0], *end; !p->stop && *word; word = *end ? end + 1 : end) {
        for (end = word + strcspn(word, ","); *end == ',' && strchr(word, ':') && strchr(word, ':') < end;) {
            size_t next = strcspn(end + 1, ",");
            char *more = xformat("%.*s", (int)next, end + 1);
            bool goes_on = qualifiers(more, &ignored, &ignored);
            free(more);
            if (!goes_on)
                break;
            end += 1 + next;
        }
        char *one = xformat("%.*s", (int)(end - word), word);
        if (!output_word(p, one))
            refuse(p,
                   "%s: \"%s\" is not known; expected tag, rank, timestamp, merge, dir=DIR or file=NAME "
                   "(with :nojobid, :nocopy)",
                   p->name, one);
        free(one);
    }
}

void do_prepend_pattern(struct parse *p, char **v)
{
    p->prepend = checked(p, v[0]);
}

void do_tag_rank(struct parse *p, char **v)
{
    (void)v;
    p->tag_rank = true;
}

void do_tag_job(struct parse *p, char **v)
{
    (void)v;
    p->tag_job = true;
}

void do_timestamp(struct parse *p, char **v)
{
    (void)v;
    p->timestamp = true;
}

/* As MPICH's and Open MPI's mpiexec write them. */
void options_prefix(struct parse *p)
{
    if (p->prepend)
        p->launch->prefix = p->prepend;
    else if (p->timestamp)
        p->launch->prefix = p->tag_job || p->tag_rank ? "%T[1,%r]<%s>:" : "%T<%s>:";
    else if (p->tag_job)
        p->launch->prefix = "[1,%r]<%s>:";
    else if (p->tag_rank)
        p->launch->prefix = "[%r] ";
}
