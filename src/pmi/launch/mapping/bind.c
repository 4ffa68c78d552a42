/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.c: the plan of a job: policy, machine and other jobs together.
 *
 * The default (nothing said about binding) binds only where that can do no harm: every rank, with its threads, has
 * cores of its own; no quota takes some of them away; no other job has bound its ranks there; and nobody else is
 * running now who would be shut in with a rank.  Otherwise the kernel moves the ranks about, as it knows best. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "bind.h"
#include "pmi/launch/job/launch.h"
#include "util/cpus.h"
#include "util/segment.h"

static struct {
    struct topology t;
    cpu_set_t avail; /* what may be used of it */
    int n;           /* ranks here; the following are of each of them, node by node */
    int *rank, *node;
    struct seat *seats;
    int *index;      /* of each rank of the job: where it is in these; -1: not here */
    bool known;      /* the above is filled */
    bool real;       /* the ranks are really bound so */
    bool asked;      /* by the user: what fails is told */
    bool where;      /* and that is more than a share for each rank */
    const char *why; /* nothing is bound, because; or something to know of it; NULL */
} plan;

/* ---- the variables of threads ---- */

static bool in_list(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
            return true;
    return false;
}

static const char *value_of(const struct app *a, const char *name)
{
    size_t n = strlen(name);
    for (int i = a->edits.n; i-- > 0;)
        if (strncmp(a->edits.edit[i], name, n) == 0 && (!a->edits.edit[i][n] || a->edits.edit[i][n] == '='))
            return a->edits.edit[i][n] ? a->edits.edit[i] + n + 1 : NULL;
    bool inherits = a->inherit == INHERIT_LIST ? in_list(a->inherit_list, name) : a->inherit != INHERIT_NONE;
    return inherits ? getenv(name) : NULL;
}

/* Any of these says how long a thread spins that waits. */
static bool says_wait(const struct app *a)
{
    return value_of(a, "OMP_WAIT_POLICY") || value_of(a, "GOMP_SPINCOUNT") || value_of(a, "KMP_BLOCKTIME") ||
           value_of(a, "KMP_LIBRARY");
}

static int threads_of(const struct app *a)
{
    const char *value = value_of(a, "OMP_NUM_THREADS");
    long n = value ? strtol(value, NULL, 10) : 1;
    return n < 1 ? 1 : n > CPU_SETSIZE ? CPU_SETSIZE : (int)n;
}

/* ---- what others do ---- */

/* Threads that run now, but for this one.  What runs for a moment only is not counted: the least of some looks. */
static int running_now(int enough)
{
    int least = CPU_SETSIZE;
    for (int look = 0; look < 3 && least > enough; look++) {
        char text[128] = "";
        int n = 0, fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
        ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
            close(fd);
        if (got <= 0 || sscanf(text, "%*f %*f %*f %d", &n) != 1)
            return 0;
        least = n - 1 < least ? n - 1 : least;
        if (least > enough)
            nanosleep(&(struct timespec){ .tv_nsec = 30000 }, NULL);
    }
    return least;
}

/* ---- the plan of the nodes here, which are simulated if there are several ---- */

static const char *map_nodes(const struct launch *l, const cpu_set_t *avail)
{
    const char *why = NULL;
    bool refused = false;
    for (int first = 0, n; first < plan.n; first += n) {
        cpu_set_t slice;
        const char *text;
        for (n = 1; first + n < plan.n && plan.node[first + n] == plan.node[first];)
            n++;
        if (l->bind.to == BIND_RANKS) /* it knows nothing of simulated nodes */
            slice = *avail;
        else
            bind_slice(&plan.t, &l->bind, avail, first, n, plan.n, &slice);
        bool ok = bind_map(&plan.t, &l->bind, &slice, &plan.seats[first], n, &text, &refused);
        if (refused)
            die("%s: %d rank%s, %d core%s", text, n, plural(n), bind_units(&plan.t, &l->bind, &slice),
                plural(bind_units(&plan.t, &l->bind, &slice)));
        why = text ? text : why;
        if (!ok && !l->bind.cpu_set) { /* one node without room: none is bound */
            for (int i = 0; i < plan.n; i++) {
                plan.seats[i].bound = false;
                plan.seats[i].cpus = *avail;
            }
            break;
        }
    }
    return why;
}

