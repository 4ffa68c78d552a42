/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.c: the runs of memory of a range of a typed buffer (MPID_Layout_runs).
 *
 * A place in the packed form is found as type_copy.c does it: one division a loop, one search a list.  Distances
 * are computed without regard to overflow, as addresses are: those of a type whose bounds fit in 63 bits do not
 * overflow. */
#include "mpid.h"
#include "mpid/datatype/layout.h"

struct walk {
    bool (*fn)(void *arg, int64_t at, int64_t bytes);
    void *arg;
    int64_t at, bytes; /* the run that may still grow; bytes 0: none yet */
    int64_t taken;
};

/* Hand out the run that waits; false: stop. */
static bool walk_flush(struct walk *w)
{
    if (w->bytes && !w->fn(w->arg, w->at, w->bytes))
        return false;
    w->taken += w->bytes;
    w->bytes = 0;
    return true;
}

static int64_t moved(int64_t base, int64_t by)
{
    return (int64_t)((uint64_t)base + (uint64_t)by);
}

static int64_t times(int64_t i, int64_t step)
{
    return (int64_t)((uint64_t)i * (uint64_t)step);
}

static bool add_run(struct walk *w, int64_t at, int64_t bytes)
{
    if (w->bytes && moved(w->at, w->bytes) == at) {
        w->bytes += bytes;
        return true;
    }
    if (!walk_flush(w))
        return false;
    w->at = at;
    w->bytes = bytes;
    return true;
}

static bool walk_level(struct walk *w, const struct MPID_LAYOUT *l, int inner, int64_t base, int64_t skip,
                       int64_t len);

static bool walk_layout(struct walk *w, const struct MPID_LAYOUT *l, int64_t base, int64_t skip, int64_t len)
{
    return walk_level(w, l, l->depth, moved(base, l->off), skip, len);
}

static bool walk_list(struct walk *w, const struct MPID_LIST *list, int64_t base, int64_t skip, int64_t len)
{
    int64_t i = MPID_List_entry_at(list, skip);
    skip -= MPID_List_start(list, i);
    for (; len > 0; i++) {
        const struct MPID_LAYOUT *sub = MPID_List_entry_sub(list, i);
        int64_t at = moved(base, list->off[i]), rest = MPID_List_entry_bytes(list, i) - skip;
        int64_t n = rest < len ? rest : len;
        if (!(sub ? walk_layout(w, sub, at, skip, n) : add_run(w, moved(at, skip), n)))
            return false;
        skip = 0;
        len -= n;
    }
    return true;
}

/* A range inside the `inner` innermost loops of l. */
static bool walk_level(struct walk *w, const struct MPID_LAYOUT *l, int inner, int64_t base, int64_t skip,
                       int64_t len)
{
    if (inner == 0)
        return l->list ? walk_list(w, l->list, base, skip, len) : add_run(w, moved(base, skip), len);
    const struct MPID_LOOP *lp = &l->loop[l->depth - inner];
    base = moved(base, times(skip / lp->bytes, lp->stride));
    for (skip %= lp->bytes; len > 0; skip = 0, base = moved(base, lp->stride)) {
        int64_t n = lp->bytes - skip < len ? lp->bytes - skip : len;
        if (!walk_level(w, l, inner - 1, base, skip, n))
            return false;
        len -= n;
    }
    return true;
}

int64_t MPID_Layout_runs(const struct MPIR_DATATYPE *t, int64_t offset, int64_t len,
                         bool (*fn)(void *arg, int64_t at, int64_t bytes), void *arg)
{
    struct walk w = { .fn = fn, .arg = arg };
    bool on = true;
    if (len <= 0)
        return 0;
    if (t->is_contig)
        return fn(arg, offset, len) ? len : 0;
    int64_t i = offset / t->size, skip = offset % t->size;
    for (; on && len > 0; i++, skip = 0) {
        int64_t n = t->size - skip < len ? t->size - skip : len;
        on = walk_layout(&w, t->layout, times(i, t->extent), skip, n);
        len -= n;
    }
    if (on)
        walk_flush(&w);
    return w.taken;
}
