/* SPDX-License-Identifier: BSD-3-Clause */
/* options_bind.c: the options that say where ranks run, in MPICH's and Open MPI's spellings. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "options.h"
#include "pmi/launch/mapping/bind.h"

static bool is(const char *word, size_t n, const char *name)
{
    return n == strlen(name) && strncasecmp(word, name, n) == 0;
}

/* The names of the objects that cores are part of. */
static bool level_named(const char *word, size_t n, enum level *level)
{
    static const struct {
        const char *name;
        enum level level;
    } names[] = { { "hwthread", AT_HWTHREAD }, { "core", AT_CORE },       { "l1cache", AT_CORE },
                  { "l1", AT_CORE },           { "l2cache", AT_L2 },      { "l2", AT_L2 },
                  { "l3cache", AT_L3 },        { "l3", AT_L3 },           { "numa", AT_NUMA },
                  { "socket", AT_PACKAGE },    { "package", AT_PACKAGE }, { "board", AT_MACHINE },
                  { "machine", AT_MACHINE },   { "node", AT_MACHINE },    { "slot", AT_MACHINE } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(word, n, names[i].name)) {
            *level = names[i].level;
            return true;
        }
    return false;
}

/* The next word of `*at`, which ends at ':', or, among qualifiers, at ',' too; its length. */
static size_t next_word(const char **at, const char *ends)
{
    return strcspn(*at, ends);
}

static void skip_word(const char **at, size_t n)
{
    *at += n;
    *at += **at != '\0';
}

static bool whole(const char *word, size_t n, int *value)
{
    char *end;
    long k = strtol(word, &end, 10);
    if (n == 0 || end != word + n || k < 1 || k > CPU_SETSIZE)
        return false;
    *value = (int)k;
    return true;
}

/* ---- --bind-to ---- */

static void bind_qualifiers(struct parse *p, const char *at)
{
    struct bind_policy *b = &p->launch->bind;
    while (*at && !p->stop) {
        size_t n = next_word(&at, ":,");
        if (is(at, n, "overload-allowed") || is(at, n, "overload"))
            b->overload_ok = true;
        else if (is(at, n, "no-overload") || is(at, n, "nooverload"))
            b->no_oversubscribe = true;
        else if (is(at, n, "report"))
            b->report = true;
        else if (!is(at, n, "if-supported") && !is(at, n, "ordered") && !whole(at, n, &b->pe))
            refuse(p,
                   "%s: \"%.*s\" is not known; expected a number of cores, overload-allowed, no-overload or "
                   "if-supported",
                   p->name, (int)n, at);
        skip_word(&at, n);
    }
}

void do_bind_to(struct parse *p, char **v)
{
    struct bind_policy *b = &p->launch->bind;
    const char *at = v[0];
    size_t n = next_word(&at, ":");
    b->to = BIND_LEVEL;
    b->share = false;
    if (is(at, n, "user") && at[n]) {
        b->to = BIND_LIST;
        b->list = at + n + 1;
        return;
    }
    if (is(at, n, "none"))
        b->to = BIND_NONE;
    else if (is(at, n, "cpuset"))
        b->to = BIND_SET;
    else if (is(at, n, "cpu-list")) {
        b->to = strstr(at, "ordered") ? BIND_LEVEL : BIND_SET;
        b->to_level = AT_HWTHREAD;
    } else if (n == 0) /* --bind-to :overload-allowed */
        b->to = BIND_DEFAULT;
    else if (is(at, n, "share")) {
        b->to = BIND_DEFAULT;
        b->share = true;
    } else if (is(at, n, "rr"))
        b->to_level = AT_CORE;
    else if (is(at, n, "slot") || is(at, n, "node") || !level_named(at, n, &b->to_level))
        refuse(
            p,
            "%s is \"%s\"; expected none, share, core, hwthread, l2cache, l3cache, numa, package (socket), "
            "board, cpuset, "
            "rr or user:LIST",
            p->name, v[0]);
    at += n;
    bind_qualifiers(p, at + (*at == ':'));
}

void do_bind_core(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.to = BIND_LEVEL;
    p->launch->bind.to_level = AT_CORE;
}

void do_bind_socket(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.to = BIND_LEVEL;
    p->launch->bind.to_level = AT_PACKAGE;
}

void do_bind_none(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.to = BIND_NONE;
}

/* ---- --map-by ---- */

