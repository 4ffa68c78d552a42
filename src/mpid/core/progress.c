/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: polling, waiting, and peers that are lost.
 *
 * Invariants
 *   1. MPID_Progress is the one place that polls devices; it is never entered from a device's upcall.
 *   2. A peer is found gone in an upcall, in a send, or from the segment; it is only marked there (peer.gone), and its
 *      requests are failed at the end of the next MPID_Progress, when nobody walks their queues.
 *   3. Who sleeps has looked at every device after saying that it sleeps (util/wait.h).  With something to send
 *      that waits for room it is woken by the device, and sleeps shortly in case that device cannot.
 *   4. A device that no peer uses is looked at now and then only; once it brings something, always. */
#include "core.h"
#include <poll.h>
#include <sched.h>
#include "util/clock.h"

enum {
    SLEEP_MS = 1000,
    BUSY_MS = 1,
    CHECK_EVENTS = 16,
    DRAIN_MAX = 10000,
    DRAIN_VAIN = 256,
    IDLE_EVERY = 64
};
static const uint64_t STILL_NS = 1900000000; /* a sleep in which nothing came for so long may be for ever */

/* ---- Lost peers ---- */

void MPID_Peer_gone(int32_t grank)
{
    if (grank < 0 || grank >= MPID_core.peers.n || !MPID_Peers_lose(&MPID_core.peers, grank))
        return;
    MPID_core.gone_pending = true;
    MPID_Peer_failed();
    if (MPID_core.config.lost != NULL)
        MPID_core.config.lost();
    MPID_Debug("rank %d is gone", (int)grank);
    ku_event_tell(&MPID_events[EVENT_GONE], (const int64_t[]){ grank });
}

void MPID_Peer_failed(void)
{
    atomic_store(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->found_gone, 1);
}

static bool is_hopeless(const struct MPIR_COMMUNICATOR *comm, int32_t source, bool may_pend, int *error_code)
{
    int32_t grank = source != MPI_ANY_SOURCE ? grank_of(comm, source) : MPID_Comm_lost_all(comm);
    if (source == MPI_ANY_SOURCE && grank < 0 && !may_pend && MPID_Survives())
        grank = MPID_Comm_lost_unknown(comm);
    if (MPID_core.doubts & DOUBT_LOST) {
        *error_code =
            ku_err_set(MPI_ERR_NO_MEM, NULL, "messages were lost because there was no memory to keep them");
        return true;
    }
    if (grank < 0 || !peer_gone(grank))
        return false;
    *error_code = MPID_Err_gone(grank);
    return true;
}

bool MPID_Recv_hopeless(const struct MPIR_COMMUNICATOR *comm, int32_t source, int *error_code)
{
    return is_hopeless(comm, source, false, error_code);
}

/* Those of the program alone: what the library has begun has nobody to acknowledge anything. */
static bool may_pend(const struct MPIR_HANDLE *r)
{
    return !(r->state & REQ_BLOCKING) && r->obj.index != KEEL_NO_INDEX;
}

bool MPID_Recv_fails(const struct MPIR_HANDLE *r, int *error_code)
{
    return is_hopeless(r->comm, r->rank, may_pend(r), error_code);
}

bool MPID_Recv_pending(MPID_Request request, int *error_code)
{
    if (!MPID_Survives() || request->rank != MPI_ANY_SOURCE || (request->state & REQ_STATE) != REQ_POSTED ||
        !may_pend(request))
        return false;
    int32_t grank = MPID_Comm_lost_unknown(request->comm);
    if (grank < 0)
        return false;
    *error_code =
        ku_err_set(MPID_ERR_PROC_FAILED_PENDING, NULL,
                   "rank %d has failed, from which this receive might have been; it goes on when that is "
                   "acknowledged",
                   (int)grank);
    return true;
}

static void reap_one(struct MPIR_HANDLE *r, void *arg)
{
    int err = 0;
    if (!MPID_Recv_fails(r, &err))
        return;
    MPID_Posted_remove(arg, r);
    r->s = (MPIR_Status){ .MPI_SOURCE = r->rank, .MPI_TAG = r->tag };
    MPID_Req_fail(r, err);
}

