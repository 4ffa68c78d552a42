/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h: what the user asked for, and what mpiexec's files share.
 *
 * mpiexec is two processes.  The front reads the command line, keeps the terminal's side (signals, job
 * control, the exit code) and starts the node daemon; the daemon is the parent of the ranks and moves their
 * output.  Each is PR_SET_CHILD_SUBREAPER and sees the other's death by the end of a socket: whichever is
 * left ends every process of the job. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "pmi/launch/base/tree.h"
#include "pmi/launch/base/util.h"
#include "policy.h"

enum { STDIN_NONE = -1, STDIN_ALL = -2 };

enum inherit { INHERIT_UNSAID /* all */, INHERIT_ALL, INHERIT_NONE, INHERIT_LIST };

/* NAME=VALUE to set, or NAME to unset, in the ranks' environment. */
struct env_edits {
    char **edit;
    int n;
};

/* One section of the command line, between ':'s. */
struct app {
    int n;       /* ranks; 0 until known */
    char **argv; /* NULL-terminated */
    const char *wdir, *path;
    enum inherit inherit;
    const char *inherit_list; /* names with commas, for INHERIT_LIST */
    struct env_edits edits;
    int maxprocs; /* ranks asked for; -soft may have made n less */
    const char
        *said; /* lines "key=value": what MPI_INFO_ENV is to say of the command line besides; NULL: nothing */
};

struct host {
    const char *name;
    int slots, most;  /* ranks to give it in a round, and at most; 0: not said */
    bool local, told; /* told: somebody has said how many slots */
};

/* How the daemons of other hosts are started. */
enum launcher_kind { LAUNCH_SSH, LAUNCH_SLURM, LAUNCH_FORK };
struct launcher {
    enum launcher_kind kind;
    const char *exec;   /* -launcher-exec; NULL: ssh, srun */
    const char *daemon; /* the path of mpiexec there */
    int fanout;         /* daemons that one process starts */
    double
        patience; /* seconds for which mpiexec tries again where no daemon can be started; 0: it does not */
};

struct launch {
    struct app *apps;
    int napps, size;
    bool merge_stderr, verbose, print_codes;
    bool survives;          /* -with-ft: it goes on without ranks that fail; */
    bool counts_failed;     /* its exit code is theirs all the same */
    const char *prefix;     /* of each line of output, a pattern (output_file.h); NULL: none */
    const char *pattern[2]; /* the names of the files that stdout, stderr go to; NULL: to none */
    bool no_copy;           /* what goes to files goes nowhere else */
    double timeout;         /* seconds; 0: none */
    const char *timeout_by; /* the option or variable that said so */
    int universe;           /* -usize; 0: not said */
    int stdin_rank;         /* who reads mpiexec's stdin; or STDIN_NONE, STDIN_ALL */
    int nodes;              /* the ranks are dealt out to that many; at most `size` */
    int32_t *node_of;       /* [size] */
    bool remote;            /* the nodes are hosts; else all are (or are simulated) on this machine */
    int here;               /* then: which node this machine is; -1: none */
    struct host *hosts;     /* then: [nodes] */
    struct launcher how;    /* then */
    double node_timeout;    /* seconds; a host that says nothing for so long is lost; NODE_PATIENCE: never */
    const char *master;     /* a name of rank 0's host; NULL: this one, or not known */
    struct bind_policy bind;
    double
        hang_seconds; /* --hang-report=S: report when nothing moves for so long; 0: a certain deadlock only */
    bool hang_kill;   /* and end the job then */
    bool hang_keep;   /* never do that */
    bool unwatched;   /* nobody is at a terminal: a certain deadlock ends the job */
    bool pmi;         /* ranks are served PMI-1 and PMI-2, whatever they were linked with */
    enum serve_pmix {
        SERVE_PMIX_NO,
        SERVE_PMIX,
        SERVE_PMIX_TOOLS
    } pmix; /* likewise PMIx; and so are tools */
    struct check {
        const char *words;   /* as of KEEL_CHECK; NULL: the ranks' environment says it */
        const char **output; /* files for what is found */
        int noutputs;
    } check; /* -check */
    struct profile {
        bool on;
        const char **file; /* "-": stderr; a daemon of another host has none */
        int nfiles;
        double every; /* seconds between two reports; 0: there is one at the end */
    } profile;        /* -profile */
    bool spawned;     /* by a rank of another job, which has told how hosts are reached (allocation.c) */
    int elder;        /* a descriptor: ranks are served PMIx there (elder.h); 0: none */
    enum stop {
        STOP_NO,
        STOP_IN_INIT, /* -pmix-tools=stop */
        STOP_ON_EXEC  /* -pmix-tools=exec: before the first instruction of their program */
    } stop;           /* where the ranks wait until a tool lets them go */
    bool held;        /* the ranks wait in MPI_Init: a debugger started us, or they stop there */
    int *
        pids; /* [size], shared by front, daemon and servant: of each rank, valid once WORD_STARTED has come */
    const char *host; /* of this machine, for reports only; never resolved */
    sigset_t sigmask; /* as mpiexec was started: the ranks' own */
    struct sigaction sigpipe, sigttou;
    pid_t front_pgid; /* the process group of the front: the terminal's foreground, when there is one */
};

