/* SPDX-License-Identifier: BSD-3-Clause */
/* options_env.c: the options that shape the ranks' environment. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "pmi/launch/base/abi_detect.h"
#include "options.h"

static void edit_env(struct app *a, char *edit)
{
    a->edits.edit = xgrow(a->edits.edit, (size_t)a->edits.n + 1, sizeof *a->edits.edit);
    a->edits.edit[a->edits.n++] = edit;
}

void env_for_all(struct parse *p, char *edit)
{
    edit_env(&p->all, edit);
}

/* NAME VALUE, or NAME=VALUE. */
static void set_pair(struct parse *p, struct app *a, char **v)
{
    if (!v[0][0] || v[0][0] == '=')
        refuse(p, "%s: \"%s\" is not the name of a variable", p->name, v[0]);
    else if (v[1])
        edit_env(a, xformat("%s=%s", v[0], v[1]));
    else if (strchr(v[0], '='))
        edit_env(a, v[0]);
    else
        refuse(p, "%s is \"%s\"; expected NAME VALUE or NAME=VALUE", p->name, v[0]);
}

void do_env(struct parse *p, char **v)
{
    set_pair(p, &p->app, v);
}

void do_genv(struct parse *p, char **v)
{
    set_pair(p, &p->all, v);
}

/* Who starts a rank reads the variable (start.c), on this and on other hosts. */
void do_abi(struct parse *p, char **v)
{
    char *folder = needs_folder(v[0]);
    bool word = strcmp(v[0], NEEDS_NO_ABI) == 0 || strcmp(v[0], NEEDS_ALWAYS) == 0;
    if (!word && (!v[0][0] || strchr(v[0], '/') || !folder))
        refuse(p, "%s is \"%s\"; expected standard, mpich, openmpi, always or none", p->name, v[0]);
    else
        edit_env(&p->all, xformat(NEEDS_ABI "=%s", v[0]));
    free(folder);
}

/* ---- networks ---- */

static char *more(char *list, char *one)
{
    char *longer = xformat("%s%s%s", list ? list : "", list ? "," : "", one);
    free(list);
    free(one);
    return longer;
}

static int ones(const unsigned char *mask, size_t n)
{
    int bits = 0;
    for (size_t i = 0; i < 8 * n && mask[i / 8] >> (7 - i % 8) & 1; i++)
        bits++;
    return bits;
}

/* 10.1.0.3/16, as KEEL_TCP_NETS has it; NULL: it has no address of the internet's. */
static char *network_of(const struct ifaddrs *a)
{
    char text[INET6_ADDRSTRLEN];
    int family = a->ifa_addr ? a->ifa_addr->sa_family : AF_UNSPEC;
    if (!a->ifa_netmask || (family != AF_INET && family != AF_INET6))
        return NULL;
    const void *at = family == AF_INET ? (const void *)&((const struct sockaddr_in *)a->ifa_addr)->sin_addr
                                       : (const void *)&((const struct sockaddr_in6 *)a->ifa_addr)->sin6_addr;
    const void *mask = family == AF_INET
                           ? (const void *)&((const struct sockaddr_in *)a->ifa_netmask)->sin_addr
                           : (const void *)&((const struct sockaddr_in6 *)a->ifa_netmask)->sin6_addr;
    inet_ntop(family, at, text, sizeof text);
    return xformat("%s/%d", text, ones(mask, family == AF_INET ? 4 : 16));
}

/* The names of this machine's interfaces, once each (getifaddrs has one for each address). */
static char *interfaces(void)
{
    char *names = NULL;
    struct if_nameindex *all = if_nameindex();
    for (struct if_nameindex *i = all; i && i->if_index != 0; i++)
        names = more(names, xformat("%s", i->if_name));
    if (all)
        if_freenameindex(all);
    return names;
}

/* The networks of one of this machine's interfaces, each behind `not`; NULL with a message said if there is none. */
static char *networks_of(struct parse *p, const char *name, const char * not )
{
    struct ifaddrs *all = NULL;
    char *list = NULL;
    bool there = false;
    if (getifaddrs(&all) != 0) {
        refuse(p, "%s: this machine's interfaces cannot be listed: %s", p->name, strerror(errno));
        return NULL;
    }
    for (struct ifaddrs *a = all; a; a = a->ifa_next) {
        bool it = strcmp(a->ifa_name, name) == 0;
        char *network = it ? network_of(a) : NULL;
        there = there || it;
        if (network) {
            list = more(list, xformat("%s%s", not, network));
            free(network);
        }
    }
    freeifaddrs(all);
    if (!there) {
        char *names = interfaces();
        refuse(
            p,
            "%s: this machine has no interface \"%s\"; expected one of %s, or a network such as 10.1.0.0/16",
            p->name, name, names ? names : "none");
        free(names);
    } else if (!list)
        refuse(p, "%s: the interface %s of this machine has no address", p->name, name);
    return list;
}

/* Networks are the same on all hosts, names of interfaces need not be.  The library reads the variable
 * (src/mpid/ch_tcp). */
