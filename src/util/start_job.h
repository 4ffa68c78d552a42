/* SPDX-License-Identifier: BSD-3-Clause */
/* start_job.h: starting the mpiexec of a job that a process spawns: for MPI_Comm_spawn, and for what ranks with
 * another MPI's library ask of mpiexec (launch/pmserver/offspring.h).
 *
 * The commands are sections of that mpiexec's command line, so whatever mpiexec can do with a program (hosts,
 * cores, working directories) is done for spawned ones, too.  It has the other end of a socket as long as it
 * lives, and says KU_SPAWN_SAYS_STARTED there when all processes have been started.  KU_SPAWN_SAYS_FREE, said to
 * it, makes its job independent. */
#ifndef KU_SPAWN_H
#define KU_SPAWN_H

#include <sys/types.h>

#define KU_SPAWN_ARGUMENT "--spawned=" /* and the descriptor */
#define KU_SPAWN_SAYS_STARTED 'S'
#define KU_SPAWN_SAYS_FREE 'F'

struct ku_command {
    const char *program;
    char *const *argv; /* ends with NULL; NULL: none */
    int maxprocs;
    const char *(*info)(const void *of, const char *key); /* the value of a key, NULL: it has none */
    const void *of;
};

/* What it gets besides this process's environment, in which other launchers' variables are left out: NAME=VALUE,
 * NULL at the end; and its descriptors. */
struct ku_surroundings {
    char *const *set;
    int out, err, more; /* more: stays open, under its number; -1: none.  out, err: -1: this process's */
    int universe; /* MPI_UNIVERSE_SIZE of the spawning job, which the spawned one has too; below 1: not known */
};

/* *pid: the process that ends when mpiexec is on its own; to be waited for.  *alive: this end of the socket.  0,
 * or an errno value with a text. */
int ku_spawn(const char *mpiexec, const struct ku_command *c, int n, const struct ku_surroundings *s,
             pid_t *pid, int *alive);

/* What the socket tells, without waiting. */
enum ku_spawned { KU_SPAWN_WAITS, KU_SPAWN_STARTED, KU_SPAWN_ENDED };
enum ku_spawned ku_spawn_look(int alive);

#endif
