/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c: see hosts.h.  Hosts are filled in the order in which they are named, up to the slots of each; where
 * ranks are left the round begins again, with as many slots more: more ranks than slots are fine, unless max_slots
 * forbids it. */
#define _GNU_SOURCE
#include "config.h"
#include "hosts.h"
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "options.h"
#include "rankfile.h"
#include "util/installed.h"

/* ---- which machine is meant ---- */

/* Does one of this machine's interfaces have this address? */
static bool is_own_address(const char *name, size_t n)
{
    struct ifaddrs *all = NULL;
    bool found = false;
    bool numbers = true;
    for (size_t i = 0; i < n; i++)
        numbers = numbers && (isdigit((unsigned char)name[i]) || name[i] == '.');
    if ((!numbers && !memchr(name, ':', n)) || getifaddrs(&all) != 0)
        return false;
    for (struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
        char text[NI_MAXHOST];
        socklen_t len = !a->ifa_addr                         ? 0
                        : a->ifa_addr->sa_family == AF_INET  ? sizeof(struct sockaddr_in)
                        : a->ifa_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                             : 0;
        found = len && getnameinfo(a->ifa_addr, len, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0 &&
                strlen(text) == n && strncasecmp(text, name, n) == 0;
    }
    freeifaddrs(all);
    return found;
}

/* Is this a name of the machine we are on?  Nothing is looked up. */
static bool is_here(const char *name, size_t n)
{
    char host[256] = "";
    if ((n == 9 && strncasecmp(name, "localhost", n) == 0) || (n == 3 && strncmp(name, "::1", n) == 0) ||
        (n > 4 && strncmp(name, "127.", 4) == 0) || is_own_address(name, n))
        return true;
    if (gethostname(host, sizeof host - 1) != 0)
        return false;
    size_t full = strlen(host), brief = strcspn(host, ".");
    return (n == full && strncasecmp(name, host, n) == 0) ||
           (n == brief && strncasecmp(name, host, n) == 0) ||
           (n > full && name[full] == '.' && strncasecmp(name, host, full) == 0);
}

/* ---- what is named ---- */

enum { ALL_CORES = -1 /* slots: as many as the machine has */ };

static int cores_here(struct parse *p, const char *name, size_t n, bool local)
{
    cpu_set_t set;
    if (!local)
        refuse(p, "%s: %.*s:*: how many cores another host has is not known here; expected a number", p->name,
               (int)n, name);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* All names of this machine are one host, the same name is; slots add up. */
static void add(struct parse *p, struct host_list *list, const char *name, size_t n, int slots, int most)
{
    bool local = is_here(name, n);
    if (slots == ALL_CORES)
        slots = cores_here(p, name, n, local);
    int at = 0;
    while (at < p->nhosts && !(p->hosts[at].local && local) &&
           !(strlen(p->hosts[at].name) == n && strncasecmp(p->hosts[at].name, name, n) == 0))
        at++;
    if (at == p->nhosts) {
        p->hosts = xgrow(p->hosts, (size_t)p->nhosts + 1, sizeof *p->hosts);
        p->hosts[p->nhosts++] = (struct host){ .name = xformat("%.*s", (int)n, name), .local = local };
    }
    int i = 0;
    while (i < list->n && list->at[i] != at)
        i++;
    if (i == list->n) {
        list->at = xgrow(list->at, (size_t)list->n + 1, sizeof *list->at);
        list->at[list->n++] = at;
    }
    struct host *h = &p->hosts[at];
    if (h->slots < 1 << 20)
        h->slots += slots > 0 ? slots : 1;
    h->most = most > 0 ? most : h->most;
    h->told = h->told || slots > 0;
}

/* A number up to a blank; 0 if it is none. */
static int count(const char *text, size_t n)
{
    char *end;
    long v = strtol(text, &end, 10);
    return n > 0 && end == text + n && v > 0 && v <= 1 << 20 ? (int)v : 0;
}

/* Where a host is named: in a file, or in an option's value. */
struct source {
    struct parse *p;
    const char *file; /* NULL: it is the option's value */
    int line;
    const char *text; /* the line's beginning */
};

static void wrong(const struct source *s, const char *at, size_t n, const char *expected)
{
    if (s->file)
        refuse(s->p, "%s: %s, line %d, column %d: \"%.*s\" is not understood; expected %s", s->p->name,
               s->file, s->line, (int)(at - s->text) + 1, (int)n, at, expected);
    else
        refuse(s->p, "%s: \"%.*s\" is not understood; expected %s", s->p->name, (int)n, at, expected);
}

/* What may follow a host's name. */
struct named {
    int slots, most;
    const char *user; /* NULL: not said */
    size_t nuser;
};
enum meaning { MEANS_SLOTS, MEANS_MOST, MEANS_USER, MEANS_NOTHING };
static const struct attribute {
    const char *name;
    enum meaning means;
} attributes[] = {
    { "slots", MEANS_SLOTS },    { "slot", MEANS_SLOTS },     { "cpus", MEANS_SLOTS },
    { "cpu", MEANS_SLOTS },      { "count", MEANS_SLOTS },    { "np", MEANS_SLOTS },
    { "max_slots", MEANS_MOST }, { "max-slots", MEANS_MOST }, { "slots_max", MEANS_MOST },
    { "slots-max", MEANS_MOST }, { "cpus_max", MEANS_MOST },  { "cpus-max", MEANS_MOST },
    { "max_cpus", MEANS_MOST },  { "max-cpus", MEANS_MOST },  { "count_max", MEANS_MOST },
    { "count-max", MEANS_MOST }, { "max_count", MEANS_MOST }, { "max-count", MEANS_MOST },
    { "user", MEANS_USER },      { "username", MEANS_USER },  { "user_name", MEANS_USER },
    { "user-name", MEANS_USER }, { "ifname", MEANS_NOTHING }, { "binding", MEANS_NOTHING },
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };
#define EXPECTED "slots=N, max_slots=N or user=NAME"

/* NAME=VALUE; false: it is not understood. */
static bool take_attribute(const struct source *s, const char *key, size_t nkey, const char *value,
                           size_t nvalue, struct named *host)
{
    static bool noted; /* once, not in each line */
    int i = 0, number = count(value, nvalue);
    while (i < ATTRIBUTES &&
           (strlen(attributes[i].name) != nkey || strncasecmp(attributes[i].name, key, nkey) != 0))
        i++;
    enum meaning means = i < ATTRIBUTES ? attributes[i].means : MEANS_NOTHING;
    bool counts = means == MEANS_SLOTS || means == MEANS_MOST;
    if (i == ATTRIBUTES || nvalue == 0 || (counts && number == 0))
        return false;
    if (counts)
        *(means == MEANS_MOST ? &host->most : &host->slots) = number;
    if (means == MEANS_USER) {
        host->user = value;
        host->nuser = nvalue;
    }
    if (means == MEANS_NOTHING && !noted)
        say("note: %s: %.*s=%.*s of one host: ignored; -iface and -bind-to hold for all", s->p->name,
            (int)nkey, key, (int)nvalue, value);
    noted = noted || means == MEANS_NOTHING;
    return true;
}

static size_t blanks(const char *at, const char *end)
{
    const char *p = at;
    while (p < end && isspace((unsigned char)*p))
        p++;
    return (size_t)(p - at);
}

static size_t letters(const char *at, const char *end, const char *but)
{
    const char *p = at;
    while (p < end && !isspace((unsigned char)*p) && !strchr(but, *p))
        p++;
    return (size_t)(p - at);
}

/* All that follow the name; there may be blanks on either side of '='. */
static bool take_attributes(const struct source *s, const char *at, const char *end, struct named *host)
{
    while ((at += blanks(at, end)) < end) {
        const char *key = at, *value = end;
        size_t nkey = letters(at, end, "="), nvalue = 0;
        at += nkey;
        at += blanks(at, end);
        if (at < end && *at == '=') {
            value = at + 1 + blanks(at + 1, end);
            nvalue = letters(value, end, "");
            at = value + nvalue;
        }
        if (!take_attribute(s, key, nkey, value, nvalue, host)) {
            wrong(s, key, nvalue ? (size_t)(value + nvalue - key) : nkey ? nkey : 1, EXPECTED);
            return false;
        }
    }
    return true;
}

/* The length of the host's name in a word like name, name:4, [::1]:4; and where it begins, how many slots.  0: it
 * is none. */
static size_t take_name(const char **name, size_t word, int *slots)
{
    const char *text = *name, *end = text + word, *colon = memrchr(text, ':', word);
    size_t len = word;
    if (text[0] == '[') {
        const char *close = memchr(text, ']', word);
        if (!close)
            return 0;
        ++*name;
        len = (size_t)(close - *name);
        colon = close + 1 < end ? close + 1 : NULL;
    } else if (colon && memchr(text, ':', (size_t)(colon - text))) { /* an IPv6 address */
        colon = NULL;
    } else if (colon) {
        len = (size_t)(colon - text);
    }
    *slots = !colon                                ? 0
             : end - colon == 2 && colon[1] == '*' ? ALL_CORES
                                                   : count(colon + 1, (size_t)(end - colon - 1));
    return (colon && (*colon != ':' || *slots == 0)) || strchr("-+^=", **name) ? 0 : len;
}

/* "name", "user@name", "name:slots", "[::1]:slots", then attributes. */
static void entry(const struct source *s, struct host_list *list, const char *text, size_t n)
{
    struct named host = { 0, 0, NULL, 0 };
    const char *end = text + n, *name = text += blanks(text, end);
    size_t word = letters(text, end, ""), len;
    if (word == 0)
        return;
    len = take_name(&name, word, &host.slots);
    if (len == 0) {
        wrong(s, text, word, "name, name:slots or \"name slots=N max_slots=N\"");
        return;
    }
    if (!take_attributes(s, text + word, end, &host))
        return;
    if (!host.user || memchr(name, '@', len)) {
        add(s->p, list, name, len, host.slots, host.most);
        return;
    }
    char *both = xformat("%.*s@%.*s", (int)host.nuser, host.user, (int)len, name);
    add(s->p, list, both, strlen(both), host.slots, host.most);
    free(both);
}

void place_names(struct parse *p, const char *names, bool all)
{
    struct host_list *list = all ? &p->all_hosts : &p->app_hosts;
    const struct source s = { .p = p };
    for (const char *h = names; *h; h += strcspn(h, ","), h += *h == ',')
        entry(&s, list, h, strcspn(h, ","));
}

int place_host(struct parse *p, const char *name)
{
    struct host_list ignored = { 0 };
    if (name[0] != '-')
        add(p, &ignored, name, strlen(name), 0, 0);
    int host = ignored.n ? ignored.at[0] : -1;
    free(ignored.at);
    return host;
}

void place_slots_on(struct parse *p, const char *name, int slots)
{
    add(p, &p->all_hosts, name, strlen(name), slots, 0);
}

/* All lists of hosts, without this machine. */
static void without_here(const struct parse *p, struct host_list *list)
{
    int n = 0;
    for (int i = 0; i < list->n; i++)
        if (!p->hosts[list->at[i]].local)
            list->at[n++] = list->at[i];
    list->n = n;
}

void place_not_here(struct parse *p)
{
    bool others = false;
    for (int i = 0; i < p->nhosts; i++)
        others = others || !p->hosts[i].local;
    if (!others) {
        say("note: -nolocal: ignored: no other host is named");
        return;
    }
    without_here(p, &p->all_hosts);
    for (int a = 0; a < p->launch->napps; a++)
        without_here(p, &p->lists[a]);
    for (int i = 0; p->all_hosts.n == 0 && i < p->nhosts;
         i++) /* as hosts_of has it where nothing is said for all */
        if (!p->hosts[i].local) {
            p->all_hosts.at = xgrow(p->all_hosts.at, (size_t)p->all_hosts.n + 1, sizeof *p->all_hosts.at);
            p->all_hosts.at[p->all_hosts.n++] = i;
        }
}

void place_file(struct parse *p, const char *name)
{
    FILE *f = fopen(name, "re");
    char *line = NULL;
    size_t cap = 0;
    if (!f) {
        refuse(p, "%s: %s: %s", p->name, name, strerror(errno));
        return;
    }
    for (struct source s = { .p = p, .file = name }; getline(&line, &cap, f) > 0;) {
        line[strcspn(line, "#\r\n")] = '\0';
        s.line++;
        s.text = line;
        entry(&s, &p->all_hosts, line, strlen(line));
    }
    free(line);
    fclose(f);
}

/* ---- -rankmap, -order-nodes ---- */

/* Of "(first,hosts,ranks)" the three numbers; the length of what was read, 0: it is none. */
static int map_block(const char *at, int v[3])
{
    int n = 0;
    return sscanf(at, "(%d ,%d ,%d )%n", &v[0], &v[1], &v[2], &n) == 3 && v[0] >= 0 && v[1] > 0 && v[2] > 0 &&
                   (int64_t)v[1] * v[2] <= 1 << 20
               ? n
               : 0;
}

static void map_add(struct parse *p, int host, int n)
{
    p->map = xgrow(p->map, (size_t)(p->nmap + n), sizeof *p->map);
    while (n-- > 0)
        p->map[p->nmap++] = host;
}

/* Numbers and blocks with commas; all of it may be "(vector,...)". */
void do_rankmap(struct parse *p, char **v)
{
    static const char vector[] = "(vector,";
    const char *at = v[0];
    bool whole = strncmp(at, vector, sizeof vector - 1) == 0;
    p->nmap = 0;
    at += whole ? sizeof vector - 1 : 0;
    for (bool more = true; more;) {
        int block[3] = { 0, 1, 1 }, n = map_block(at, block);
        if (n == 0 && (sscanf(at, "%d%n", &block[0], &n) < 1 || block[0] < 0 || p->nmap >= 1 << 20))
            n = 0;
        for (int i = 0; n && i < block[1]; i++)
            map_add(p, block[0] + i, block[2]);
        at += n;
        more = n && *at == ',' && at[1];
        at += more;
    }
    if ((whole && strcmp(at, ")") != 0) || (!whole && *at) || p->nmap == 0)
        refuse(p,
               "%s is \"%s\"; expected numbers of hosts from 0 on, a rank each, or (first,hosts,ranks), with "
               "commas",
               p->name, v[0]);
}

static int mapped_host(struct parse *p, int rank)
{
    int host = rank < p->nmap ? p->map[rank] : -1, hosts = p->nhosts ? p->nhosts : 1;
    if (host >= hosts)
        refuse(p, "-rankmap: rank %d is on host %d; %d host%s named, whose numbers are from 0 to %d", rank,
               host, hosts, hosts == 1 ? " is" : "s are", hosts - 1);
    return host < hosts ? host : -1;
}

void do_order_nodes(struct parse *p, char **v)
{
    p->by_slots = strcasecmp(v[0], "ascending") == 0 ? 1 : strcasecmp(v[0], "descending") == 0 ? -1 : 0;
    if (p->by_slots == 0)
        refuse(p, "%s is \"%s\"; expected ASCENDING or DESCENDING", p->name, v[0]);
}

/* Hosts with as many slots stay as they are named. */
static void order(const struct parse *p, struct host_list *list)
{
    for (int i = 1; p->by_slots && i < list->n; i++)
        for (int k = i; k > 0; k--) {
            int a = list->at[k - 1], b = list->at[k];
            if ((p->hosts[a].slots - p->hosts[b].slots) * p->by_slots <= 0)
                break;
            list->at[k - 1] = b;
            list->at[k] = a;
        }
}

/* ---- who goes where ---- */

/* The hosts of a section: its own; or those for all; or all that are named anywhere. */
static struct host_list hosts_of(struct parse *p, int app)
{
    struct host_list list = p->lists[app];
    if (list.n > 0)
        return list;
    if (p->all_hosts.n > 0)
        return p->all_hosts;
    list.at = xalloc((size_t)p->nhosts, sizeof *list.at);
    for (list.n = 0; list.n < p->nhosts; list.n++)
        list.at[list.n] = list.n;
    return list;
}

static int slots_of(struct parse *p, const struct host *h)
{
    return p->per_node ? p->per_node : h->slots;
}

int place_slots(struct parse *p, int app)
{
    struct host_list list = hosts_of(p, app);
    int64_t n = 0;
    for (int i = 0; i < list.n; i++)
        n += slots_of(p, &p->hosts[list.at[i]]);
    return n < 1 << 20 ? (int)n : 1 << 20;
}

/* The next host with room, from *at on; a round more if there is none.  -1: nowhere may be more. */
static int next_host(struct parse *p, const struct host_list *list, const int *used, int *at, int *rounds)
{
    bool any = false;
    for (int i = 0; i < list->n; i++) {
        int host = list->at[(*at + i) % list->n], most = p->hosts[host].most;
        bool may = most == 0 || used[host] < most;
        any = any || may;
        if (may && used[host] < *rounds * slots_of(p, &p->hosts[host])) {
            *at = (*at + i) % list->n;
            return host;
        }
    }
    if (!any)
        return -1;
    *at = 0;
    ++*rounds;
    return next_host(p, list, used, at, rounds);
}

/* The ranks of a section, from number `rank` on, to hosts by their numbers in p->hosts. */
static void place_section(struct parse *p, int app, int rank, int *used)
{
    struct launch *l = p->launch;
    struct host_list list = hosts_of(p, app);
    int at = 0, rounds = 1;
    order(p, &list);
    for (int i = 0; i < l->apps[app].n; i++) {
        int said = p->nmap ? mapped_host(p, rank + i) : rankfile_host(p->rankfile, rank + i);
        int host = said >= 0 ? said : next_host(p, &list, used, &at, &rounds);
        if (host < 0) {
            refuse(p, "the hosts have room for %d rank%s (max_slots); the job has %d", rank + i,
                   plural(rank + i), l->size);
            return;
        }
        l->node_of[rank + i] = host;
        used[host]++;
        if (said >= 0)
            continue;
        at = p->by_node ? (at + 1) % list.n : at;
    }
}

/* Hosts without a rank are left out. */
static void leave_out(struct parse *p, const int *used)
{
    struct launch *l = p->launch;
    int *number = xalloc((size_t)p->nhosts, sizeof *number);
    l->hosts = xalloc((size_t)p->nhosts, sizeof *l->hosts);
    l->nodes = 0;
    l->here = -1;
    for (int i = 0; i < p->nhosts; i++)
        if (used[i] > 0) {
            bool local = p->hosts[i].local;
            if (local)
                l->here = l->nodes;
            number[i] = l->nodes;
            l->hosts[l->nodes++] = p->hosts[i];
            l->remote = l->remote || !local;
        }
    for (int i = 0; i < l->size; i++)
        l->node_of[i] = number[l->node_of[i]];
    free(number);
}

/* The universe that nobody has said the size of: the slots of all hosts that are named, if somebody has said how
 * many each has. */
static void count_universe(const struct parse *p)
{
    int64_t slots = 0;
    for (int i = 0; i < p->nhosts; i++) {
        if (!p->hosts[i].told)
            return;
        slots += p->hosts[i].slots;
    }
    p->launch->universe = slots < INT_MAX ? (int)slots : INT_MAX;
}

enum { FANOUT_SURVIVES = 256 };

/* In blocks whose sizes differ by one at most. */
static void simulate(struct launch *l)
{
    if (l->nodes < 1 || l->nodes > l->size)
        l->nodes = l->nodes < 1 ? 1 : l->size;
    for (int i = 0, rank = 0; i < l->nodes; i++)
        for (int k = 0; k < l->size / l->nodes + (i < l->size % l->nodes); k++)
            l->node_of[rank++] = i;
}

/* Where the daemons' program is: where this one is, or below -prefix. */
static const char *daemon_path(const struct parse *p)
{
    char path[PATH_MAX];
    if (p->prefix)
        return xformat("%s/bin/" KEEL_MPIEXEC, p->prefix);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    return n > 0 ? xformat("%.*s", (int)n, path) : ku_installed_mpiexec();
}

void place_ranks(struct parse *p)
{
    struct launch *l = p->launch;
    l->node_of = xalloc((size_t)l->size, sizeof *l->node_of);
    rankfile_hosts(p);
    if (p->stop)
        return;
    if (p->nhosts > 0) {
        int *used = xalloc((size_t)p->nhosts, sizeof *used), rank = 0;
        for (int a = 0; a < l->napps && !p->stop; rank += l->apps[a++].n)
            place_section(p, a, rank, used);
        int fake = l->nodes;
        if (!p->stop)
            leave_out(p, used);
        free(used);
        if (l->universe == 0)
            count_universe(p);
        if (l->remote && fake > 1)
            refuse(p, "-fake-nodes is for jobs on one machine; the hosts named are several");
        if (!l->remote) {
            l->nodes = fake;
            simulate(l);
        }
    } else {
        for (int i = 0; i < p->nmap && !p->stop; i++)
            mapped_host(p, i);
        simulate(l);
    }
    if (l->how.fanout == 0) /* who is lost takes those with it that are reached through him */
        l->how.fanout = l->survives ? FANOUT_SURVIVES : 32;
    if (l->how.patience > 0) /* who tries again is mpiexec itself */
        l->how.fanout = 1 << 20;
    if (l->node_timeout < 0)
        l->node_timeout = 20;
    if (l->node_timeout == 0)
        l->node_timeout = NODE_PATIENCE;
    if (l->remote)
        l->how.daemon = daemon_path(p);
}