static int all_bound(cpu_set_t *set)
{
    int n = 0;
    CPU_ZERO(set);
    for (int i = 0; i < plan.n; i++)
        if (plan.seats[i].bound) {
            CPU_OR(set, set, &plan.seats[i].cpus);
            n += plan.seats[i].threads;
        }
    return n;
}

static void unbind_all(const char *why)
{
    for (int i = 0; i < plan.n; i++) {
        plan.seats[i].bound = false;
        plan.seats[i].cpus = plan.avail;
    }
    plan.why = why;
}

/* Leave out the cores in which something is taken. */
static void without(const struct bind_policy *p, const cpu_set_t *taken, cpu_set_t *avail)
{
    cpu_set_t out;
    CPU_ZERO(&out);
    for (int i = 0; i < plan.t.npus; i++)
        if (CPU_ISSET((size_t)plan.t.pu[i].os, taken))
            bind_widen(&plan.t, avail, i, p->hwthreads ? AT_HWTHREAD : AT_CORE, &out);
    CPU_XOR(avail, avail, &out);
}

/* Claim what the plan takes in this tier; where another job was first, plan again on the rest.  False: the rest is too
 * little, or (if not *possible) claims do not work here. */
static bool claim_tier(const struct launch *l, cpu_set_t avail, int tier, bool *possible)
{
    const struct bind_policy *p = &l->bind;
    bool movable = !p->cpu_set && p->to != BIND_LIST && p->to != BIND_RANKS;
    cpu_set_t want, taken;
    while (all_bound(&want) > 0 && !bind_claim(tier, &want, &taken)) {
        *possible = CPU_COUNT(&taken) > 0;
        without(p, &taken, &avail);
        if (!*possible || !movable || bind_units(&plan.t, p, &avail) < (int64_t)plan.n * (p->pe ? p->pe : 1))
            return false;
        plan.why = map_nodes(l, &avail);
    }
    return true;
}

/* Where other jobs leave too few cores the default binds nothing; who asked for it gets what he asked for, on
 * those that the fewest jobs have. */
static void claim(const struct launch *l, const cpu_set_t *avail)
{
    bool by_default = bind_is_default(&l->bind), possible = true;
    int tier = 0;
    while (!claim_tier(l, *avail, tier, &possible)) {
        if (by_default) {
            unbind_all(possible ? "another job's ranks are bound to these cores"
                                : "cores cannot be claimed here, so that jobs side by side could not take "
                                  "different ones");
            return;
        }
        plan.why = map_nodes(l, avail);
        if (!possible)
            return;
        if (++tier == BIND_TIERS)
            break;
    }
    if (tier > 0 && !l->bind.overload_ok)
        plan.why = "another job's ranks are bound to the same cores";
}

/* Nothing to gain, or to lose: why the default does not even look at the machine. */
static const char *no_default(const cpu_set_t *avail)
{
    if (plan.n == 1)
        return "a rank alone has them all";
    if (ku_cpus() < (uint32_t)CPU_COUNT(avail))
        return "the cgroup's quota is less than the cores";
    return NULL;
}

static void check_load(void)
{
    cpu_set_t want;
    int need = all_bound(&want), cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (need > 0 && running_now(cpus - need) > cpus - need)
        unbind_all("others are running on this machine");
}

/* ---- reading the machine ---- */