static bool map_qualifier(struct bind_policy *b, const char *word, size_t n)
{
    static const char *const nothing[] = { "oversubscribe", "span",    "corecpus", "inherit",
                                           "noinherit",     "ordered", "launch",   "nodisplay" };
    if (n > 3 && strncasecmp(word, "pe=", 3) == 0)
        return whole(word + 3, n - 3, &b->pe);
    if (is(word, n, "nooversubscribe"))
        b->no_oversubscribe = true;
    else if (is(word, n, "hwtcpus"))
        b->hwthreads = true;
    else if (is(word, n, "display"))
        b->display = true;
    else if (is(word, n, "donotlaunch"))
        b->no_launch = true;
    else if (is(word, n, "oversubscribe"))
        b->overload_ok = true;
    else {
        for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
            if (is(word, n, nothing[i]))
                return true;
        return false;
    }
    return true;
}

/* pe-list=0,2-3: these cpus only; with `ordered` behind it, the node's rank i has the i-th of them. */
static void map_list(struct parse *p, const char *list, size_t n, bool ordered)
{
    struct bind_policy *b = &p->launch->bind;
    char *text = xformat("%.*s", (int)n, list), *each = xformat("%s", "");
    cpu_set_t set;
    if (!cpulist_read(text, "", &set)) {
        refuse(p, "%s: pe-list=%s: expected numbers of cpus such as 0-3,8", p->name, text);
        return;
    }
    b->cpu_set = text; /* kept */
    for (int cpu = 0; ordered && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &set)) {
            char *longer = xformat("%s%s%d", each, *each ? "," : "", cpu);
            free(each);
            each = longer;
        }
    if (ordered) {
        b->to = BIND_LIST;
        b->list = each; /* kept */
    } else {
        free(each);
    }
}

/* Open MPI 5's qualifiers that have a value of their own, up to ':'; the length of what was taken, 0: it is none. */
static size_t map_value(struct parse *p, const char *at)
{
    static const char list[] = "pe-list=", file[] = "file=", ordered[] = ":ordered";
    size_t n = strcspn(at, ":");
    char *value = NULL;
    if (strncasecmp(at, list, sizeof list - 1) == 0) {
        map_list(p, at + sizeof list - 1, n - (sizeof list - 1),
                 strncasecmp(at + n, ordered, sizeof ordered - 1) == 0);
        return n;
    }
    if (strncasecmp(at, file, sizeof file - 1) != 0)
        return 0;
    value = xformat("%.*s", (int)(n - (sizeof file - 1)), at + sizeof file - 1); /* kept */
    do_rankfile(p, &value);
    return n;
}

static void map_qualifiers(struct parse *p, const char *at)
{
    while (*at && !p->stop) {
        size_t n = map_value(p, at);
        if (n > 0) {
            skip_word(&at, n);
            continue;
        }
        n = next_word(&at, ":,");
        p->not_here = p->not_here || is(at, n, "nolocal");
        if (n && !is(at, n, "nolocal") && !map_qualifier(&p->launch->bind, at, n))
            refuse(p,
                   "%s: \"%.*s\" is not known; expected PE=N, PE-LIST=CPUS, SPAN, OVERSUBSCRIBE, "
                   "NOOVERSUBSCRIBE or HWTCPUS",
                   p->name, (int)n, at);
        skip_word(&at, n);
    }
}

/* slot and node are what the numbering of the ranks does anyway: they choose nothing. */
static bool map_level(struct bind_policy *b, const char *word, size_t n)
{
    if (is(word, n, "board") || is(word, n, "machine") || !level_named(word, n, &b->map_level))
        return false;
    b->ppr = 0;
    b->mapped = !is(word, n, "slot") && !is(word, n, "node");
    return true;
}

/* N:LEVEL, and what follows. */
static void map_ppr(struct parse *p, const char *at)
{
    struct bind_policy *b = &p->launch->bind;
    int count = 0;
    size_t n = next_word(&at, ":");
    bool ok = whole(at, n, &count) && at[n];
    if (ok) {
        at += n + 1;
        n = next_word(&at, ":,");
        ok = map_level(b, at, n);
    }
    if (!ok) {
        refuse(p, "%s: a number of ranks and what for is expected, such as ppr:2:package or ppr:4:node",
               p->name);
        return;
    }
    if (b->mapped)
        b->ppr = count;
    else
        p->per_node = count;
    skip_word(&at, n);
    map_qualifiers(p, at);
}

