/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c: the group object: members as a range or a table, lookup by global rank, references.
 *
 * Invariants
 *   1. size >= 1 for all groups but MPIR_Group_empty.
 *   2. granks == NULL: a range, stride != 0.  A table that happens to be a range is turned into one when it is made.
 *   3. A group with a base has the base's members; granks is the base's, index and table stay in the base. */
#include "group.h"
#include "mpi_err.h"
#include "mpid.h"
#include <stdlib.h>
#include <string.h>

MPIR_Group MPIR_Group_empty = {
    .obj = { .index = KEEL_NO_INDEX,
             .gen = 1,
             .kind = MPIR_KIND_GROUP,
             .flags = KEEL_OBJ_PREDEFINED,
             .refs = 1,
             .self = KEEL_MPI_GROUP_EMPTY },
    .rank = MPI_UNDEFINED,
    .stride = 1,
};

enum { SCAN_LIMIT = 16 /* members up to which looking through all beats an index */ };

/* The numbers of other jobs' processes are behind this job's (mpid.h). */
int32_t MPIR_Group_other_job(const MPIR_Group *g)
{
    for (int32_t i = 0; i < g->size && MPID_Others_may_come(); i++)
        if (MPIR_Group_grank(g, i) >= MPID_MyWorldSize)
            return i;
    return MPI_UNDEFINED;
}

/* Open addressing from global rank to rank: a slot holds rank + 1, 0 is empty. */
struct group_index {
    uint32_t mask;
    int32_t slot[];
};

static struct group_index *make_index(const int32_t *granks, int32_t size)
{
    uint64_t slots = 2;
    while (slots < 2 * (uint64_t)size)
        slots *= 2;
    struct group_index *x = calloc(1, sizeof *x + slots * sizeof x->slot[0]);
    if (!x)
        return NULL;
    x->mask = (uint32_t)(slots - 1);
    for (int32_t i = 0; i < size; i++) {
        uint32_t at = MPIR_Group_hash(granks[i]) & x->mask;
        while (x->slot[at])
            at = (at + 1) & x->mask;
        x->slot[at] = i + 1;
    }
    return x;
}

static int32_t scan(const MPIR_Group *g, int32_t grank)
{
    for (int32_t i = 0; i < g->size; i++)
        if (g->granks[i] == grank)
            return i;
    return MPI_UNDEFINED;
}

static int32_t rank_in_range(const MPIR_Group *g, int32_t grank)
{
    int64_t d = (int64_t)grank - g->first;
    if (g->size == 0 || d % g->stride != 0 || d / g->stride < 0 || d / g->stride >= g->size)
        return MPI_UNDEFINED;
    return (int32_t)(d / g->stride);
}

int32_t MPIR_Group_rank_of(MPIR_Group *g, int32_t grank)
{
    if (g->base)
        g = g->base;
    if (!g->granks)
        return rank_in_range(g, grank);
    if (g->size <= SCAN_LIMIT)
        return scan(g, grank);
    if (!g->index)
        g->index = make_index(g->granks, g->size);
    const struct group_index *x = g->index;
    if (!x) /* short of memory: slow, but right */
        return scan(g, grank);
    for (uint32_t at = MPIR_Group_hash(grank) & x->mask; x->slot[at]; at = (at + 1) & x->mask)
        if (g->granks[x->slot[at] - 1] == grank)
            return x->slot[at] - 1;
    return MPI_UNDEFINED;
}

static void each_other(const MPIR_Group *g, void (*fn)(int32_t grank))
{
    for (int32_t i = 0; i < g->size && MPID_Others_may_come(); i++)
        if (MPIR_Group_grank(g, i) >= MPID_MyWorldSize)
            fn(MPIR_Group_grank(g, i));
}

void MPIR_Group_connected(MPIR_Group *g, bool begins)
{
    each_other(g, begins ? MPID_Other_connect : MPID_Other_disconnect);
}

static MPIR_Group *alloc(void)
{
    MPIR_Group *g = MPIR_Object_alloc(MPIR_KIND_GROUP);
    if (!g)
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group");
    return g;
}