/* What only hwloc knows is asked for, or it is to be told. */
static bool need_full(const struct bind_policy *p)
{
    const enum level levels[] = { p->to == BIND_LEVEL ? p->to_level : AT_CORE,
                                  p->mapped ? p->map_level : AT_CORE, p->ranked ? p->rank_level : AT_CORE };
    for (int i = 0; i < 3; i++)
        if (levels[i] == AT_L2 || levels[i] == AT_L3 || levels[i] == AT_PACKAGE)
            return true;
    return p->report || p->display || p->svg || topology_simulated() ||
           (p->to == BIND_RANKS && strchr(p->list, ':'));
}

static const char *no_level(const struct bind_policy *p)
{
    if (p->to == BIND_LEVEL && plan.t.count[p->to_level] == 0)
        return level_name[p->to_level];
    if (p->mapped && plan.t.count[p->map_level] == 0)
        return level_name[p->map_level];
    return p->ranked && plan.t.count[p->rank_level] == 0 ? level_name[p->rank_level] : NULL;
}

/* False with *why; a topology is there in any case in which true is returned. */
static bool read_machine(const struct bind_policy *p, const char **why)
{
    *why = "the machine's cpus cannot be read";
    if (plan.t.pu)
        return true;
    if (!need_full(p))
        return topology_quick(&plan.t);
    if (topology_full(&plan.t, why))
        return true;
    topology_free(&plan.t);
    if (topology_simulated())
        return false;
    if (!topology_quick(&plan.t))
        return false;
    if (no_level(p))
        return false;
    say("note: %s: packages and caches are not known", *why);
    return true;
}

int bind_count(const struct bind_policy *p, const char **why)
{
    if (!read_machine(p, why))
        return 0;
    *why = "the machine has none, or its kind is not known";
    int n = plan.t.count[p->map_level] * p->ppr;
    return n;
}

/* The cpus that may be used. */
static void limit(const struct bind_policy *p, cpu_set_t *avail)
{
    cpu_set_t set;
    char text[512];
    *avail = plan.t.avail;
    if (!p->cpu_set)
        return;
    cpulist_read(p->cpu_set, "", &set);
    CPU_AND(avail, avail, &set);
    if (!CPU_EQUAL(avail, &set))
        die("--cpu-set %s: not all of these cpus may be used here; %s may", p->cpu_set,
            cpulist_write(&plan.t.avail, text, sizeof text));
}

/* ---- the digest ---- */

static uint16_t common(const struct seat *s, enum level level)
{
    int found = -1;
    if (plan.t.count[level] == 0)
        return KU_PLACE_UNKNOWN;
    for (int i = 0; i < plan.t.npus; i++)
        if (CPU_ISSET((size_t)plan.t.pu[i].os, &s->cpus)) {
            if (found >= 0 && plan.t.pu[i].at[level] != found)
                return KU_PLACE_SEVERAL;
            found = plan.t.pu[i].at[level];
        }
    return found < 0 ? KU_PLACE_UNKNOWN : (uint16_t)found;
}

static void leave_place(struct ku_seg_place *to, const struct seat *s)
{
    int cores = 0, before = -1;
    for (int i = 0; i < plan.t.npus; i++)
        if (CPU_ISSET((size_t)plan.t.pu[i].os, &s->cpus)) {
            cores += plan.t.pu[i].at[AT_CORE] != before;
            before = plan.t.pu[i].at[AT_CORE];
        }
    *to = (struct ku_seg_place){ .flags = KU_PLACE_KNOWN | (s->bound ? KU_PLACE_BOUND : 0) |
                                          (s->bound && plan.where ? KU_PLACE_ASKED : 0),
                                 .cpus = (uint16_t)CPU_COUNT(&s->cpus),
                                 .cores = (uint16_t)cores,
                                 .l3 = common(s, AT_L3),
                                 .numa = common(s, AT_NUMA),
                                 .package = common(s, AT_PACKAGE),
                                 .core = common(s, AT_CORE) };
    for (size_t c = 0; c < KU_PLACE_CPUS; c++)
        if (CPU_ISSET(c, &s->cpus))
            to->set[c / 64] |= 1ull << c % 64;
}