static void use_networks(struct parse *p, const char *names, const char * not )
{
    static char *all; /* of -iface and -not-iface */
    bool by_environment = p->name[0] != '-';
    if (by_environment && getenv("KEEL_TCP_NETS"))
        return;
    for (const char *at = names; *at && !p->stop; at += strcspn(at, ","), at += *at == ',') {
        char *one = xformat("%.*s", (int)strcspn(at, ","), at);
        char *networks = strchr(one, '/') ? xformat("%s%s", not, one) : networks_of(p, one, not );
        if (networks)
            all = more(all, networks);
        free(one);
    }
    if (!all && !p->stop)
        refuse(p, "%s is \"%s\"; expected names of interfaces, or networks such as 10.1.0.0/16", p->name,
               names);
    else if (all)
        edit_env(&p->all, xformat("KEEL_TCP_NETS=%s", all));
}

void do_iface(struct parse *p, char **v)
{
    use_networks(p, v[0], "");
}

void do_not_iface(struct parse *p, char **v)
{
    use_networks(p, v[0], "!");
}

/* The library reads the variable (src/mpi/errhan). */
void do_initial_errhandler(struct parse *p, char **v)
{
    if (strcasecmp(v[0], "mpi_errors_are_fatal") != 0 && strcasecmp(v[0], "mpi_errors_abort") != 0 &&
        strcasecmp(v[0], "mpi_errors_return") != 0)
        refuse(p, "%s is \"%s\"; expected mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
               p->name, v[0]);
    else {
        edit_env(&p->app, xformat("KEEL_INITIAL_ERRHANDLER=%s", v[0]));
        said(p, "mpi_initial_errhandler", v[0]);
    }
}

/* The library reads the variable when it starts (src/mpi/init). */
void do_stream_buffering(struct parse *p, char **v)
{
    edit_env(&p->all, xformat("KEEL_STREAM_BUFFERING=%ld", whole_number(p, v[0], 0, 2)));
}

/* -x NAME (ranks have mpiexec's environment anyway) or NAME=VALUE. */
/* All variables whose names begin so, of "NAME*": passed on, or removed.  False: it is no such word. */
static bool all_named(struct parse *p, const char *pattern, bool keep)
{
    size_t n = strcspn(pattern, "=*");
    bool any = false;
    if (pattern[n] != '*' || pattern[n + 1])
        return false;
    for (char **e = environ; *e; e++)
        if (strncmp(*e, pattern, n) == 0 && strchr(*e, '=')) {
            edit_env(&p->all, keep ? *e : xformat("%.*s", (int)strcspn(*e, "="), *e));
            any = true;
        }
    if (!any)
        say("note: %s %s: there is no such variable in the environment", p->name, pattern);
    return true;
}

void do_x(struct parse *p, char **v)
{
    if (all_named(p, v[0], true))
        return;
    if (!v[0][0] || v[0][0] == '=')
        refuse(p, "%s is \"%s\"; expected NAME or NAME=VALUE", p->name, v[0]);
    else if (strchr(v[0], '='))
        edit_env(&p->all, v[0]);
    else if (getenv(v[0]))
        edit_env(&p->all, xformat("%s=%s", v[0], getenv(v[0])));
    else
        say("note: %s %s: there is no such variable in the environment", p->name, v[0]);
}

/* What the ranks would find under this name so far. */
static const char *value_now(const struct parse *p, const char *name)
{
    size_t n = strlen(name);
    for (int i = p->all.edits.n; i-- > 0;) {
        const char *edit = p->all.edits.edit[i];
        if (strncmp(edit, name, n) == 0 && (edit[n] == '=' || !edit[n]))
            return edit[n] ? edit + n + 1 : NULL;
    }
    return getenv(name);
}

/* NAME VALUE or NAME=VALUE, also NAME[c]: c goes between the values instead of ':'. */
static void join(struct parse *p, char **v, bool before)
{
    char *value = v[1] ? v[1] : strchr(v[0], '='), separator = ':';
    char *name = xformat("%.*s", (int)(v[1] ? strlen(v[0]) : strcspn(v[0], "=")), v[0]);
    size_t n = strlen(name);
    if (n > 3 && name[n - 1] == ']' && name[n - 3] == '[') {
        separator = name[n - 2];
        name[n - 3] = '\0';
    }
    if (!*name || strpbrk(name, "=[]"))
        refuse(p, "%s: \"%s\" is not the name of a variable", p->name, name);
    value += !v[1];
    const char *old = value_now(p, name);
    if (!old || !*old)
        edit_env(&p->all, xformat("%s=%s", name, value));
    else
        edit_env(&p->all, xformat("%s=%s%c%s", name, before ? value : old, separator, before ? old : value));
    free(name);
}

void do_prepend(struct parse *p, char **v)
{
    join(p, v, true);
}

void do_append(struct parse *p, char **v)
{
    join(p, v, false);
}

