/* SPDX-License-Identifier: BSD-3-Clause */
/* hostlist.c: see hostlist.h. */
#include "hostlist.h"
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/base/util.h"

enum { NAME_MOST = 256, BRACKETS_MOST = 8 };

struct names {
    char **name;
    int n;
    int brackets; /* of the name at hand */
};

static bool add(struct names *to, const char *name)
{
    if (to->n == HOSTLIST_MOST || !*name || name[0] == '-')
        return false;
    if ((to->n & (to->n - 1)) == 0)
        to->name = xgrow(to->name, to->n ? 2 * (size_t)to->n : 1, sizeof *to->name);
    to->name[to->n++] = xformat("%s", name);
    return true;
}

/* Digits at *at, which goes behind them: how many, and their value; 0: none, or too many. */
static int digits(const char **at, const char *end, long *value)
{
    int n = 0;
    for (*value = 0; *at < end && isdigit((unsigned char)**at) && n < 10; n++)
        *value = 10 * *value + (*(*at)++ - '0');
    return *at < end && isdigit((unsigned char)**at) ? 0 : n;
}

static bool expand(struct names *to, const char *prefix, const char *rest, const char *end);

/* One of "01-03,7": each number, as wide as the first is written. */
static bool expand_range(struct names *to, const char *prefix, const char **at, const char *close,
                         const char *end)
{
    char name[NAME_MOST];
    long first, last;
    int width = digits(at, close, &first);
    bool ok = width > 0;
    last = first;
    if (ok && *at < close && **at == '-') {
        ++*at;
        ok = digits(at, close, &last) > 0 && last >= first && last - first < HOSTLIST_MOST;
    }
    ok = ok && (*at == close || **at == ',');
    for (long i = first; i <= last && ok; i++)
        ok = snprintf(name, sizeof name, "%s%0*ld", prefix, width, i) < (int)sizeof name &&
             expand(to, name, close + 1, end);
    *at += *at < close;
    return ok;
}

/* `rest`, up to `end`, is what follows the prefix: it may have brackets yet. */
static bool expand(struct names *to, const char *prefix, const char *rest, const char *end)
{
    char name[NAME_MOST];
    const char *open = memchr(rest, '[', (size_t)(end - rest));
    const char *stop = open ? open : end;
    if (memchr(rest, ']', (size_t)(stop - rest)) ||
        snprintf(name, sizeof name, "%s%.*s", prefix, (int)(stop - rest), rest) >= (int)sizeof name)
        return false;
    if (!open)
        return add(to, name);
    const char *close = memchr(open, ']', (size_t)(end - open)), *at = open + 1;
    bool ok = close && at < close && to->brackets++ < BRACKETS_MOST;
    while (ok && at < close)
        ok = expand_range(to, name, &at, close, end);
    to->brackets--;
    return ok && close[-1] != ',';
}

/* Up to the next ',' that is in no brackets. */
static const char *end_of(const char *at)
{
    bool in = false;
    for (; *at && (in || *at != ','); at++)
        in = *at == '[' || (in && *at != ']');
    return at;
}

char **hostlist_names(const char *list, int *n)
{
    struct names all = { NULL, 0, 0 };
    bool ok = *list != '\0';
    for (const char *at = list; ok && at;) {
        const char *end = end_of(at);
        for (const char *c = at; c < end; c++)
            ok = ok && isgraph((unsigned char)*c);
        ok = ok && expand(&all, "", at, end);
        at = *end ? end + 1 : NULL;
    }
    if (!ok) {
        hostlist_free(all.name, all.n);
        return NULL;
    }
    *n = all.n;
    return all.name;
}

void hostlist_free(char **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

int hostlist_number(const char *list, int node)
{
    const char *at = list, *end = list + strlen(list);
    for (long before = 0; *at;) {
        long value, times = 1;
        if (digits(&at, end, &value) == 0 || value > HOSTLIST_MOST)
            return 0;
        if (at[0] == '(' && at[1] == 'x') {
            at += 2;
            if (digits(&at, end, &times) == 0 || times > HOSTLIST_MOST || *at++ != ')')
                return 0;
        }
        before += times;
        if (node < before)
            return (int)value;
        if (*at && *at++ != ',')
            return 0;
    }
    return 0;
}

/* ---- heterogeneous jobs of Slurm ---- */

const char *hostlist_said(const char *name, int group)
{
    char *full = group < 0 ? xformat("%s", name) : xformat("%s_HET_GROUP_%d", name, group);
    const char *said = getenv(full);
    free(full);
    return said;
}

int hostlist_groups(void)
{
    const char *said = getenv("SLURM_HET_SIZE");
    int n = said ? atoi(said) : 0;
    return n > 0 && n <= HOSTLIST_MOST && hostlist_said("SLURM_JOB_NODELIST", 0) ? n : 0;
}

int hostlist_group(const char *host)
{
    for (int group = 0; group < hostlist_groups(); group++) {
        const char *list = hostlist_said("SLURM_JOB_NODELIST", group);
        int n = 0, i = 0;
        char **name = list ? hostlist_names(list, &n) : NULL;
        while (name && i < n && strcmp(name[i], host) != 0)
            i++;
        bool is_in = name && i < n;
        if (name)
            hostlist_free(name, n);
        if (is_in)
            return group;
    }
    return -1;
}