int MPIR_Group_new_range(int32_t size, int32_t first, int32_t stride, MPIR_Group **group)
{
    if (size == 0) {
        *group = &MPIR_Group_empty;
        return 0;
    }
    MPIR_Group *g = alloc();
    if (!g)
        return MPI_ERR_NO_MEM;
    g->size = size;
    g->first = first;
    g->stride = size == 1 ? 1 : stride;
    g->rank = rank_in_range(g, MPID_MyWorldRank);
    each_other(g, MPID_Other_keep);
    *group = g;
    return 0;
}

static bool is_range(int32_t size, const int32_t *granks)
{
    if (size < 2)
        return true;
    int64_t stride = (int64_t)granks[1] - granks[0];
    for (int32_t i = 2; i < size; i++)
        if ((int64_t)granks[i] - granks[i - 1] != stride)
            return false;
    return true;
}

int MPIR_Group_adopt(int32_t size, int32_t *granks, MPIR_Group **group)
{
    if (is_range(size, granks)) {
        int32_t first = size ? granks[0] : 0, stride = size > 1 ? granks[1] - granks[0] : 1;
        free(granks);
        return MPIR_Group_new_range(size, first, stride, group);
    }
    MPIR_Group *g = alloc();
    if (!g) {
        free(granks);
        return MPI_ERR_NO_MEM;
    }
    int32_t *exact = realloc(granks, (size_t)size * sizeof *granks);
    g->size = size;
    g->granks = exact ? exact : granks;
    g->rank = scan(g, MPID_MyWorldRank);
    each_other(g, MPID_Other_keep);
    *group = g;
    return 0;
}

int MPIR_Group_new(int32_t size, const int32_t *granks, MPIR_Group **group)
{
    if (is_range(size, granks))
        return MPIR_Group_new_range(size, size ? granks[0] : 0, size > 1 ? granks[1] - granks[0] : 1, group);
    int32_t *copy = malloc((size_t)size * sizeof *copy);
    if (!copy)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %d processes", size);
    memcpy(copy, granks, (size_t)size * sizeof *copy);
    return MPIR_Group_adopt(size, copy, group);
}

int MPIR_Group_share(MPIR_Group *g, MPIR_Group **group)
{
    if (g->size == 0) {
        *group = &MPIR_Group_empty;
        return 0;
    }
    MPIR_Group *copy = alloc();
    if (!copy)
        return MPI_ERR_NO_MEM;
    MPIR_Group *base = g->base ? g->base : g;
    copy->size = g->size;
    copy->rank = g->rank;
    copy->first = g->first;
    copy->stride = g->stride;
    copy->granks = g->granks;
    copy->session = g->session;
    copy->base = base;
    MPIR_Object_ref(base);
    *group = copy;
    return 0;
}

int MPIR_Group_table(MPIR_Group *g, const int32_t **table)
{
    if (g->base)
        g = g->base;
    *table = g->granks ? g->granks : g->table;
    if (*table || (g->first == 0 && g->stride == 1))
        return 0;
    g->table = malloc((size_t)g->size * sizeof *g->table);
    if (!g->table)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the table of %d processes", g->size);
    for (int32_t i = 0; i < g->size; i++)
        g->table[i] = MPIR_Group_grank(g, i);
    *table = g->table;
    return 0;
}

int MPIR_Group_relation(MPIR_Group *a, MPIR_Group *b)
{
    if (a == b)
        return MPI_IDENT;
    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (a->granks == b->granks && (a->granks || (a->first == b->first && a->stride == b->stride)))
        return MPI_IDENT;
    int32_t i = 0;
    while (i < a->size && MPIR_Group_grank(a, i) == MPIR_Group_grank(b, i))
        i++;
    if (i == a->size)
        return MPI_IDENT;
    for (; i < a->size; i++) /* members are distinct: with equal sizes one inclusion is enough */
        if (MPIR_Group_rank_of(b, MPIR_Group_grank(a, i)) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
    return MPI_SIMILAR;
}

void MPIR_Group_release(MPIR_Group *g)
{
    if (!MPIR_Object_unref(g))
        return;
    if (g->base) {
        MPIR_Group_release(g->base);
    } else {
        each_other(g, MPID_Other_release);
        free(g->granks);
        free(g->index);
        free(g->table);
    }
    MPIR_Object_free(g);
}