static void reap_context(struct context *c, void *arg)
{
    (void)arg;
    MPID_Posted_each(&c->posted, reap_one, &c->posted);
}

static int reap(void)
{
    MPID_core.gone_pending = false;
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        if (p->gone) {
            MPID_Rndv_peer_lost(p);
            MPID_Mem_peer_lost(p->grank);
        }
    MPID_Contexts_each(reap_context, NULL);
    MPID_Revoked_repair();
    return 1;
}

static int look_at_idle(void)
{
    int n = 0;
    for (int i = MPID_core.nactive; i < MPID_core.npoll; i++) {
        struct core_dev *d = MPID_core.poll[i];
        int got = d->ops.progress(d->dev);
        n += got;
        if (got > 0)
            MPID_Dev_active(d);
    }
    return n;
}

/* A device with a descriptor has something to look at, whatever its progress said: it may not have looked.  (If it
 * has found nothing many times, there is nothing: descriptors of libraries may stay readable.) */
static bool readable(void)
{
    struct pollfd fds[CORE_DEVICES];
    nfds_t n = 0;
    for (int i = 0; i < MPID_core.npoll; i++)
        if (MPID_core.poll[i]->fd >= 0)
            fds[n++] = (struct pollfd){ .fd = MPID_core.poll[i]->fd, .events = POLLIN };
    return n > 0 && poll(fds, n, 0) > 0;
}

static bool failed_more(void)
{
    return atomic_load_explicit(&MPID_core.job.segment.head->failed, memory_order_acquire) !=
           MPID_core.failed_seen;
}

/* One that has ended in order may be waited for by name in an agreement alone (MPID_Lost). */
static void peer_ended(int32_t grank)
{
    if (atomic_load(&ku_segment_gone(&MPID_core.job.segment)[grank]) != KU_GONE_ENDED)
        MPID_Peer_gone(grank);
    else {
        MPID_Revoked_repair();
        if (MPID_core.config.lost != NULL)
            MPID_core.config.lost();
    }
}

/* Events: 1 if the launcher has seen processes die.  What they sent before is delivered first. */
static int check_failed(void)
{
    const struct ku_segment *s = &MPID_core.job.segment;
    if (likely(!failed_more()))
        return 0;
    uint32_t from = MPID_core.failed_seen;
    MPID_core.failed_seen = atomic_load_explicit(&s->head->failed, memory_order_acquire);
    for (int i = 0, vain = 0; i < DRAIN_MAX && vain < DRAIN_VAIN; i++, vain++)
        if (MPID_Progress() + look_at_idle() > 0)
            vain = 0;
        else if (!readable())
            break;
    for (; from != MPID_core.failed_seen; from++)
        peer_ended(ku_segment_dead(s, from));
    if (MPID_core.gone_pending)
        reap();
    MPID_Jobs_tell();
    return 1;
}

/* ---- Polling ---- */

int (*MPID_Progress_also)(void);

bool MPID_Peer_has_work(const struct peer *p)
{
    return !p->gone && (p->msg_head != NULL || p->ctl_head != NULL || p->stream_head != NULL ||
                        p->mem_head != NULL || p->signals);
}

bool MPID_Peers_busy(void)
{
    for (const struct peer *p = MPID_core.busy; p != NULL; p = p->busy_next)
        if (MPID_Peer_has_work(p))
            return true;
    return false;
}

static int drive_busy(void)
{
    struct peer *list = MPID_core.busy;
    int n = 0;
    MPID_core.busy = NULL;
    while (list != NULL) {
        struct peer *p = list;
        list = p->busy_next;
        p->busy = false;
        if (unlikely(p->undecided) && MPID_Peer_decide(p))
            n++;
        n += MPID_Peer_drive(p);
        if (MPID_Peer_has_work(p))
            MPID_Peer_busy(p);
        MPID_Peer_update(p);
    }
    return n;
}