/* The ranks of this node share cpus: then waiting must not spin, as if there were fewer cpus than ranks. */
static bool crowded(int node)
{
    for (int i = 0; i < plan.n; i++) {
        int inside = 0;
        for (int k = 0; k < plan.n && plan.seats[i].bound && plan.node[i] == node; k++) {
            cpu_set_t both;
            CPU_AND(&both, &plan.seats[k].cpus, &plan.seats[i].cpus);
            inside += plan.node[k] == node && plan.seats[k].bound && CPU_EQUAL(&both, &plan.seats[k].cpus);
        }
        if (inside > CPU_COUNT(&plan.seats[i].cpus))
            return true;
    }
    return false;
}

static void leave_digest(const struct launch *l, const struct ku_segment *segments)
{
    const int *count = plan.t.count;
    for (int i = 0; i < l->nodes; i++) {
        struct ku_seg_head *h = segments[i].head;
        if (!h)
            continue;
        h->machine = (struct ku_seg_machine){ .cpus = (uint16_t)plan.t.npus,
                                              .cores = (uint16_t)count[AT_CORE],
                                              .l3s = (uint16_t)count[AT_L3],
                                              .numas = (uint16_t)count[AT_NUMA],
                                              .packages = (uint16_t)count[AT_PACKAGE] };
        for (uint32_t k = 0; k < h->nlocal; k++)
            leave_place(ku_segment_place(&segments[i], k),
                        &plan.seats[plan.index[ku_segment_grank_of(&segments[i])[k]]]);
        if (plan.real && (plan.asked || l->bind.cpu_set) && h->cpus >= h->nlocal && crowded(i))
            h->cpus = h->nlocal > 1 ? h->nlocal - 1 : 1;
    }
}

/* ---- all of it ---- */

static void tell(const struct launch *l)
{
    const struct bind_policy *p = &l->bind;
    if (p->report && !p->svg)
        bind_report(l, &plan.t, plan.seats, plan.rank, plan.n, plan.why);
    else if (plan.asked && plan.why)
        say("note: %s", plan.why);
    if (p->display)
        bind_display(l, &plan.t, plan.seats, plan.rank, plan.n);
    if (p->svg && !bind_draw(p->svg, &plan.t, plan.seats, plan.n))
        die("--report-bindings: %s cannot be written: %m", p->svg);
}

/* Who is here, node by node. */
static void make_seats(const struct launch *l, const struct ku_segment *segments)
{
    plan.seats = xalloc((size_t)plan.n, sizeof *plan.seats);
    plan.index = xalloc((size_t)l->size, sizeof *plan.index);
    plan.rank = xalloc((size_t)plan.n, sizeof *plan.rank);
    plan.node = xalloc((size_t)plan.n, sizeof *plan.node);
    for (int i = 0; i < l->size; i++)
        plan.index[i] = -1;
    for (int i = 0, n = 0; i < l->nodes; i++)
        for (uint32_t k = 0; segments[i].head && k < segments[i].head->nlocal; k++, n++) {
            plan.rank[n] = ku_segment_grank_of(&segments[i])[k];
            plan.node[n] = i;
            plan.index[plan.rank[n]] = n;
        }
    for (int a = 0, rank = 0; a < l->napps; a++) {
        const struct app *app = &l->apps[a];
        struct seat like = { .threads = threads_of(app),
                             .says_threads = value_of(app, "OMP_NUM_THREADS") != NULL,
                             .says_wait = says_wait(app) };
        for (int i = 0; i < app->n; i++, rank++)
            if (plan.index[rank] >= 0) {
                like.rank = rank;
                plan.seats[plan.index[rank]] = like;
            }
    }
}