void do_map_by(struct parse *p, char **v)
{
    struct bind_policy *b = &p->launch->bind;
    const char *at = v[0];
    size_t n = next_word(&at, ":");
    if (is(at, n, "ppr") && at[n]) {
        map_ppr(p, at + n + 1);
        return;
    }
    if (n && at[0] >= '0' && at[0] <= '9') { /* -ppr N:level */
        map_ppr(p, at);
        return;
    }
    if (strncasecmp(at, "pe-list=", 8) == 0) {
        map_qualifiers(p, at);
        return;
    }
    if (is(at, n, "rankfile") && strncasecmp(at + n, ":file=", 6) == 0) {
        map_qualifiers(p, at + n + 1);
        return;
    }
    if (is(at, n, "rr") || is(at, n, "seq") || is(at, n, "dist") || is(at, n, "rankfile"))
        say("note: %s %s: ignored: ranks are mapped by slot", p->name, v[0]);
    else if (n && !map_level(b, at, n))
        refuse(p,
               "%s is \"%s\"; expected core, hwthread, l2cache, l3cache, numa, package (socket), slot, node "
               "or ppr:N:one "
               "of these",
               p->name, v[0]);
    p->by_node = n ? is(at, n, "node") : p->by_node;
    skip_word(&at, n);
    map_qualifiers(p, at);
}

void do_map_word(struct parse *p, char **v)
{
    const char *name = p->name + strspn(p->name, "-");
    char *level = strcmp(name, "bycore") == 0 ? "core" : strcmp(name, "bynode") == 0 ? "node" : "slot";
    (void)v;
    do_map_by(p, &level);
}

void do_npersocket(struct parse *p, char **v)
{
    char *text = xformat("%s:package", v[0]);
    map_ppr(p, text);
    free(text);
}

/* ---- the rest ---- */

void do_rank_by(struct parse *p, char **v)
{
    struct bind_policy *b = &p->launch->bind;
    size_t n = strcspn(v[0], ":");
    b->ranked = false;
    if (is(v[0], n, "slot") || is(v[0], n, "node") || is(v[0], n, "span"))
        return;
    b->ranked = true;
    if (is(v[0], n, "fill") || is(v[0], n, "core") || is(v[0], n, "hwthread"))
        b->rank_level = AT_MACHINE;
    else if (!level_named(v[0], n, &b->rank_level))
        refuse(p,
               "%s is \"%s\"; expected slot, fill, span, node, core, hwthread, l3cache, numa or package "
               "(socket)",
               p->name, v[0]);
}

void do_cpus_per_rank(struct parse *p, char **v)
{
    p->launch->bind.pe = (int)whole_number(p, v[0], 1, CPU_SETSIZE);
}

void do_cpu_set(struct parse *p, char **v)
{
    cpu_set_t set;
    if (!cpulist_read(v[0], "", &set))
        refuse(p, "%s is \"%s\"; expected numbers of cpus such as 0-3,8", p->name, v[0]);
    p->launch->bind.cpu_set = v[0];
}

void do_hwthreads(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.hwthreads = true;
}

void do_oversubscribe(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.overload_ok = true;
}

void do_no_oversubscribe(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.no_oversubscribe = true;
}

void do_report_bindings(struct parse *p, char **v)
{
    p->launch->bind.report = true;
    p->launch->bind.svg = v[0] && *v[0] ? v[0] : p->launch->bind.svg;
}

void do_display_map(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.display = true;
}

/* Open MPI 5's: words separated by commas. */
void do_display(struct parse *p, char **v)
{
    for (const char *at = v[0]; *at;) {
        size_t n = strcspn(at, ",:");
        if (is(at, n, "map") || is(at, n, "map-devel"))
            p->launch->bind.display = true;
        else if (is(at, n, "bind") || is(at, n, "bindings"))
            p->launch->bind.report = true;
        else if (!is(at, n, "parseable") && !is(at, n, "parsable"))
            say("note: %s %.*s: ignored: map and bindings are what can be shown", p->name, (int)n, at);
        skip_word(&at, n);
    }
}

void do_threads(struct parse *p, char **v)
{
    size_t n = strlen(v[0]);
    if (!is(v[0], n, "share") && !is(v[0], n, "none"))
        refuse(p, "%s is \"%s\"; expected share or none", p->name, v[0]);
    else
        p->launch->bind.untold = is(v[0], n, "none");
}

void do_no_launch(struct parse *p, char **v)
{
    (void)v;
    p->launch->bind.no_launch = true;
}

/* -n is not said: ppr:N:level makes N ranks an object of the level. */
int options_ppr(struct parse *p)
{
    const char *why;
    if (!p->launch->bind.ppr)
        return 0;
    int n = bind_count(&p->launch->bind, &why);
    if (n < 1 || n > 1 << 20)
        refuse(p, "without -n the number of ranks is that of the %ss, which is not known: %s",
               level_name[p->launch->bind.map_level], why);
    return n;
}