int MPID_Progress(void)
{
    int n = 0;
    for (int i = 0; i < MPID_core.nactive; i++)
        n += MPID_core.poll[i]->ops.progress(MPID_core.poll[i]->dev);
    if (unlikely(MPID_core.nactive < MPID_core.npoll) && unlikely(++MPID_core.polls % IDLE_EVERY == 0))
        n += look_at_idle();
    if (unlikely(MPID_core.busy != NULL))
        n += drive_busy();
    if (unlikely(MPID_core.pulls != NULL))
        n += MPID_Pull_drive();
    if (unlikely(MPID_core.gone_pending))
        n += reap();
    if (unlikely(MPID_Progress_also != NULL))
        n += MPID_Progress_also();
    if (n > 0 && needs_some(MPID_NEEDS_THREADS))
        MPID_Thread_event();
    return n;
}

/* ---- Waiting ---- */

/* Calls in a row that asked and met nothing, and how far that has led up the ladder. */
static struct {
    struct ku_wait w;
    uint32_t calls;
    uint64_t since;  /* clock at the first of them */
    uint64_t napped; /* and at the end of the last nap */
} asking;

static uint32_t fences(void)
{
    return atomic_load_explicit(&MPID_core.job.segment.head->fence_all, memory_order_relaxed);
}

static void sources_find(struct sources *s)
{
    s->me = ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank);
    s->nwords = s->nfds = 0;
    for (int i = 0; i < MPID_core.npoll; i++) {
        _Atomic uint32_t *word = MPID_core.poll[i]->word;
        int j = 0;
        while (j < s->nwords && s->word[j] != word)
            j++;
        if (j == s->nwords && word != NULL && word != &s->me->sleeping)
            s->word[s->nwords++] = word;
        if (MPID_core.poll[i]->fd >= 0 && s->nfds < KU_WAIT_FDS - 1)
            s->fd[s->nfds++] = MPID_core.poll[i]->fd;
    }
    s->joint = MPID_Joints_fd() >= 0;
    MPID_Joints_unmap();
    if (s->joint) {
        MPID_Joints_look();
        s->fd[s->nfds++] = MPID_Joints_fd();
    }
}

static void sources_prepare(const struct sources *s)
{
    uint32_t who = fences();
    if (s->joint)
        MPID_Joints_prepare(s->me);
    if (s->nfds > 0)
        ku_wait_prepare_poll(s->me, who);
    else
        ku_wait_prepare(&s->me->sleeping, who);
    for (int i = 0; i < s->nwords; i++)
        ku_wait_prepare(s->word[i], who);
}

static void sources_cancel(const struct sources *s)
{
    ku_wait_cancel(&s->me->sleeping);
    if (s->joint)
        MPID_Joints_cancel();
    for (int i = 0; i < s->nwords; i++)
        ku_wait_cancel(s->word[i]);
}

/* May the process sleep on the descriptors?  After a look at the devices that found nothing. */
static bool sources_arm(const struct sources *s)
{
    bool armed = true;
    for (int i = 0; s->nfds > 0 && armed && i < MPID_core.npoll; i++)
        if (MPID_core.poll[i]->fd >= 0)
            armed = MPID_core.poll[i]->ops.arm(MPID_core.poll[i]->dev);
    return armed;
}

static void sources_sleep(const struct sources *s, int most_ms)
{
    if (s->nwords > 0)
        most_ms = BUSY_MS; /* words that nobody can sleep on together */
    if (s->nfds > 0)
        ku_wait_poll(s->me, s->fd, s->nfds, most_ms);
    else
        ku_wait_sleep(&s->me->sleeping, most_ms);
}

/* ---- The helper's ---- */

int MPID_Helper_look(struct sources *s)
{
    sources_find(s);
    ku_wait_beside_end(s->me);
    sources_prepare(s);
    int met = MPID_Progress() + look_at_idle() + check_failed();
    s->busy = MPID_core.busy != NULL;
    if (met > 0 || !sources_arm(s)) {
        ku_wait_beside_end(s->me);
        MPID_Joints_cancel();
        met++;
    }
    return met;
}

