/* place.c: see place.h.  Hosts are filled in the order in which they are named, up to the slots of each; where ranks are left
 * the round begins again, with as many slots more: more ranks than slots are fine, unless max_slots forbids it. */
#define _GNU_SOURCE
#include "config.h"
#include "place.h"
#include <ctype.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netdb.h>
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

/* All names of this machine are one host, the same name is; slots add up. */
static void add(struct parse *p, struct host_list *list, const char *name, size_t n, int slots, int most)
{
    bool local = is_here(name, n);
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
}

/* A number up to a blank; 0 if it is none. */
static int count(const char *text, size_t n)
{
    char *end;
    long v = strtol(text, &end, 10);
    return n > 0 && end == text + n && v > 0 && v <= 1 << 20 ? (int)v : 0;
}

/* "slots=4", "max_slots=8", "max-slots=8", "cpu=4", "count=4"; other words say nothing here. */
static bool attribute(const char *word, size_t n, int *slots, int *most)
{
    static const struct {
        const char *name;
        bool most;
    } names[] = { { "slots=", false }, { "max_slots=", true }, { "max-slots=", true },
                  { "cpu=", false },   { "count=", false },    { "np=", false } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i].name);
        if (n > len && strncasecmp(word, names[i].name, len) == 0) {
            int v = count(word + len, n - len);
            *(names[i].most ? most : slots) = v;
            return v > 0;
        }
    }
    return true;
}

/* "name", "user@name", "name:slots", "[::1]:slots", then words. */
static void entry(struct parse *p, struct host_list *list, const char *text, size_t n)
{
    int slots = 0, most = 0;
    bool ok = true;
    while (n > 0 && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    size_t word = 0;
    while (word < n && !isspace((unsigned char)text[word]))
        word++;
    if (word == 0)
        return;
    const char *name = text, *colon = memrchr(text, ':', word);
    size_t len = word;
    if (colon && memchr(text, ':', (size_t)(colon - text)) && text[0] != '[') /* an IPv6 address */
        colon = NULL;
    if (text[0] == '[') {
        const char *close = memchr(text, ']', word);
        ok = close != NULL;
        name++;
        len = close ? (size_t)(close - name) : word - 1;
        colon = close && close + 1 < text + word ? close + 1 : NULL;
    } else if (colon) {
        len = (size_t)(colon - text);
    }
    if (colon) {
        slots = count(colon + 1, (size_t)(text + word - colon - 1));
        ok = ok && *colon == ':' && slots > 0;
    }
    for (size_t at = word; at < n;) {
        size_t w = 0;
        while (at + w < n && !isspace((unsigned char)text[at + w]))
            w++;
        ok = ok && attribute(text + at, w, &slots, &most);
        at += w + 1;
    }
    if (!ok || len == 0 || name[0] == '-')
        refuse(p, "%s: \"%.*s\" is no host; expected name, name:slots or \"name slots=N max_slots=N\"",
               p->name, (int)n, text);
    else
        add(p, list, name, len, slots, most);
}

void place_names(struct parse *p, const char *names, bool all)
{
    struct host_list *list = all ? &p->all_hosts : &p->app_hosts;
    for (const char *h = names; *h; h += strcspn(h, ","), h += *h == ',')
        entry(p, list, h, strcspn(h, ","));
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

void place_file(struct parse *p, const char *name)
{
    FILE *f = fopen(name, "re");
    char *line = NULL;
    size_t cap = 0;
    if (!f) {
        refuse(p, "%s: %s: %s", p->name, name, strerror(errno));
        return;
    }
    while (getline(&line, &cap, f) > 0) {
        line[strcspn(line, "#\r\n")] = '\0';
        entry(p, &p->all_hosts, line, strlen(line));
    }
    free(line);
    fclose(f);
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
    for (int i = 0; i < l->apps[app].n; i++) {
        int said = rankfile_host(p->rankfile, rank + i);
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
        if (l->remote && fake > 1)
            refuse(p, "-fake-nodes is for jobs on one machine; the hosts named are several");
        if (!l->remote) {
            l->nodes = fake;
            simulate(l);
        }
    } else {
        simulate(l);
    }
    if (l->how.fanout == 0)
        l->how.fanout = 32;
    if (l->how.patience > 0) /* who tries again is mpiexec itself */
        l->how.fanout = 1 << 20;
    if (l->node_timeout < 0)
        l->node_timeout = 20;
    if (l->node_timeout == 0)
        l->node_timeout = NODE_PATIENCE;
    if (l->remote)
        l->how.daemon = daemon_path(p);
}