/* Node by node: simulated ones have their part of the cores each. */
static void tell_threads(const struct launch *l)
{
    const struct bind_policy *p = &l->bind;
    int quota = plan.real ? (int)ku_cpus() : CPU_SETSIZE;
    for (int first = 0, n; first < plan.n; first += n) {
        cpu_set_t slice = plan.avail;
        for (n = 1; first + n < plan.n && plan.node[first + n] == plan.node[first];)
            n++;
        if (p->to != BIND_RANKS)
            bind_slice(&plan.t, p, &plan.avail, first, n, plan.n, &slice);
        bind_threads(&plan.t, p, &slice, &plan.seats[first], n, quota * n / plan.n);
    }
}

static bool tells(const struct bind_policy *p)
{
    return p->report || p->display || p->svg;
}

static void choose(const struct launch *l)
{
    const struct bind_policy *p = &l->bind;
    bool by_default = bind_is_default(p) && !p->cpu_set;
    cpu_set_t avail;
    limit(p, &avail);
    plan.avail = avail;
    plan.why = by_default && plan.real ? no_default(&avail) : NULL;
    if (plan.why || (p->to == BIND_NONE && !tells(p))) {
        unbind_all(plan.why);
        return;
    }
    plan.why = map_nodes(l, &avail);
    if (p->to == BIND_NONE)
        plan.why = NULL;
    if (plan.real && !(p->to == BIND_LEVEL && p->to_level > AT_L2))
        claim(l, &avail);
    if (plan.real && by_default)
        check_load();
    for (int i = 0; i < plan.n && p->cpu_set; i++)
        plan.seats[i].bound = true;
}

void bind_plan(const struct launch *l, const struct ku_segment *segments)
{
    const struct bind_policy *p = &l->bind;
    const char *why;
    for (int i = 0; i < l->nodes; i++)
        plan.n += segments[i].head ? (int)segments[i].head->nlocal : 0;
    if (plan.n == 0)
        return;
    plan.asked = !bind_is_default(p) && p->to != BIND_NONE;
    plan.where = plan.asked && (p->to != BIND_DEFAULT || p->mapped || p->pe);
    if (!plan.asked && !p->cpu_set && !tells(p) && (plan.n == 1 || (p->to == BIND_NONE && p->untold)))
        return;
    if (!read_machine(p, &why)) {
        if (plan.asked || p->cpu_set || tells(p))
            die("ranks cannot be bound: %s", why);
        return;
    }
    if (no_level(p))
        die("this machine has no %s that is known", no_level(p));
    plan.real = !plan.t.simulated;
    make_seats(l, segments);
    choose(l);
    if (plan.n > 1 && !p->untold)
        tell_threads(l);
    plan.known = true;
    tell(l);
    leave_digest(l, segments);
}

const cpu_set_t *bind_of(int rank)
{
    return plan.known && plan.real && plan.seats[plan.index[rank]].bound ? &plan.seats[plan.index[rank]].cpus
                                                                         : NULL;
}

struct thread_advice bind_told(int rank)
{
    const struct seat *s = plan.known && plan.real ? &plan.seats[plan.index[rank]] : NULL;
    return s ? (struct thread_advice){ s->told, s->gives_way } : (struct thread_advice){ 0, false };
}

void bind_forget_told(void)
{
    const char *told = getenv(BIND_TOLD);
    char *text = told ? xformat("%s", told) : NULL, *next = text;
    for (char *word; next && (word = strsep(&next, " ")) != NULL;) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = '\0';
        const char *now = getenv(word);
        if (now && strcmp(now, value) == 0)
            unsetenv(word);
    }
    unsetenv(BIND_TOLD);
    free(text);
}

void bind_refused(int rank, int err)
{
    static bool told;
    plan.seats[plan.index[rank]].bound = false;
    if (plan.asked && !told)
        say("note: the kernel refuses to bind ranks (rank %d: %s); they run unbound", rank, strerror(err));
    told = true;
}