void MPID_Helper_sleep(const struct sources *s, int most_ms)
{
    bool busy = s->nwords > 0 || s->busy;
    ku_wait_beside(s->me, s->fd, s->nfds, busy ? BUSY_MS : most_ms);
}

/* ---- Being woken ---- */

/* Counts MPID_Wake; the last one this thread has returned for. */
static _Atomic uint32_t wakes;
static _Thread_local uint32_t wakes_seen;

static bool woken(void)
{
    return atomic_load_explicit(&wakes, memory_order_acquire) != wakes_seen;
}

void MPID_Wake(void)
{
    atomic_fetch_add_explicit(&wakes, 1, memory_order_release);
    if (needs_some(MPID_NEEDS_THREADS)) { /* who leaves wakes all */
        MPID_Thread_quiet(true);          /* perhaps a thread of the library's own */
        MPID_Thread_enter();
        MPID_Thread_event();
        MPID_Thread_leave();
        MPID_Thread_quiet(false);
    } else if (MPID_core.up)
        ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->sleeping,
                     true);
}

static struct ku_seg_call *my_call(void)
{
    return ku_segment_call(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank);
}

/* For whoever asks why nothing moves: since when this wait has met no event.  Said before the word says that it
 * sleeps. */
static uint64_t say_since(struct ku_wait *w)
{
    uint64_t now = ku_clock_ns();
    if (w->since == 0)
        w->since = now;
    else if (now - w->since > STILL_NS) {
        MPID_Report_still();
        MPID_Jobs_watch();
    }
    atomic_store_explicit(&my_call()->since, w->since, memory_order_relaxed);
    return now;
}

static void count_sleep(uint64_t from, uint64_t to)
{
    MPID_core.counts.sleeps++;
    MPID_core.counts.asleep += to - from;
    ku_event_tell(&MPID_events[EVENT_SLEPT], (const int64_t[]){ (int64_t)(to - from) });
}

/* The last look at what the teams wait for. */
static bool lie_down(struct team *waits, bool on_word, int *most_ms)
{
    if (!MPID_Teams_may_sleep(most_ms))
        return false;
    if (waits == NULL || MPID_Team_may_sleep(waits, on_word, most_ms))
        return true;
    MPID_Teams_awake();
    return false;
}

/* What the thread waits for that has the device lock: it takes that away before it gives the lock away, and says
 * it again afterwards. */
static void say_waits(struct team *team, struct core_word word)
{
    MPID_core.waits = team;
    MPID_core.word = word;
}

static const struct core_word no_word;

/* The number of events that the last look before sleeping met. */
static int sleep_now(struct ku_wait *w, struct team *team, struct core_word word, int most_ms)
{
    struct sources s;
    uint64_t from = say_since(w), to;
    sources_find(&s);
    sources_prepare(&s);
    int met = MPID_Progress() + look_at_idle();
    if (woken()) { /* whoever waits looks whether that was for him, and may sleep the next time */
        wakes_seen = atomic_load_explicit(&wakes, memory_order_acquire);
        met++;
    }
    if (met == 0 &&
        unlikely(report_wanted())) { /* since the last look: this wait goes on, and comes here again */
        sources_cancel(&s);
        return 0;
    }
    if (met > 0 || failed_more() || !sources_arm(&s) || (MPID_core.ending && MPID_Sync_over()) ||
        !lie_down(team, s.nfds + s.nwords == 0, &most_ms)) {
        ku_wait_reset(w);
        sources_cancel(&s);
        return met;
    }
    say_waits(NULL, no_word);
    uint32_t depth = MPID_Thread_lie_down();
    if (team != NULL && team->on_word)
        MPID_Team_sleep(team, &s.me->sleeping, most_ms);
    else if (word.at == NULL)
        sources_sleep(&s, most_ms);
    else if (s.nfds + s.nwords > 0 || !ku_wait_sleep_on(&s.me->sleeping, word.at, word.is, most_ms))
        sources_sleep(&s, BUSY_MS);
    MPID_Thread_rise(depth);
    say_waits(team, word);
    sources_cancel(&s);
    to = ku_clock_ns();
    atomic_store_explicit(&my_call()->seen, to, memory_order_relaxed);
    count_sleep(from, to);
    if (team != NULL)
        MPID_Team_awake(team);
    MPID_Teams_awake();
    return 0;
}