/* ranks.c: launch.pids, before a process is forked that shares it. */
int *launch_pids(int size);

/* Where a rank is, for messages. */
static inline const char *launch_host(const struct launch *l, int rank)
{
    return l->remote ? l->hosts[l->node_of[rank]].name : l->host;
}

/* options.c: read the command line.  Returns true to go on; else mpiexec exits with *code (help, version,
 * errors). */
bool options_parse(struct launch *l, char **argv, int *code);

/* node.c: the node daemon, from fork to its exit code.  `front` is the socket to the front process. */
int node_main(struct launch *l, int front);

/* host.c: the daemon of another host, from its start by ssh to its exit code.  `said`: "<node>:<node_timeout>". */
int host_main(const char *said);
#define HOST_ARGUMENT "--node-daemon"
#define SURVIVES "KEEL_SURVIVE" /* tells ranks, and jobs that they spawn, of launch.survives */
#define NODE_PATIENCE 1e9       /* seconds; a node_timeout of so long is none */

/* The front's signal for `mpiexec --report`, which comes with this value; otherwise it is forwarded as any other.
 * SIGQUIT may have been ignored when mpiexec was started. */
#define REPORT_SIGNAL SIGRTMAX
enum { REPORT_VALUE = 0x6b65656c };
/* The same signal from the daemon of the job that has spawned this one: what do its ranks wait for; can it go on? */
enum { REPORT_TOO_VALUE = 0x6b65656d, REST_VALUE = 0x6b65656e };

/* What goes through the socket. */
enum front_word {
    WORD_SIGNAL, /* to the daemon: value is the signal, from_tty whether the terminal sent it to its group too
                  */
    WORD_KILL,   /* to the daemon: end everything at once */
    WORD_REPORT, /* to the daemon: say what the ranks wait for; value 1: for the spawning job's daemon */
    WORD_REST,   /* to the daemon: look whether the job can go on */
    WORD_PROFILE, /* to the daemon: write what the profile says now */
    WORD_RELEASE, /* to the daemon: ranks that are held go on */
    WORD_STARTED, /* to the front: every rank is */
    WORD_STOPPED, /* to the front: every rank that lets itself be stopped is */
    WORD_DONE     /* to the front: value is the exit code; all_zero: every rank exited with 0; all_lost:
                     none lives, and the job that has spawned this one goes on */
};
struct front_message {
    int word, value;
    bool from_tty, all_zero, all_lost;
};

/* debugger.c: the tables and variables that a debugger looks at in the front. */
bool debugger_waits(void); /* a debugger started mpiexec */
void debugger_table(
    const struct launch *l);     /* every rank is started: fill the table and stop where the debugger wants */
void debugger_failure(int code); /* the job has failed */

#endif
