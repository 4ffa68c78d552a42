/* SPDX-License-Identifier: BSD-3-Clause */
/* group_ops.c: the procedures on groups (8.3): all O(n) in what they are given, whatever the lists hold; what they
 * keep is O(result). */
#include "group.h"
#include "mpi_err.h"
#include "bodies.h"
#include <stdbool.h>
#include <stdlib.h>

int MPIR_Group_size(MPIR_Group *group, int *size)
{
    *size = group->size;
    return 0;
}

int MPIR_Group_rank(MPIR_Group *group, int *rank)
{
    *rank = group->rank;
    return 0;
}

int MPIR_Group_free(MPIR_Group **group)
{
    MPIR_Group_release(*group);
    *group = NULL;
    return 0;
}

int MPIR_Group_compare(MPIR_Group *group1, MPIR_Group *group2, int *result)
{
    *result = MPIR_Group_relation(group1, group2);
    return 0;
}

static int check_rank(const MPIR_Group *g, const char *arg, int64_t i, int64_t rank)
{
    if (rank >= 0 && rank < g->size)
        return 0;
    if (g->size == 0)
        return MPIR_Err(MPI_ERR_RANK, arg, "[%lld] is %lld; the group has no members", (long long)i,
                        (long long)rank);
    return MPIR_Err(MPI_ERR_RANK, arg, "[%lld] is %lld; expected 0 to %d", (long long)i, (long long)rank,
                    g->size - 1);
}

/* The length of an array, and where it lies. */
static int check_array(int n, const void *array, const char *arg)
{
    if (n < 0)
        return MPIR_Err(MPI_ERR_COUNT, "n", "is %d; expected 0 or more", n);
    return n > 0 && !array ? MPIR_Err(MPI_ERR_ARG, arg, "is NULL; expected an array of %d", n) : 0;
}

int MPIR_Group_translate_ranks(MPIR_Group *group1, int n, const int *ranks1, MPIR_Group *group2, int *ranks2)
{
    int err = check_array(n, ranks1, "ranks1");
    if (!err)
        err = check_array(n, ranks2, "ranks2");
    for (int i = 0; i < n && !err; i++)
        if (ranks1[i] == MPI_PROC_NULL)
            ranks2[i] = MPI_PROC_NULL;
        else if (!(err = check_rank(group1, "ranks1", i, ranks1[i])))
            ranks2[i] = MPIR_Group_rank_of(group2, MPIR_Group_grank(group1, ranks1[i]));
    return err;
}

/* ---- Sets of ranks of one group ------------------------------------------------------------------------------ */

enum {
    FEW = 128 /* a set of less than a FEWth of a group's ranks is hashed: no more memory than they need */
};

/* A bitmap of the group's ranks, or a hash with open addressing whose slots hold rank + 1. */
typedef struct rank_set {
    uint64_t *bits;
    int32_t *slot;
    uint32_t mask;
} rank_set;

/* For at most n ranks of g. */
static int set_init(rank_set *s, const MPIR_Group *g, int64_t n)
{
    uint64_t slots = 2;
    *s = (rank_set){ 0 };
    if (n < g->size / FEW) {
        while (slots < 2 * (uint64_t)n)
            slots *= 2;
        s->slot = calloc(slots, sizeof *s->slot);
        s->mask = (uint32_t)(slots - 1);
    } else {
        s->bits = calloc(((size_t)g->size + 63) / 64 + 1, sizeof *s->bits);
    }
    if (s->slot || s->bits)
        return 0;
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a set of %lld ranks", (long long)n);
}

static void set_fini(rank_set *s)
{
    free(s->bits);
    free(s->slot);
}

/* Where the rank is in the hash, or would be. */
static int32_t *set_slot(const rank_set *s, int64_t rank)
{
    uint32_t at = MPIR_Group_hash((int32_t)rank) & s->mask;
    while (s->slot[at] && s->slot[at] != rank + 1)
        at = (at + 1) & s->mask;
    return &s->slot[at];
}

static bool set_has(const rank_set *s, int64_t rank)
{
    return s->slot ? *set_slot(s, rank) != 0 : s->bits[rank / 64] >> rank % 64 & 1;
}

/* True if the rank was new. */
static bool set_add(rank_set *s, int64_t rank)
{
    if (set_has(s, rank))
        return false;
    if (s->slot)
        *set_slot(s, rank) = (int32_t)rank + 1;
    else
        s->bits[rank / 64] |= 1ull << rank % 64;
    return true;
}

