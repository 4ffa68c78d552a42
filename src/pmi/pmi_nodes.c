/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi_nodes.c: on which node each rank is, as launchers tell it. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "server.h"
#include "util/err.h"

/* A mapping is (vector,ITEM,ITEM...).  An item is one of
 *
 *     (FIRST,NODES,EACH)   so many nodes from the first on, with so many ranks on each
 *     NODE                 this node, with one rank (Hydra 4.2 and later)
 *     [ITEM,ITEM...]xN     these items, so many times (Hydra 4.2 and later); they may have brackets of their own
 *
 * The ranks take their nodes in this order; when the items end before the ranks do, they begin again.
 *
 * Each byte is read at least once, also after the last rank has its node, so that bad text is never taken for good. */
struct reader {
    const char *at; /* what is read next */
    int32_t *node_of, rank, size;
    int depth; /* of brackets */
};

enum { DEPTH_MOST = 64 };

static bool pmi_nodes_take(struct reader *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_number(struct reader *r, int32_t *n)
{
    int64_t value = 0;
    const char *begin = r->at;
    for (; *r->at >= '0' && *r->at <= '9' && value <= INT32_MAX; r->at++)
        value = 10 * value + (*r->at - '0');
    if (value > INT32_MAX)
        r->at = begin;
    *n = (int32_t)value;
    return r->at > begin;
}

static void pmi_nodes_give(struct reader *r, int32_t first, int32_t nodes, int32_t each)
{
    for (int32_t n = 0; n < nodes && each > 0 && r->rank < r->size; n++)
        for (int32_t i = 0; i < each && r->rank < r->size; i++)
            r->node_of[r->rank++] = first + n;
}

static bool take_block(struct reader *r)
{
    const char *begin = r->at;
    int32_t first, nodes, each;
    if (!pmi_nodes_take(r, '(') || !take_number(r, &first) || !pmi_nodes_take(r, ',') ||
        !take_number(r, &nodes) || !pmi_nodes_take(r, ',') || !take_number(r, &each) ||
        !pmi_nodes_take(r, ')'))
        return false;
    if (first > INT32_MAX - nodes) {
        r->at = begin;
        return false;
    }
    pmi_nodes_give(r, first, nodes, each);
    return true;
}

static bool take_item(struct reader *r);

static bool take_items(struct reader *r)
{
    do {
        if (!take_item(r))
            return false;
    } while (pmi_nodes_take(r, ','));
    return true;
}

/* How often the items count is known only behind them: they are read once, and again while that gives ranks their
 * nodes. */
static bool take_repeated(struct reader *r)
{
    int32_t before = r->rank, times;
    if (r->depth == DEPTH_MOST || !pmi_nodes_take(r, '['))
        return false;
    const char *items = r->at;
    r->depth++;
    if (!take_items(r) || !pmi_nodes_take(r, ']') || !pmi_nodes_take(r, 'x') || !take_number(r, &times))
        return false;
    const char *end = r->at;
    if (times == 0)
        r->rank = before;
    for (int32_t i = 1; i < times && r->rank > before && r->rank < r->size; i++) {
        r->at = items;
        take_items(r);
    }
    r->at = end;
    r->depth--;
    return true;
}

static bool take_item(struct reader *r)
{
    int32_t node;
    if (*r->at == '(')
        return take_block(r);
    if (*r->at == '[')
        return take_repeated(r);
    if (!take_number(r, &node))
        return false;
    pmi_nodes_give(r, node, 1, 1);
    return true;
}

/* false: the text is none, and r->at is where it is wrong first; or it gives no rank a node. */
static bool take_mapping(struct reader *r)
{
    static const char vector[] = "(vector,";
    if (strncmp(r->at, vector, sizeof vector - 1) != 0)
        return false;
    r->at += sizeof vector - 1;
    for (const char *items = r->at; r->rank < r->size;) {
        int32_t before = r->rank;
        r->at = items;
        if (!take_items(r) || strcmp(r->at, ")") != 0 || r->rank == before)
            return false;
    }
    return true;
}

enum { NODE_MOST = 1 << 24 };

int pmi_renumber(int32_t *node_of, int32_t size)
{
    int32_t nodes = 0, most = 0;
    for (int32_t r = 0; r < size; r++)
        most = node_of[r] > most ? node_of[r] : most;
    int32_t *as = most <= NODE_MOST ? malloc(((size_t)most + 1) * sizeof *as) : NULL;
    if (!as)
        return ku_err_set(most <= NODE_MOST ? ENOMEM : EPROTO, NULL,
                          "a rank's node has the number %d: too many", most);
    for (int32_t n = 0; n <= most; n++)
        as[n] = -1;
    for (int32_t r = 0; r < size; r++) {
        int32_t *to = &as[node_of[r]];
        if (*to < 0)
            *to = nodes++;
        node_of[r] = *to;
    }
    free(as);
    return 0;
}

int pmi_mapping(const char *mapping, int32_t *node_of, int32_t size)
{
    struct reader r = { .at = mapping, .node_of = node_of, .size = size };
    for (int32_t i = 0; i < size; i++)
        node_of[i] = 0;
    if (size == 1)
        return 0;
    if (!take_mapping(&r))
        return ku_err_set(
            EPROTO, NULL,
            "the launcher says that the ranks' nodes are \"%.80s\", wrong at \"%.20s\"; expected "
            "(vector,(0,2,4)), (vector,[(0,1,2),1]x3) or the like",
            mapping, r.at);
    return pmi_renumber(node_of, size);
}