void do_unset(struct parse *p, char **v)
{
    if (all_named(p, v[0], false))
        return;
    if (!v[0][0] || strchr(v[0], '='))
        refuse(p, "%s: \"%s\" is not the name of a variable", p->name, v[0]);
    else
        edit_env(&p->all, v[0]);
}

/* A rank may have another working directory. */
char *options_absolute(const char *name)
{
    char *here = name[0] == '/' ? NULL : getcwd(NULL, 0),
         *path = xformat("%s%s%s", here ? here : "", here ? "/" : "", name);
    free(here);
    return path;
}

void do_recovery(struct parse *p, char **v)
{
    (void)v;
    p->launch->survives = true;
    edit_env(&p->all, SURVIVES "=1");
}

void do_no_cleanup(struct parse *p, char **v)
{
    do_recovery(p, v);
    p->launch->counts_failed = true;
}

void do_with_ft(struct parse *p, char **v)
{
    static const char *const yes[] = { "ulfm", "mpi", "true", "yes", "1" }, *const no[] = { "none", "false",
                                                                                            "no", "0" };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(v[0], yes[i]) == 0) {
            do_recovery(p, v);
            return;
        }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(v[0], no[i]) == 0)
            return;
    refuse(p, "%s %s: expected ulfm, mpi, true, none or false", p->name, v[0]);
}

/* The ranks append to it, so what is there from before goes now. */
void do_trace(struct parse *p, char **v)
{
    char *name = options_absolute(v[0]);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        refuse(p, "%s: %s cannot be written: %s", p->name, name, strerror(errno));
    else
        close(fd);
    edit_env(&p->all, xformat("KEEL_TRACE=%s", name));
    free(name);
}

/* "0,4-7": is it that? */
static bool is_rank_list(const char *at)
{
    for (;;) {
        char *end;
        long first = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : -1, last = first;
        if (first >= 0 && *end == '-')
            last = end[1] >= '0' && end[1] <= '9' ? strtol(end + 1, &end, 10) : -1;
        if (first < 0 || last < first || (*end && *end != ','))
            return false;
        if (!*end)
            return true;
        at = end + 1;
    }
}

void do_trace_ranks(struct parse *p, char **v)
{
    if (!is_rank_list(v[0]))
        refuse(p, "%s: \"%s\" is no list of ranks; expected numbers and ranges, as 0,4-7", p->name, v[0]);
    else
        edit_env(&p->all, xformat("KEEL_TRACE_RANKS=%s", v[0]));
}

void do_listen(struct parse *p, char **v)
{
    const char *old = value_now(p, "KEEL_LISTENERS");
    char *copy = xformat("%s", v[0]), *save = NULL, *all = xformat("%s", old ? old : "");
    for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
        char *path = options_absolute(name), *more = xformat("%s%s%s", all, *all ? "," : "", path);
        free(path);
        free(all);
        all = more;
    }
    if (!*all)
        refuse(p, "%s: no file is named", p->name);
    edit_env(&p->all, xformat("KEEL_LISTENERS=%s", all));
    free(copy);
    free(all);
}

/* The rules of the file behind what KEEL_COLL says so far, for the first that fits a call counts. */
void do_coll_tuning(struct parse *p, char **v)
{
    FILE *f = fopen(v[0], "r");
    const char *old = value_now(p, "KEEL_COLL");
    char *line = NULL, *rules = xformat("%s", old ? old : "");
    size_t room = 0;
    if (!f)
        refuse(p, "%s %s: %s", p->name, v[0], strerror(errno));
    for (int at = 1; f && getline(&line, &room, f) >= 0; at++) {
        char *word = line + strspn(line, " \t");
        word[strcspn(word, " \t\r\n#")] = '\0';
        if (*word && (!strchr(word, '=') || strchr(word, ',')))
            refuse(p, "%s %s, line %d: \"%s\"; expected collective:BYTES:RANKS=algorithm", p->name, v[0], at,
                   word);
        else if (*word) {
            char *more = xformat("%s%s%s", rules, *rules ? "," : "", word);
            free(rules);
            rules = more;
        }
    }
    if (f)
        fclose(f);
    edit_env(&p->all, xformat("KEEL_COLL=%s", rules));
    free(line);
    free(rules);
}

static void inherit_list(struct app *a, char **v)
{
    a->inherit = INHERIT_LIST;
    a->inherit_list = v[0];
}

void do_envlist(struct parse *p, char **v)
{
    inherit_list(&p->app, v);
}

void do_genvlist(struct parse *p, char **v)
{
    inherit_list(&p->all, v);
}

void do_envnone(struct parse *p, char **v)
{
    (void)v;
    p->app.inherit = INHERIT_NONE;
}

void do_genvnone(struct parse *p, char **v)
{
    (void)v;
    p->all.inherit = INHERIT_NONE;
}

void do_envall(struct parse *p, char **v)
{
    (void)v;
    p->app.inherit = INHERIT_ALL;
}

void do_genvall(struct parse *p, char **v)
{
    (void)v;
    p->all.inherit = INHERIT_ALL;
}