static int32_t *new_granks(int64_t n)
{
    int32_t *t = n <= INT32_MAX ? malloc((size_t)(n ? n : 1) * sizeof *t) : NULL;
    if (!t)
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %lld processes", (long long)n);
    return t;
}

/* A group made of the members of one or two others belongs to their session. */
static int derive(int err, const MPIR_Group *a, const MPIR_Group *b, MPIR_Group **newgroup)
{
    if (!err)
        MPIR_Group_derive(*newgroup, a->session || !b ? a->session : b->session);
    return err;
}

/* The members of g that are (inside) or are not in the set, in g's order. */
static int members_where(const MPIR_Group *g, const rank_set *s, bool inside, MPIR_Group **newgroup)
{
    int32_t *t = new_granks(g->size), n = 0;
    if (!t)
        return MPI_ERR_NO_MEM;
    for (int32_t i = 0; i < g->size; i++)
        if (set_has(s, i) == inside)
            t[n++] = MPIR_Group_grank(g, i);
    return derive(MPIR_Group_adopt(n, t, newgroup), g, NULL, newgroup);
}

/* The members of a that are (inside) or are not in b too. */
static int members_by(MPIR_Group *a, MPIR_Group *b, bool inside, MPIR_Group **newgroup)
{
    int32_t *t = new_granks(inside && b->size < a->size ? b->size : a->size), n = 0;
    if (!t)
        return MPI_ERR_NO_MEM;
    for (int32_t i = 0; i < a->size; i++)
        if ((MPIR_Group_rank_of(b, MPIR_Group_grank(a, i)) != MPI_UNDEFINED) == inside)
            t[n++] = MPIR_Group_grank(a, i);
    return MPIR_Group_adopt(n, t, newgroup);
}

int MPIR_Group_intersection(MPIR_Group *group1, MPIR_Group *group2, MPIR_Group **newgroup)
{
    return derive(members_by(group1, group2, true, newgroup), group1, group2, newgroup);
}

int MPIR_Group_difference(MPIR_Group *group1, MPIR_Group *group2, MPIR_Group **newgroup)
{
    return derive(members_by(group1, group2, false, newgroup), group1, group2, newgroup);
}

int MPIR_Group_union(MPIR_Group *group1, MPIR_Group *group2, MPIR_Group **newgroup)
{
    int32_t *t = new_granks((int64_t)group1->size + group2->size), n = group1->size;
    if (!t)
        return MPI_ERR_NO_MEM;
    for (int32_t i = 0; i < n; i++)
        t[i] = MPIR_Group_grank(group1, i);
    for (int32_t i = 0; i < group2->size; i++)
        if (MPIR_Group_rank_of(group1, MPIR_Group_grank(group2, i)) == MPI_UNDEFINED)
            t[n++] = MPIR_Group_grank(group2, i);
    return derive(MPIR_Group_adopt(n, t, newgroup), group1, group2, newgroup);
}

/* ---- Lists of ranks ------------------------------------------------------------------------------------------ */

static int duplicate_rank(const int *ranks, int i)
{
    int j = 0;
    while (ranks[j] != ranks[i])
        j++;
    return MPIR_Err(MPI_ERR_RANK, "ranks", "[%d] is %d, as is ranks[%d]; expected different ranks", i,
                    ranks[i], j);
}

/* Make the set of a list of n ranks, checked. */
static int collect_ranks(const MPIR_Group *g, int n, const int *ranks, rank_set *s)
{
    int err = check_array(n, ranks, "ranks");
    if (!err)
        err = set_init(s, g, n);
    if (err)
        return err;
    for (int i = 0; i < n && !err; i++)
        if (!(err = check_rank(g, "ranks", i, ranks[i])) && !set_add(s, ranks[i]))
            err = duplicate_rank(ranks, i);
    if (err)
        set_fini(s);
    return err;
}

static int include(const MPIR_Group *g, int n, const int *ranks, MPIR_Group **newgroup)
{
    int32_t *t = new_granks(n);
    if (!t)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++)
        t[i] = MPIR_Group_grank(g, ranks[i]);
    return derive(MPIR_Group_adopt(n, t, newgroup), g, NULL, newgroup);
}

int MPIR_Group_incl(MPIR_Group *group, int n, const int *ranks, MPIR_Group **newgroup)
{
    rank_set s;
    int err = collect_ranks(group, n, ranks, &s);
    if (err)
        return err;
    err = include(group, n, ranks, newgroup);
    set_fini(&s);
    return err;
}

