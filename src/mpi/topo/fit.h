/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.h: divide the vertices of a weighted graph into parts of given sizes, so that little leads from part to
 * part.  Knows nothing of MPI; the same input gives the same result everywhere. */
#ifndef TOPO_FIT_H
#define TOPO_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* An edge; its direction does not matter. */
struct fit_line {
    int32_t a, b, weight;
};

struct fit_edge {
    int32_t to, weight;
};
struct fit_graph {
    int32_t n;
    int64_t *first; /* [n + 1]; the edges of v are edge[first[v]] to edge[first[v + 1] - 1] */
    struct fit_edge *edge;
};

/* The graph of n vertices with these lines, without loops.  Returns false without memory; free it in any case. */
bool MPIR_Fit_graph(struct fit_graph *g, int32_t n, const struct fit_line *lines, int64_t nlines);
/* The one that m of its vertices make, renumbered in the order of `vertices`; number[g->n] is 0 before and after. */
bool MPIR_Fit_part_of(struct fit_graph *part, const struct fit_graph *g, int32_t m, const int32_t *vertices,
                      int32_t *number);
void MPIR_Fit_free(struct fit_graph *g);

/* Twice the weight of all edges between different parts. */
int64_t MPIR_Fit_cut(const struct fit_graph *g, const int32_t *part);

/* Orders of the vertices in which neighbors are close: `next` writes another one, a permutation, or says there is
 * none. */
struct fit_orders {
    bool (*next)(struct fit_orders *o, int32_t *order);
};

/* part[v], 0 to nparts - 1, is changed only if the result is better; the parts keep their sizes, none of which is
 * 0.  Returns false without memory. */
bool MPIR_Fit(const struct fit_graph *g, int32_t nparts, struct fit_orders *orders, int32_t *part);

#endif
