/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h: pieces of the command line's reader. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include "pmi/launch/job/launch.h"

/* Hosts by their numbers in the parse's list. */
struct host_list {
    int *at, n;
};

struct parse {
    struct launch *launch;
    struct app all;     /* what -genv and its like say for every section */
    struct app app;     /* the section being read */
    int per_node;       /* -ppn; also the number of ranks if -n is not given */
    bool not_here;      /* -nolocal: no rank on this machine */
    int *map, nmap;     /* -rankmap: the host of each rank, by its number in `hosts` */
    int by_slots;       /* -order-nodes: 1 ascending, -1 descending, 0 as named */
    bool by_node;       /* -map-by node: ranks are dealt out to the hosts in turn */
    struct host *hosts; /* all that are named, hosts.c's */
    int nhosts;
    struct host_list all_hosts, app_hosts; /* for every section; for this one */
    struct host_list *lists;               /* of each section that was read */
    bool launcher_said;                    /* -launcher */
    const char *manager;                   /* -rmk: whose allocation counts; NULL: any */
    const char *prefix;                    /* where Keel is on other hosts; NULL: where it is here */
    const char *soft;                      /* of this section: numbers of ranks that will do; NULL: any */
    struct rankfile *rankfile;             /* NULL: none */
    char **file;                           /* the words of -configfile, to be read next */
    bool had_file;
    bool stop;     /* mpiexec has done what it was asked for (--help), or cannot go on */
    int code;      /* then its exit code */
    char name[80]; /* of the option at hand, as written */
    /* What the prefix of each line of output is made of. */
    bool tag_rank, tag_job, timestamp;
    const char *prepend;
};

/* "mpiexec: ...", and nothing is started. */
void refuse(struct parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As if this option were given, with this value (NULL: it has none); `written` is what the user has written in its
 * place. */
void option_give(struct parse *p, const char *option, const char *written, char *value);
/* Keep a key and its value for MPI_INFO_ENV of this section's ranks. */
void said(struct parse *p, const char *key, const char *value);
long whole_number(struct parse *p, const char *text, long min, long max);

/* The launcher of that name; false: there is none. */
bool launcher_named(const char *name, enum launcher_kind *kind);
const char *launcher_name(enum launcher_kind kind);

/* configfile.c: the words of the file, its lines joined by ':' (as the standard has it).  NULL with a message said
 * if it cannot be read. */
char **config_file(const char *option, const char *name);

/* options_env.c: the networks that ranks use. */
void do_iface(struct parse *p, char **v);
void do_not_iface(struct parse *p, char **v);

/* options_help.c: what mpiexec says of itself. */
void do_help(struct parse *p, char **v);
void do_version(struct parse *p, char **v);
void do_info(struct parse *p, char **v);

/* options_output.c */
void do_outfile(struct parse *p, char **v);
void do_errfile(struct parse *p, char **v);
void do_output_filename(struct parse *p, char **v);
void do_output(struct parse *p, char **v);
void do_prepend_pattern(struct parse *p, char **v);
void do_tag_rank(struct parse *p, char **v);
void do_tag_job(struct parse *p, char **v);
void do_timestamp(struct parse *p, char **v);
/* All options are read: the prefix of the lines. */
void options_prefix(struct parse *p);

/* options_bind.c: where ranks run. */
void do_bind_to(struct parse *p, char **v);
void do_bind_core(struct parse *p, char **v);
void do_bind_socket(struct parse *p, char **v);
void do_bind_none(struct parse *p, char **v);
void do_map_by(struct parse *p, char **v);
void do_map_word(struct parse *p, char **v);
void do_npersocket(struct parse *p, char **v);
void do_rank_by(struct parse *p, char **v);
void do_cpus_per_rank(struct parse *p, char **v);
void do_cpu_set(struct parse *p, char **v);
void do_hwthreads(struct parse *p, char **v);
void do_oversubscribe(struct parse *p, char **v);
void do_no_oversubscribe(struct parse *p, char **v);
void do_report_bindings(struct parse *p, char **v);
void do_display_map(struct parse *p, char **v);
void do_display(struct parse *p, char **v);
void do_threads(struct parse *p, char **v);
void do_no_launch(struct parse *p, char **v);

/* hosts.c */
void do_rankmap(struct parse *p, char **v);
void do_order_nodes(struct parse *p, char **v);

/* allocation.c */
void do_rmk(struct parse *p, char **v);
/* No host is named: those that a batch system has given, if it has. */
void allocation_hosts(struct parse *p);
/* Of a job that is spawned: how its hosts are reached, as its rank's job was told. */
void allocation_reach(struct parse *p);
/* Tell the ranks which hosts there are, for jobs that they spawn. */
void allocation_tell(const struct parse *p);
/* Tell them the names of the job's own hosts, of which some may be lost. */
void allocation_tell_nodes(const struct launch *l);

/* rankfile.c */
void do_rankfile(struct parse *p, char **v);

/* The number of ranks that ppr:N:level makes; 0: nothing of the kind was said. */
int options_ppr(struct parse *p);

/* options_profile.c */
void do_profile(struct parse *p, char **v);
void do_profile_every(struct parse *p, char **v);
void options_profile(struct parse *p); /* all has been read: what follows for the ranks */
/* A file's name as seen from the working directory of mpiexec; to be freed. */
char *options_absolute(const char *name);

/* options_check.c */
void do_check(struct parse *p, char **v);
void do_check_keep_exit(struct parse *p, char **v);
void do_check_output(struct parse *p, char **v);
void do_check_suppress(struct parse *p, char **v);
/* All options are read: what the ranks find of these in their environment. */
void options_check(struct parse *p);

/* options_env.c: the ranks' environment. */
void env_for_all(struct parse *p, char *edit); /* NAME=VALUE, kept */
void do_env(struct parse *p, char **v);
void do_abi(struct parse *p, char **v);
void do_genv(struct parse *p, char **v);
void do_stream_buffering(struct parse *p, char **v);
void do_initial_errhandler(struct parse *p, char **v);
void do_x(struct parse *p, char **v);
void do_unset(struct parse *p, char **v);
void do_coll_tuning(struct parse *p, char **v);
void do_with_ft(struct parse *p, char **v), do_recovery(struct parse *p, char **v);
void do_no_cleanup(struct parse *p, char **v);
void do_trace(struct parse *p, char **v);
void do_trace_ranks(struct parse *p, char **v);
void do_listen(struct parse *p, char **v);
void do_prepend(struct parse *p, char **v);
void do_append(struct parse *p, char **v);
void do_envlist(struct parse *p, char **v);
void do_genvlist(struct parse *p, char **v);
void do_envnone(struct parse *p, char **v);
void do_genvnone(struct parse *p, char **v);
void do_envall(struct parse *p, char **v);
void do_genvall(struct parse *p, char **v);

#endif
