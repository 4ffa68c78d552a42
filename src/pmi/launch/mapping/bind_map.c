/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_map.c: which cores for which rank, as numbers.
 *
 * A unit is what ranks are counted in: a core, or a hardware thread where these are asked for.
 *
 * Invariants
 *   1. No unit serves a second rank while another one of the object serves none (of the node, without ppr).
 *   2. Shares: the units of an object, in the machine's order, are cut into consecutive pieces, one a rank, in
 *      proportion to the ranks' threads; every unit belongs to one. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "bind.h"
#include "pmi/launch/job/launch.h"

struct unit {
    int pu; /* its first usable hardware thread */
    int object;
    int used; /* ranks on it */
};

/* Where a rank was put: its share is of `object`, its own units are `mine`. */
struct spot {
    int rank, object, first;
    cpu_set_t mine;
};

struct node_map {
    const struct topology *t;
    const struct bind_policy *p;
    const cpu_set_t *avail;
    enum level unit_level;
    struct unit *unit;
    int nunits, nobjects;
    int round; /* every unit serves round - 1 ranks at least, as far as such that need several leave none over */
};

static enum level unit_level(const struct bind_policy *p)
{
    bool threads = p->hwthreads || (p->mapped && p->map_level == AT_HWTHREAD) ||
                   (p->to == BIND_LEVEL && p->to_level == AT_HWTHREAD);
    return threads ? AT_HWTHREAD : AT_CORE;
}

/* Core after core is the machine as one object. */
static enum level object_level(const struct bind_policy *p)
{
    return p->mapped && p->map_level > AT_CORE ? p->map_level
           : p->mapped && p->ppr               ? p->map_level
                                               : AT_MACHINE;
}

bool bind_is_default(const struct bind_policy *p)
{
    return p->to == BIND_DEFAULT && !p->share && !p->mapped && !p->pe;
}

static void list_units(struct node_map *m)
{
    enum level object = object_level(m->p);
    int before = -1, at = -1;
    m->unit = xalloc((size_t)m->t->npus, sizeof *m->unit);
    m->unit_level = unit_level(m->p);
    for (int i = 0; i < m->t->npus; i++) {
        const struct pu *p = &m->t->pu[i];
        if (!CPU_ISSET((size_t)p->os, m->avail))
            continue;
        bool same =
            m->nunits && p->at[m->unit_level] == m->t->pu[m->unit[m->nunits - 1].pu].at[m->unit_level];
        if (same)
            continue;
        if (m->nobjects == 0 || p->at[object] != before) {
            before = p->at[object];
            at = m->nobjects++;
        }
        m->unit[m->nunits++] = (struct unit){ i, at, 0 };
    }
}

int bind_units(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail)
{
    struct node_map m = { .t = t, .p = p, .avail = avail };
    list_units(&m);
    free(m.unit);
    return m.nunits;
}

void bind_widen(const struct topology *t, const cpu_set_t *avail, int pu, enum level level, cpu_set_t *set)
{
    int object = t->pu[pu].at[level];
    for (int i = 0; i < t->npus; i++)
        if (t->pu[i].at[level] == object && CPU_ISSET((size_t)t->pu[i].os, avail) && (object >= 0 || i == pu))
            CPU_SET((size_t)t->pu[i].os, set);
}

static void take_unit(const struct node_map *m, int u, cpu_set_t *set)
{
    bind_widen(m->t, m->avail, m->unit[u].pu, m->unit_level, set);
}

void bind_slice(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail, int before,
                int n, int all, cpu_set_t *slice)
{
    struct node_map m = { .t = t, .p = p, .avail = avail };
    list_units(&m);
    int first = (int)((long long)m.nunits * before / all);
    int end = (int)((long long)m.nunits * (before + n) / all);
    CPU_ZERO(slice);
    for (int u = first; u < end; u++)
        take_unit(&m, u, slice);
    if (first == end)
        *slice = *avail;
    free(m.unit);
}

/* ---- spots ---- */

