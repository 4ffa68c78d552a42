/* SPDX-License-Identifier: BSD-3-Clause */
/* even.c: the meetings of a team whose members have a core each, over lines (util/epoch.h, which has the invariants).
 *
 * Where team.c has a counter and a last one who combines, here each looks at all and does everything for itself. */
#include "mpid/core/core.h"

enum { LOOKS = 32 /* at the lines, before the first at anything else */ };

static bool fences(void)
{
    return atomic_load_explicit(&MPID_core.job.segment.head->fence_all, memory_order_relaxed) != 0;
}

static void show_stores(void)
{
    ku_wait_show_stores(atomic_load_explicit(&MPID_core.job.segment.head->fence_all, memory_order_relaxed));
}

void MPID_Even_join(struct team *t, struct ku_epoch_head *head, void *lines, size_t stride)
{
    t->lines = (struct ku_epochs){ .head = head,
                                   .lines = lines,
                                   .stride = stride,
                                   .members = t->comm->size,
                                   .me = t->comm->rank,
                                   .show_stores = show_stores };
}

/* This process has come, or has changed `end`, and somebody sleeps. */
static void wake(const struct team *t)
{
    struct ku_epoch_head *h = t->lines.head;
    atomic_thread_fence(memory_order_seq_cst);
    if (ku_epoch_end(&t->lines) == KU_EPOCH_FREE && !ku_epoch_met(&t->lines, t->epoch))
        return;
    atomic_fetch_add(&h->calls, 1);
    ku_wait_wake_all(&h->calls);
    if (atomic_load(&h->alone) != 0)
        MPID_Team_wake_each(t);
}

static void wake_sleepers(const struct team *t)
{
    if (unlikely(fences()))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(
            memory_order_seq_cst); /* the compiler, too, keeps the order that membarrier relies on */
    if (unlikely(atomic_load_explicit(&t->lines.head->sleepers, memory_order_relaxed) != 0))
        wake(t);
}

void MPID_Even_refuse(const struct team *t)
{
    if (ku_epoch_refuse(&t->lines, t->epoch))
        wake_sleepers(t);
}

void MPID_Even_leave(const struct team *t)
{
    ku_epoch_leave(&t->lines, t->epoch);
    wake_sleepers(t);
}

void MPID_Even_arrive(struct team *t, uint32_t what)
{
    t->said = ku_epoch_word(t->epoch, what);
    ku_epoch_say(&t->lines, t->epoch, what);
    wake_sleepers(t);
}

/* Before the last look. */
void MPID_Even_lie_down(struct team *t)
{
    struct ku_epoch_head *h = t->lines.head;
    if (!t->on_word)
        atomic_fetch_add(&h->alone, 1);
    atomic_fetch_add(&h->sleepers, 1);
    t->calls = atomic_load(&h->calls);
    show_stores();
}

bool MPID_Even_waits(const struct team *t)
{
    return ku_epoch_end(&t->lines) == KU_EPOCH_FREE && !ku_epoch_all(&t->lines, t->epoch, t->said) &&
           !ku_epoch_differ(&t->lines, t->epoch, t->said);
}

void MPID_Even_sleep(const struct team *t, _Atomic uint32_t *sleeping, int most_ms)
{
    ku_wait_sleep_on(sleeping, &t->lines.head->calls, t->calls, most_ms);
}

void MPID_Even_rise(const struct team *t)
{
    atomic_fetch_sub(&t->lines.head->sleepers, 1);
    if (!t->on_word)
        atomic_fetch_sub(&t->lines.head->alone, 1);
}

/* Not all have come for long: once up the ladder. */
static void even_step(struct team *t, struct ku_wait *w)
{
    if (MPID_Progress() > 0) {
        ku_wait_reset(w);
        return;
    }
    MPID_core.waits = t;
    MPID_Wait_step(w, NULL);
    MPID_core.waits = NULL;
}

/* Each time that this process has looked in vain: false: they will not meet. */
static bool hopeful(struct team *t)
{
    if (unlikely(ku_epoch_differ(&t->lines, t->epoch, t->said) || MPID_Comm_lost_some(t->comm)))
        MPID_Even_leave(t);
    return ku_epoch_end(&t->lines) == KU_EPOCH_FREE;
}

/* Without waiting. */
enum MPID_TEAM_TURN MPID_Even_look(struct team *t)
{
    const struct ku_epochs *e = &t->lines;
    if (!ku_epoch_over(e, t->epoch, t->said)) {
        if (likely(hopeful(t)))
            return MPID_TEAM_WAIT;
        if (!ku_epoch_verdict(e, t->epoch))
            return MPID_TEAM_BROKEN;
    }
    t->epoch++;
    return MPID_TEAM_MET;
}

bool MPID_Even_wait(struct team *t)
{
    const struct ku_epochs *e = &t->lines;
    struct ku_wait w = { 0 };
    int looks = 0;
    while (!ku_epoch_over(e, t->epoch, t->said)) {
        if (++looks < LOOKS)
            continue;
        if (w.spins == 0 && w.yields == 0)
            t->patience_ms = MPID_Team_patience(t);
        if (!hopeful(t)) {
            if (!ku_epoch_verdict(e, t->epoch))
                return false;
            break;
        }
        even_step(t, &w);
        looks = 0;
    }
    t->epoch++;
    return true;
}