/* The launcher asks.  The answer is true of all that has come before, and `since` of the time up to the answer:
 * the events met. */
static int answer(struct ku_wait *w, struct MPIR_HANDLE *r)
{
    int met = MPID_Progress() + look_at_idle();
    if (met > 0)
        ku_wait_reset(w);
    if (w->since == 0)
        w->since = ku_clock_ns();
    atomic_store_explicit(&my_call()->since, w->since, memory_order_relaxed);
    MPID_Report(r, false);
    return met;
}

enum ku_wait_step MPID_Wait_climb(struct ku_wait *w)
{
    return needs_some(MPID_NEEDS_THREADS) ? MPID_Thread_step(w) : ku_wait_step(w);
}

/* The same while another thread drives.  Of what happens in a team's memory, or to a word of it, nobody tells it. */
static int wait_parked(struct ku_wait *w, struct MPIR_HANDLE *r, const struct team *team, bool by_memory)
{
    uint32_t before = MPID_Thread_events();
    say_waits(NULL, no_word);
    if (!by_memory)
        return MPID_Thread_park(r, team, w, SLEEP_MS);
    if (MPID_Thread_step(w) == KU_WAIT_SLEEP && MPID_Thread_events() == before)
        MPID_Thread_park(r, team, w, BUSY_MS);
    return MPID_Thread_events() != before;
}

static int wait_step(struct ku_wait *w, struct MPIR_HANDLE *r)
{
    struct team *team = MPID_core.waits;
    struct core_word word = MPID_core.word;
    bool threaded = needs_some(MPID_NEEDS_THREADS);
    uint32_t before = threaded ? MPID_Thread_events() : 0;
    int met;
    if (threaded)
        MPID_Thread_looks();
    if (threaded && !MPID_Thread_drive())
        return wait_parked(w, r, team, team != NULL || word.at != NULL);
    if (unlikely(check_failed()))
        return 1; /* what is waited for may have failed by that */
    if (unlikely(report_wanted()) && (met = answer(w, r)) > 0)
        return met;
    say_waits(NULL, no_word);
    bool sleeps = MPID_Wait_climb(w) == KU_WAIT_SLEEP;
    say_waits(team, word);
    if (sleeps && threaded)
        sleeps = MPID_Thread_drive(); /* perhaps another thread does, since this one has let others run */
    met = sleeps ? sleep_now(w, team, word, MPID_core.busy != NULL ? BUSY_MS : SLEEP_MS) : 0;
    return met == 0 && threaded ? MPID_Thread_events() != before : met; /* by another thread */
}

int MPID_Wait_step(struct ku_wait *w, struct MPIR_HANDLE *r)
{
    if (!needs_some(MPID_NEEDS_LISTENED))
        return wait_step(w, r);
    MPID_Tell_wait(r);
    int met = wait_step(w, r);
    if (met > 0)
        MPID_Listeners_left();
    return met;
}

void MPID_Wait_request(struct MPIR_HANDLE *r)
{
    struct ku_wait w = { 0 };
    while (!atomic_load_explicit(&r->is_complete, memory_order_relaxed)) {
        if (MPID_Progress() > 0) {
            ku_wait_reset(&w);
            if (needs_some(MPID_NEEDS_LISTENED))
                MPID_Listeners_left();
            if (needs_some(MPID_NEEDS_THREADS))
                MPID_Thread_yield();
        } else
            MPID_Wait_step(&w, r);
    }
}

/* A millisecond's sleep, or less if something comes, of a program that asks: the events met.  It is not `since`
 * then that the program waits, because it asks, and may have other things to do. */
