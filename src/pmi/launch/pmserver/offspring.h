/* SPDX-License-Identifier: BSD-3-Clause */
/* offspring.h: jobs that ranks with another MPI's library spawn, by PMI or PMIx.  The servant starts an mpiexec
 * for each (util/start_job.h), as MPI_Comm_spawn of our library does.  For the servant's main thread alone. */
#ifndef OFFSPRING_H
#define OFFSPRING_H

#include <stdbool.h>
#include <stddef.h>
#include "pmi/launch/frames/frame_pack.h"

/* In the environment of that mpiexec and of its daemons, not of its ranks: lines KEY=VALUE, which are in the
 * ranks' key-value space from the beginning (PMI).  It is set, if only to "", where ranks of a job that is served
 * have spawned this one. */
#define OFFSPRING_PUT "KEEL_PMI_PUT"
/* Likewise: a descriptor that leads to the servant of the spawning job, which serves these ranks PMIx, too
 * (elder.h). */
#define OFFSPRING_ELDER "KEEL_PMI_ELDER"

enum { OFFSPRING_MOST = 1 << 16 /* commands, words of one, keys: more are nonsense */ };

struct offspring_command {
    char *program;
    char **word, **key; /* arguments; keys and values in turn */
    int maxprocs, nwords, nkeys;
};

/* What is asked for. */
struct offspring {
    int rank; /* of this job: who asks, or by whose job the asking one has been spawned */
    int n, nput;
    struct offspring_command *command; /* [n] */
    char **put;                        /* keys and values in turn, for the new job's key-value space */
    int elder;                         /* for OFFSPRING_ELDER, closed with this; -1: none */
    int out, err; /* where its output goes, closed with this; -1: where the rank's does */
    /* Once: all processes have been started; or why not.  Then o is gone. */
    void (*done)(struct offspring *o, const char *why);
    void *arg;
};

struct offspring *offspring_new(int rank);
/* False: too many. */
bool offspring_add(struct offspring *o, const char *program, int maxprocs);
bool offspring_word(struct offspring *o, const char *text); /* of the last command */
bool offspring_key(struct offspring *o, const char *key, const char *value);
bool offspring_put(struct offspring *o, const char *key, const char *value);
/* The value of a key; NULL: it has none. */
const char *offspring_value(const struct offspring_command *c, const char *key);
void offspring_forget(struct offspring *o, const char *key); /* of all commands */
/* The commands with their words and keys as bytes, for another host.  NULL: they are nonsense. */
void offspring_pack(struct pack *p, const struct offspring *o);
struct offspring *offspring_unpack(struct unpack *u, int rank);
void offspring_free(struct offspring *o);

/* Start it; o is the callee's.  daemon: the process whose job spawns. */
void offspring_begin(struct offspring *o, int daemon);

/* A descriptor to where the rank's output (1, 2) goes, for who spawns something for it; -1: it has ended. */
int offspring_output(int rank, int fd);

/* Can be read when offspring_look has something to do; the same all the time. */
int offspring_events(void);
void offspring_look(void);

#endif