/* Take `pe` units of the object for the spot, of those that serve the fewest; false: it has too few of them. */
static bool sit(struct node_map *m, struct spot *s, int object, int round, int pe)
{
    int have = 0;
    for (int u = 0; u < m->nunits; u++)
        have += m->unit[u].object == object && m->unit[u].used < round;
    if (have < pe)
        return false;
    s->object = object;
    s->first = -1;
    for (int u = 0; u < m->nunits && pe > 0; u++)
        if (m->unit[u].object == object && m->unit[u].used < round) {
            m->unit[u].used++;
            take_unit(m, u, &s->mine);
            s->first = s->first < 0 ? u : s->first;
            pe--;
        }
    return true;
}

/* Rank i of the mapping order: on the object whose turn it is, or the next that has room. */
static bool find_spot(struct node_map *m, struct spot *s, int i, int pe, bool *stacked)
{
    int ppr = m->p->ppr, first = ppr ? i / ppr : i % m->nobjects;
    if (ppr ? i % ppr == 0 : i == 0)
        m->round = 1;
    for (int last = m->round + 1; m->round <= last; m->round++)
        for (int k = 0; k < (ppr ? 1 : m->nobjects); k++)
            if (sit(m, s, (first + k) % m->nobjects, m->round, pe)) {
                *stacked |= m->round > 1;
                return true;
            }
    return false;
}

/* ---- --rank-by ---- */

static int by_core(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1)
                                : (x->rank < y->rank ? -1 : x->rank > y->rank);
}

/* Number the spots anew: in the order of the cores, or one of each object in turn. */
static void number(const struct node_map *m, struct spot *spot, int n)
{
    struct spot *sorted = xalloc((size_t)n, sizeof *sorted);
    bool *gone = xalloc((size_t)n, sizeof *gone);
    enum level level = m->p->rank_level;
    qsort(spot, (size_t)n, sizeof *spot, by_core);
    for (int done = 0; done < n;) {
        int before = -2;
        for (int i = 0; i < n; i++) {
            int object = m->t->pu[m->unit[spot[i].first].pu].at[level];
            if (gone[i] || (level != AT_MACHINE && object == before))
                continue;
            gone[i] = true;
            before = object;
            sorted[done] = spot[i];
            sorted[done].rank = done;
            done++;
        }
    }
    memcpy(spot, sorted, (size_t)n * sizeof *spot);
    free(sorted);
    free(gone);
}

/* ---- sets ---- */

/* Cut each object's units into shares for the ranks on it; false: on one of them are more threads than units. */
static bool share(struct node_map *m, const struct spot *spot, struct seat *seats, int n)
{
    for (int o = 0; o < m->nobjects; o++) {
        long long threads = 0, before = 0;
        int first = -1, units = 0;
        for (int u = 0; u < m->nunits; u++)
            if (m->unit[u].object == o) {
                first = first < 0 ? u : first;
                units++;
            }
        for (int i = 0; i < n; i++)
            threads += spot[i].object == o ? seats[spot[i].rank].threads : 0;
        if (threads > units)
            return false;
        for (int i = 0; i < n; i++) {
            struct seat *s = &seats[spot[i].rank];
            if (spot[i].object != o)
                continue;
            for (long long u = units * before / threads; u < units * (before + s->threads) / threads; u++)
                take_unit(m, first + (int)u, &s->cpus);
            s->bound = true;
            before += s->threads;
        }
    }
    return true;
}

/* The node's rank i gets the i-th set of the list, or one cpu after the other of the set that may be used. */
static bool by_list(const struct node_map *m, struct seat *seats, int n, const char **why)
{
    const char *at = m->p->list;
    for (int i = 0; i < n; i++) {
        char one[256];
        cpu_set_t usable;
        size_t len = strcspn(at, ",");
        *why = "a set of the list is not like 3, 0-3 or 0+2";
        if (len >= sizeof one)
            return false;
        memcpy(one, at, len);
        one[len] = '\0';
        for (char *plus; (plus = strchr(one, '+'));)
            *plus = ',';
        if (!cpulist_read(one, "", &seats[i].cpus))
            return false;
        CPU_AND(&usable, &seats[i].cpus, m->avail);
        *why = "a cpu of the list is not one that may be used here";
        if (!CPU_EQUAL(&usable, &seats[i].cpus))
            return false;
        seats[i].bound = true;
        at = at[len] ? at + len + 1 : m->p->list;
    }
    *why = NULL;
    return true;
}