static int nap(void)
{
    struct sources s;
    sources_find(&s);
    sources_prepare(&s);
    int met = MPID_Progress() + look_at_idle();
    if (met == 0 && !failed_more() && !woken() && sources_arm(&s))
        sources_sleep(&s, BUSY_MS);
    sources_cancel(&s);
    return met;
}

/* Where somebody has the core who does not step aside, a program that asks naps so often: it leaves him most of
 * the core, whatever a look at its devices costs. */
static bool naps_now(void)
{
    enum { NAP_EVERY = 64 /* calls */, CLOCK_EVERY = 8, LOOKS_NS = 40000 /* from a nap to the next */ };
    if (asking.calls % CLOCK_EVERY != 0)
        return false;
    return asking.calls % NAP_EVERY == 0 || ku_clock_ns() - asking.napped > LOOKS_NS;
}

/* The same beside other threads, one of which may sleep already on what wakes this rank. */
static int asked_beside(bool hogged)
{
    enum { PATIENCE = 8 };
    if (++asking.calls <= PATIENCE)
        return 0;
    if (unlikely(report_wanted()) && MPID_Thread_drive())
        MPID_Report(NULL, true);
    if (hogged && naps_now()) {
        int met = MPID_Thread_park(NULL, NULL, NULL, BUSY_MS);
        asking.napped = ku_clock_ns();
        return met;
    }
    uint32_t depth = MPID_Thread_suspend();
    sched_yield();
    MPID_Thread_resume(depth);
    return 0;
}

/* A program that asks again and again (MPI_Test, MPI_Iprobe in a loop) waits too, and must leave the core to whom it
 * waits for: after a few calls in a row that met nothing, up the same ladder, but for its last rung.  Only where
 * somebody has the core who does not step aside it naps now and then: a yield would wait for the end of his time
 * slice, whatever comes meanwhile.  The events met. */
static int asked_in_vain(void)
{
    enum { PATIENCE = 8 };
    bool hogged = ku_wait_hogged();
    if (needs_some(MPID_NEEDS_THREADS))
        return asked_beside(hogged);
    if (++asking.calls <= PATIENCE || (hogged && !naps_now()))
        return 0;
    if (unlikely(report_wanted()))
        MPID_Report(NULL, true);
    if (ku_wait_step(&asking.w) == KU_WAIT_AGAIN)
        return 0;
    ku_wait_reset(&asking.w);
    if (!hogged)
        return 0;
    int met = nap();
    asking.napped = ku_clock_ns();
    return met;
}

/* As say_since, of a program that asks. */
static void asked_for_long(void)
{
    enum { CLOCK_EVERY = 1024 /* calls */ };
    if (asking.calls % CLOCK_EVERY != 0 || !MPID_Jobs_met())
        return;
    uint64_t now = ku_clock_ns();
    if (asking.calls == 0)
        asking.since = now;
    else if (now - asking.since > STILL_NS)
        MPID_Jobs_watch();
    MPID_Joints_look();
}

int MPID_DeviceCheck(MPID_BLOCKING_TYPE blocking)
{
    struct ku_wait w = { 0 };
    int n;
    if (!MPID_core.up)
        return 0;
    if (needs_some(MPID_NEEDS_THREADS))
        MPID_Thread_looks();
    n = MPID_Progress();
    if (n == 0)
        n = check_failed();
    if (blocking == MPID_NOTBLOCKING) { /* a device may deliver one packet a call */
        for (int i = 1, more = n; more > 0 && i < CHECK_EVENTS; i++)
            n += more = MPID_Progress();
        if (n == 0) {
            asked_for_long();
            return asked_in_vain();
        }
        asking.calls = 0;
        ku_wait_reset(&asking.w);
        return n;
    }
    int32_t gone = MPID_core.peers.losses;
    while (n == 0 && gone == MPID_core.peers.losses && likely(!woken())) {
        n = MPID_Wait_step(
            &w, NULL); /* what it met may be what the caller waits for: no other event need follow */
        if (n == 0)
            n = MPID_Progress();
    }
    wakes_seen = atomic_load_explicit(&wakes, memory_order_acquire);
    return n;
}