int MPIR_Group_excl(MPIR_Group *group, int n, const int *ranks, MPIR_Group **newgroup)
{
    rank_set s;
    int err = collect_ranks(group, n, ranks, &s);
    if (err)
        return err;
    err = members_where(group, &s, false, newgroup);
    set_fini(&s);
    return err;
}

/* ---- Ranges {first, last, stride} ---------------------------------------------------------------------------- */

/* Ranks in a range; negative if it does not lead from first to last. */
static int64_t range_length(const int r[3])
{
    int64_t span = (int64_t)r[1] - r[0];
    if (r[2] == 0 || (span != 0 && (span < 0) != (r[2] < 0)))
        return -1;
    return span / r[2] + 1;
}

static int check_range(const MPIR_Group *g, int i, const int r[3])
{
    int64_t len = range_length(r);
    if (len < 0)
        return MPIR_Err(MPI_ERR_ARG, "ranges",
                        "[%d] is {%d, %d, %d}; expected a stride that leads from %d to %d", i, r[0], r[1],
                        r[2], r[0], r[1]);
    int err = check_rank(g, "ranges", i, r[0]);
    return err ? err : check_rank(g, "ranges", i, r[0] + (len - 1) * r[2]);
}

/* The number of ranks in n ranges, each checked. */
static int count_ranges(const MPIR_Group *g, int n, int (*ranges)[3], int64_t *count)
{
    int err = check_array(n, ranges, "ranges");
    *count = 0;
    for (int i = 0; i < n && !err; i++)
        if (!(err = check_range(g, i, ranges[i])))
            *count += range_length(ranges[i]);
    return err;
}

/* Make the set of the ranks in n ranges, checked; ends at the first rank that comes twice, so ranges that overlap
 * cost no more than others.  *count: how many. */
static int collect_ranges(const MPIR_Group *g, int n, int (*ranges)[3], rank_set *s, int64_t *count)
{
    int err = count_ranges(g, n, ranges, count);
    if (!err)
        err = set_init(s, g, *count);
    if (err)
        return err;
    for (int i = 0; i < n; i++) {
        int64_t len = range_length(ranges[i]), rank = ranges[i][0];
        for (int64_t k = 0; k < len; k++, rank += ranges[i][2])
            if (!set_add(s, rank)) {
                set_fini(s);
                return MPIR_Err(MPI_ERR_RANK, "ranges",
                                "[%d] holds rank %lld, which came before; expected different ranks", i,
                                (long long)rank);
            }
    }
    return 0;
}

static int include_ranges(const MPIR_Group *g, int n, int (*ranges)[3], int64_t count, MPIR_Group **newgroup)
{
    int32_t *t = new_granks(count), k = 0;
    if (!t)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++) {
        int64_t len = range_length(ranges[i]), rank = ranges[i][0];
        for (int64_t j = 0; j < len; j++, rank += ranges[i][2])
            t[k++] = MPIR_Group_grank(g, (int32_t)rank);
    }
    return derive(MPIR_Group_adopt(k, t, newgroup), g, NULL, newgroup);
}

int MPIR_Group_range_incl(MPIR_Group *group, int n, int (*ranges)[3], MPIR_Group **newgroup)
{
    rank_set s;
    int64_t count;
    if (n == 1 && !group->granks) { /* a range of a range needs no table */
        int err = check_array(n, ranges, "ranges");
        if (!err)
            err = check_range(group, 0, ranges[0]);
        if (err)
            return err;
        int64_t len = range_length(ranges[0]);
        int32_t stride = len > 1 ? group->stride * ranges[0][2] : 1;
        err = MPIR_Group_new_range((int32_t)len, MPIR_Group_grank(group, ranges[0][0]), stride, newgroup);
        return derive(err, group, NULL, newgroup);
    }
    int err = collect_ranges(group, n, ranges, &s, &count);
    if (err)
        return err;
    err = include_ranges(group, n, ranges, count, newgroup);
    set_fini(&s);
    return err;
}

int MPIR_Group_range_excl(MPIR_Group *group, int n, int (*ranges)[3], MPIR_Group **newgroup)
{
    rank_set s;
    int64_t count;
    int err = collect_ranges(group, n, ranges, &s, &count);
    if (err)
        return err;
    err = members_where(group, &s, false, newgroup);
    set_fini(&s);
    return err;
}