/* Each rank's own line of --rankfile; who has none is not bound. */
static void by_rankfile(const struct node_map *m, struct seat *seats, int n)
{
    for (int i = 0; i < n; i++) {
        seats[i].bound = bind_rank_cores(m->p->list, seats[i].rank, m->t, m->avail, &seats[i].cpus);
        if (!seats[i].bound)
            seats[i].cpus = *m->avail;
    }
}

static void leave_unbound(struct seat *seats, int n, const cpu_set_t *avail)
{
    for (int i = 0; i < n; i++) {
        seats[i].bound = false;
        seats[i].cpus = *avail;
    }
}

/* Every rank's spot has been found: what it is bound to. */
static void bind_levels(const struct node_map *m, const struct spot *spot, struct seat *seats, int n)
{
    enum level to = m->p->to == BIND_LEVEL ? m->p->to_level : m->unit_level;
    for (int i = 0; i < n; i++) {
        struct seat *s = &seats[spot[i].rank];
        for (int k = 0; k < m->t->npus; k++)
            if (CPU_ISSET((size_t)m->t->pu[k].os, &spot[i].mine))
                bind_widen(m->t, m->avail, k, to, &s->cpus);
        s->bound = true;
    }
}

static bool refuse_map(const char **why, bool *refused, const char *text)
{
    *why = text;
    *refused = true;
    return false;
}

static bool map_spots(struct node_map *m, struct spot *spot, struct seat *seats, int n, const char **why,
                      bool *refused)
{
    const struct bind_policy *p = m->p;
    bool shares = p->to == BIND_DEFAULT && !p->pe, stacked = false;
    int pe = p->pe ? p->pe : 1;
    long long threads = 0;
    for (int i = 0; i < n; i++)
        threads += seats[i].threads;
    *why = "there are more ranks, or threads of ranks, than cores";
    if (shares && threads > m->nunits && !p->no_oversubscribe)
        return false;
    if (p->ppr && (n + p->ppr - 1) / p->ppr > m->nobjects)
        return refuse_map(why, refused, "ppr makes fewer ranks than the job has");
    for (int i = 0; i < n; i++) {
        spot[i].rank = i;
        if (!find_spot(m, &spot[i], i, pe, &stacked))
            return refuse_map(why, refused, "more cores a rank are asked for than there are");
    }
    if (p->ranked)
        number(m, spot, n);
    if (stacked && p->no_oversubscribe)
        return refuse_map(why, refused, "there are more ranks than cores, and NOOVERSUBSCRIBE was said");
    if (!shares) {
        bind_levels(m, spot, seats, n);
        *why = stacked && !p->overload_ok && p->to_level <= AT_CORE
                   ? "ranks share cores: there are more of them than cores"
                   : NULL;
        return true;
    }
    if (stacked || !share(m, spot, seats, n))
        return false;
    *why = NULL;
    return true;
}

bool bind_map(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail,
              struct seat *seats, int n, const char **why, bool *refused)
{
    struct node_map m = { .t = t, .p = p, .avail = avail };
    bool ok = true;
    *why = NULL;
    *refused = false;
    for (int i = 0; i < n; i++) {
        seats[i].bound = false;
        CPU_ZERO(&seats[i].cpus);
    }
    if (p->to == BIND_SET) {
        leave_unbound(seats, n, avail);
        return true;
    }
    list_units(&m);
    if (p->to == BIND_LIST) {
        ok = by_list(&m, seats, n, why);
        *refused = !ok;
    } else if (p->to == BIND_RANKS) {
        by_rankfile(&m, seats, n);
    } else {
        struct spot *spot = xalloc((size_t)n, sizeof *spot);
        ok = m.nunits > 0 && map_spots(&m, spot, seats, n, why, refused);
        free(spot);
    }
    free(m.unit);
    if (!ok || p->to == BIND_NONE)
        leave_unbound(seats, n, avail);
    return ok;
}
