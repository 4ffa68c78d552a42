/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_report.h: mpiexec -profile: what the tables of the ranks (util/profiled.h) say, put together and written.
 *
 * Each host's daemon makes a folder in which its ranks keep their tables.  At the end, and when it is asked, it reads
 * them, finds the places, and tells mpiexec's daemon, which keeps the last word of each rank. */
#ifndef PROFILE_REPORT_H
#define PROFILE_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "util/profiled.h"

struct launch;
struct pack;

static inline void prof_add(struct ku_profiled_sum *to, const struct ku_profiled_sum *s)
{
    to->calls += s->calls;
    to->ns += s->ns;
    to->waited += s->waited;
    to->late += s->late;
    to->bytes += s->bytes;
}

/* ---- profile_read.c: the ranks that are here ---- */

/* Make the folder, if the job is profiled; false: it is not, or cannot be (which has been said). */
bool prof_begin(const struct launch *l);
/* NAME=VALUE for the ranks; NULL: they are not profiled. */
const char *prof_environment(void);
/* What the tables of a rank here say now; false: it has none.  To be freed. */
bool prof_read(int rank, struct pack *p);

/* ---- profile_sum.c: all ranks ---- */

struct prof_place {
    int number;         /* in the rank's table */
    char *call, *place; /* place: "file.c:12 (function)", with the file's folder */
    uint64_t most;
    struct ku_profiled_sum sum;
};
struct prof_wait {
    int site, why, peer; /* site: -1: not known */
    uint32_t stream;
    uint64_t n, ns, most;
};
struct prof_pair {
    int site, peer;
    uint32_t stream;
    char *device;
    uint64_t n, bytes;
};
struct prof_named { /* a procedure, or a communicator */
    char *name;
    uint32_t context, use;
    int first, size;
    struct ku_profiled_sum sum;
};
struct prof_rank {
    bool there, ended;        /* ended: it has come to MPI_Finalize */
    uint64_t ran, inside_for; /* ns; inside_for: in its present call; 0: in none */
    int inside;
    uint64_t memory, lost;
    struct ku_profiled_sum all, by_class[KU_PROFILED_CLASSES];
    uint64_t sent[KU_PROFILED_CLASSES];
    struct prof_named *call, *comm;
    struct prof_place *site;
    struct prof_wait *wait;
    struct prof_pair *pair;
    int ncalls, ncomms, nsites, nwaits, npairs;
};

/* What a rank's daemon has read; false: it is not understood. */
bool prof_take(int rank, const char *bytes, size_t len);

/* The same of all ranks together. */
struct prof_total {
    const char *name, *place; /* place: of a place; context, use, size: of communicators */
    uint32_t context, use;
    int size;
    struct ku_profiled_sum sum;
    uint64_t most_ns, least_ns, longest;
    int most_rank, least_rank, ranks;
};
/* Who waited for whom: a place of a rank, or of several for one. */
struct prof_culprit {
    int why, rank, peer;                   /* rank: the one that waited longest; peer: who was late */
    int ranks;                             /* that waited */
    const struct prof_place *here, *there; /* NULL: not known */
    uint64_t n, ns, most;
};
struct prof_all {
    const struct launch *launch;
    const struct prof_rank *rank; /* [size] */
    int size, there;
    uint64_t ran;     /* of all ranks that are there */
    uint64_t *caused; /* [size]: for how long others waited for the rank */
    struct ku_profiled_sum all;
    struct prof_total *call, *comm, *site;
    struct prof_culprit *culprit;
    int ncalls, ncomms, nsites, nculprits;
};

/* Write all files of -profile, of what is known now; false: one could not be written, which has been said.  Nothing is
 * written of a job without programs of MPI. */
bool prof_write(const struct launch *l);
const struct prof_place *prof_place_of(const struct prof_rank *r, int number);
/* "4 K": the least of a class of sizes. */
const char *prof_class(int class, char text[16]);
extern const char *const prof_whys[];

/* profile_text.c, profile_json.c, profile_html.c */
void prof_text(FILE *out, const struct prof_all *all);
void prof_json(FILE *out, const struct prof_all *all);
void prof_html(FILE *out, const struct prof_all *all);

#endif
