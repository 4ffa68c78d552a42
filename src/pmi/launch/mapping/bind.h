/* SPDX-License-Identifier: BSD-3-Clause */
/* bind.h: which cores each rank of the job gets (doc/mpiexec.md, "Cores").
 *
 * The order of work: the options fill a policy (options_bind.c); the daemon makes the plan once it knows each
 * rank's node (bind.c), from the machine (topology.c), by rules that know nothing but numbers (bind_map.c), and
 * claims the cores, so that jobs side by side take different ones (bind_claim.c); it tells the plan
 * (bind_report.c, bind_svg.c) and leaves it in the nodes' segments; each rank's process is bound before it becomes
 * the program, so that all its threads are. */
#ifndef BIND_H
#define BIND_H

#include <sched.h>
#include <stdbool.h>
#include "pmi/launch/job/policy.h"
#include "topology.h"

struct launch;
struct ku_segment;

/* One rank of a node, as bind_map.c sees it. */
struct seat {
    int rank;    /* in the job */
    int threads; /* OMP_NUM_THREADS; at least 1 */
    bool bound;
    cpu_set_t cpus;               /* where it may run, also if it is not bound */
    bool says_threads, says_wait; /* the user has said so many threads, and how they wait */
    int told;                     /* threads that mpiexec tells it to have; 0: it counts them itself */
    bool gives_way;               /* it is told that waiting threads give way */
};

/* bind_map.c: seat `n` ranks of one node on `avail`.  False, with a text in *why, if that cannot be: then it is the
 * default, which leaves them unbound, or (if *refused) a wish that cannot be granted. */
bool bind_map(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail,
              struct seat *seats, int n, const char **why, bool *refused);
/* The part of `avail` that is node i's, of nodes with so many ranks before it and on it, of all. */
void bind_slice(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail, int before,
                int n, int all, cpu_set_t *slice);
/* Cores of `avail`, or threads if these count. */
int bind_units(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail);
/* Did the policy leave the choice to us? */
bool bind_is_default(const struct bind_policy *p);
/* Add to `set` what `avail` has of the object at `level` around hardware thread `pu`. */
void bind_widen(const struct topology *t, const cpu_set_t *avail, int pu, enum level level, cpu_set_t *set);

/* bind_list.c: the cpus that `list` gives this rank; false: none, it says nothing of the rank.  The list is our
 * own, but may have come from another host: what is not understood says nothing.  Ends mpiexec if the machine has
 * no such cores. */
bool bind_rank_cores(const char *list, int rank, const struct topology *t, const cpu_set_t *avail,
                     cpu_set_t *cpus);

/* bind_threads.c: what the `n` ranks of one node, which are seated, are told; `avail`: what they would share;
 * `most`: cpus by the quota. */
void bind_threads(const struct topology *t, const struct bind_policy *p, const cpu_set_t *avail,
                  struct seat *seats, int n, int most);

/* bind_claim.c: claim these cpus for as long as this process lives.  Tier 0: nobody else has them in any tier; who
 * shares cpus with others claims them in the first tier in which nobody else does.  False: nothing is claimed, and
 * *taken are those that others hold (empty: claims are not possible here). */
enum { BIND_TIERS = 4 };
bool bind_claim(int tier, const cpu_set_t *cpus, cpu_set_t *taken);

/* bind.c */
/* Make the plan for the nodes whose segments are mapped, and tell it as the policy asks.  Ends mpiexec with a text
 * if the user's wish cannot be granted. */
void bind_plan(const struct launch *l, const struct ku_segment *segments);
/* Where the process of this rank is to be bound; NULL: it is not. */
const cpu_set_t *bind_of(int rank);
/* What its environment is to say of threads: OMP_NUM_THREADS (0: nothing), and OMP_WAIT_POLICY=passive. */
struct thread_advice {
    int threads;
    bool gives_way;
};
struct thread_advice bind_told(int rank);
/* The variables that were told to the rank that has started this mpiexec are no wish of the user. */
#define BIND_TOLD "KEEL_TOLD"
void bind_forget_told(void);
/* The kernel refused to bind this rank. */
void bind_refused(int rank, int err);
/* Before anything is started: the ranks that ppr:N:level makes when -n is not given; 0 with *why. */
int bind_count(const struct bind_policy *p, const char **why);

/* bind_report.c, bind_svg.c */
/* The n ranks here are rank[0 .. n). */
void bind_report(const struct launch *l, const struct topology *t, const struct seat *seats, const int *rank,
                 int n, const char *why);
void bind_display(const struct launch *l, const struct topology *t, const struct seat *seats, const int *rank,
                  int n);
/* False with errno. */
bool bind_draw(const char *file, const struct topology *t, const struct seat *seats, int n);

#endif
