/* SPDX-License-Identifier: BSD-3-Clause */
/* hang.c: asking the ranks what they wait for, and watching for a job in which nothing can go on.
 *
 * A deadlock is certain when every rank sleeps for messages and none has met an event for QUIET seconds, has
 * looked at its devices again when asked, and sleeps on: who sleeps sends nothing.  Between hosts something may be
 * on its way, so they are asked twice.  First each answers that all it has sent lies in its peers' machines
 * (call.under_way); then, all having said so and nobody having met an event, each finds nothing there: so nothing
 * is anywhere.  Whether something else than a message may end a wait (a thread, a generalized request, a signal)
 * is in the ranks' answers and in what the system says of their processes; a rank that gives no answer may be
 * stopped.
 *
 * Nobody watches a job that is well: the last rank of a node that has fallen asleep for long says so (PMI_STILL),
 * and only when all nodes have, and ever less often while that lasts, is there something to look at. */
#define _GNU_SOURCE
#include "hang.h"
#include "pmi/launch/base/process.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"
#include "pmi/launch/output/found.h"
#include "pmi/launch/output/output.h"
#include "util/clock.h"
#include "util/wait.h"

static const double SOON = 0.4, TICK = 1, TICK_MOST = 30, QUIET = 1.9, PATIENCE = 0.7, PATIENCE_AWAKE = 0.2,
                    PATIENCE_FAR = 2;
enum {
    LOOK_US = 2000,
    LOOKS_SOON = 8 /* on a busy machine a rank that is asked may answer late, or have fallen asleep last */
};

static struct {
    const struct launch *launch;
    const struct ku_segment *segments;
    void (*look)(int rank, struct hang_rank *r);
    struct hang_rank *ranks;
    uint64_t *moved;    /* of each rank: its `since` when it was looked at last */
    uint32_t *progress; /* what it answered last */
    uint64_t *rests;    /* what it said before that it was asked for a judgement */
    bool *still;        /* of each node: its ranks have said so */
    uint64_t moved_at;
    uint64_t continued; /* ns: the job was stopped before */
    bool stopped;
    double due, tick;
    int looks; /* since all nodes were still: the first ones follow each other soon */
    bool told; /* of this standstill */
    int awake; /* looks in a row since then at which a rank was awake */
    void (*ask_far)(int question);
    bool (*hear_far)(int question);
    struct hang_far *far; /* of each rank; NULL: there are no other hosts */
    int question;
    double end_due; /* jobs that were spawned are reporting; then the job is to be ended */
} hang;

void hang_init(const struct launch *l, const struct ku_segment *segments,
               void (*look)(int rank, struct hang_rank *r))
{
    hang.launch = l;
    hang.segments = segments;
    hang.look = look;
    hang.ranks = xalloc((size_t)l->size, sizeof *hang.ranks);
    hang.moved = xalloc((size_t)l->size, sizeof *hang.moved);
    hang.progress = xalloc((size_t)l->size, sizeof *hang.progress);
    hang.rests = xalloc((size_t)l->size, sizeof *hang.rests);
    hang.still = xalloc((size_t)l->nodes, sizeof *hang.still);
    hang.moved_at = ku_clock_ns();
    hang.tick = l->hang_seconds > 0 && l->hang_seconds < 4 * TICK ? l->hang_seconds / 4 : TICK;
    if (l->hang_seconds > 0)
        hang.due = now() + hang.tick;
}

void hang_init_far(void (*ask)(int question), bool (*hear)(int question))
{
    hang.ask_far = ask;
    hang.hear_far = hear;
    hang.far = xalloc((size_t)hang.launch->size, sizeof *hang.far);
}

/* Clocks of hosts differ, and answers take their time: what differs by little is the same moment. */
static uint64_t moment(uint64_t now_ns, uint64_t age, uint64_t before)
{
    const uint64_t slack = 100000000;
    uint64_t t = age < now_ns ? now_ns - age : 1;
    return t + slack > before && t < before + slack ? before : t;
}

void hang_take(int rank, int question, const struct hang_state *s, char *where, char *process)
{
    struct hang_far *f = &hang.far[rank];
    uint64_t t = ku_clock_ns(), since = f->state.call.since, seen = f->state.call.seen;
    free(f->where);
    free(f->process);
    memcpy(&f->state, s, sizeof *s);
    f->since = s->call.since;
    f->state.call.since = moment(t, s->since_age, since);
    f->state.call.seen = s->call.seen ? moment(t, s->seen_age, seen) : 0;
    f->question = question;
    f->where = where;
    f->process = process;
}

double hang_due(void)
{
    return hang.due;
}

/* Look as soon as all nodes are still, but for those whose ranks have all ended. */
static void look_if_still(void)
{
    const struct launch *l = hang.launch;
    struct hang_rank r;
    for (int i = 0; i < l->size; i++) {
        hang.look(i, &r);
        if (r.pid != 0 && !hang.still[l->node_of[i]])
            return;
    }
    hang.looks = 0;
    hang.due = now();
}

void hang_still(int node)
{
    hang.still[node] = true;
    look_if_still();
}

void hang_ended(void)
{
    for (int i = 0; i < hang.launch->nodes; i++)
        if (hang.still[i] && hang.due == 0) {
            look_if_still();
            return;
        }
}

/* Let them say it again. */
static void forget_still(void)
{
    for (int i = 0; i < hang.launch->nodes; i++) {
        hang.still[i] = false;
        if (hang.segments[i].head)
            atomic_store(&hang.segments[i].head->still, 0);
    }
    if (hang.ask_far)
        hang.ask_far(ASK_STILL);
}

void hang_stopped(bool stopped)
{
    hang.stopped = stopped;
    hang.continued = ku_clock_ns();
}

/* ---- asking ---- */

static bool in_mpi(const struct hang_rank *r)
{
    return r->pid != 0 && r->state == KU_RANK_RUNNING;
}

static void look_at(int rank)
{
    struct hang_rank *r = &hang.ranks[rank];
    free(r->where);
    free(r->waits_for);
    *r = (struct hang_rank){ 0 };
    hang.look(rank, r);
    if (!r->seg && hang.far) {
        r->far = &hang.far[rank];
        r->seg = &r->far->state.seg;
        r->call = &r->far->state.call;
        r->where = r->far->where ? xformat("%s", r->far->where) : NULL;
    }
    if (!r->seg)
        return;
    r->state = atomic_load(&r->seg->state);
    r->asleep = in_mpi(r) && atomic_load(&r->seg->sleeping) != KU_AWAKE;
    r->since = atomic_load(&r->call->since);
    r->seen = atomic_load(&r->call->seen);
    if (r->pid != 0 && atomic_load(&r->seg->pid) > 0) /* known */
        r->pid = atomic_load(&r->seg->pid);           /* a script's child */
}

static void look_at_all(void)
{
    for (int i = 0; i < hang.launch->size; i++)
        look_at(i);
}

/* Ranks that sleep and have not answered yet; ranks in MPI_Init and MPI_Finalize that do neither. */
static void missing(uint32_t asked, int *asleep, int *awake)
{
    *asleep = *awake = 0;
    for (int i = 0; i < hang.launch->size; i++) {
        struct hang_rank *r = &hang.ranks[i];
        r->answered = in_mpi(r) && (r->far ? r->far->question == hang.question && r->far->state.answered
                                           : atomic_load(&r->call->answered) == asked);
        if (r->far)
            continue;
        if (in_mpi(r) && !r->answered)
            ++*(r->asleep ? asleep : awake);
    }
}

static void ask(void)
{
    uint32_t asked = 0;
    double start = now();
    int asleep, awake;
    look_at_all();
    for (int i = 0; i < hang.launch->nodes; i++) {
        if (!hang.segments[i].head)
            continue;
        asked = atomic_fetch_add(&hang.segments[i].head->asked, 1) + 1;
        ku_segment_wake_all(&hang.segments[i]);
    }
    if (hang.ask_far)
        hang.ask_far(++hang.question);
    for (;;) {
        bool far = hang.hear_far && !hang.hear_far(hang.question) && now() < start + PATIENCE_FAR;
        missing(asked, &asleep, &awake);
        if (!far && (asleep + awake == 0 || now() > start + (asleep > 0 ? PATIENCE : PATIENCE_AWAKE)))
            break;
        usleep(LOOK_US);
    }
    for (int i = 0; hang.ask_far && i < hang.launch->size; i++)
        if (hang.ranks[i].far)
            look_at(i);
    if (hang.ask_far)
        missing(asked, &asleep, &awake);
}

void hang_tell(void (*tell_of)(int rank, const struct hang_state *s, const char *where, const char *process))
{
    ask();
    for (int i = 0; i < hang.launch->size; i++) {
        struct hang_rank *r = &hang.ranks[i];
        struct hang_state s = { .pid = r->pid, .answered = r->answered };
        char process[256] = "", *where = NULL;
        uint64_t t = ku_clock_ns();
        if (!r->seg)
            continue;
        memcpy(&s.seg, r->seg, sizeof s.seg);
        memcpy(&s.call, r->call, sizeof s.call);
        s.seg.sleeping = r->asleep ? KU_ASLEEP : KU_AWAKE; /* as it was before it was asked */
        s.since_age = t > s.call.since ? t - s.call.since : 0;
        s.seen_age = t > s.call.seen ? t - s.call.seen : 0;
        if (r->pid > 0) {
            process_words(r->pid, process, sizeof process);
            s.others = process_has_others(r->pid, s.call.others & KU_OTHERS_THREADS);
        }
        if (r->answered)
            where = hang_places(r->pid, &s.call);
        tell_of(i, &s, where, process);
        free(where);
    }
}

const char *hang_process_of(const struct hang_rank *r, char *text, size_t size)
{
    if (!r->far) {
        process_words(r->pid, text, size);
        return text;
    }
    return r->far->process ? r->far->process : "its host does not answer";
}

bool hang_others_of(const struct hang_rank *r)
{
    return r->far ? r->far->state.others : process_has_others(r->pid, r->call->others & KU_OTHERS_THREADS);
}

/* Where the rank is, in one line, to be freed; NULL: that is not known. */
static char *place_of(const struct hang_rank *r)
{
    return r->where ? xformat("%.*s", (int)strcspn(r->where, "\n"), r->where) : NULL;
}

/* "file.c:12 (function)" of a place with its folder. */
static const char *without_folder(const char *place)
{
    const char *file = strrchr(place, '/');
    return file ? file + 1 : place;
}

/* Does a rank wait in this call, which mpiexec -check has told of? */
static bool is_waited_in(const struct found *o)
{
    bool is = false;
    for (int i = 0; i < hang.launch->size && !is; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        char *place = in_mpi(r) && r->answered ? place_of(r) : NULL;
        is = place && o->ranks.bits[i / 8] >> i % 8 & 1 &&
             strcmp(without_folder(place), without_folder(o->here)) == 0;
        free(place);
    }
    return is;
}

/* Collectives that do not fit together, of which was told before, may be why. */
static void tell_cause(FILE *out)
{
    for (const struct found *o = found_all(); o; o = o->next)
        if (o->kind >= KU_FAULT_COLL_ORDER && o->kind <= KU_FAULT_COLL_DATA && is_waited_in(o))
            fprintf(out, "mpiexec:   %s at %s does not fit what others call (%s, above)\n", o->call,
                    without_folder(o->here), ku_fault_rows[o->kind].name);
}

static void tell(const char *why, bool family)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        die("no memory for the report on what the ranks wait for");
    output_catch_up();
    fprintf(out, "mpiexec: %s\n", why);
    hang_text(out, hang.ranks, hang.launch->size, family);
    tell_cause(out);
    if (fclose(out) != 0)
        die("no memory for the report on what the ranks wait for");
    output_message(text);
    free(text);
}

void hang_report(const char *why)
{
    ask();
    tell(why, false);
    hang_family_ask(REPORT_TOO_VALUE);
}

void hang_look(void)
{
    hang_family_ask(REST_VALUE);
    hang.due = now();
}

void hang_rests(pid_t mpiexec, const void *rest, size_t len)
{
    hang_family_take(mpiexec, rest, len);
    if (!hang.told)
        hang.due = now();
}

/* ---- watching ---- */

static double seconds_since(uint64_t ns)
{
    uint64_t t = ku_clock_ns();
    return t > ns ? (double)(t - ns) * 1e-9 : 0;
}

/* Does any rank sleep, and has none that does so met an event for so long?  `all`: each does, or has ended.  The
 * word is read before the time, which is written before the word. */
static bool quiet(double seconds, bool all)
{
    int asleep = 0;
    for (int i = 0; i < hang.launch->size; i++) {
        struct hang_rank *r = &hang.ranks[i];
        r->asleep = in_mpi(r) && atomic_load(&r->seg->sleeping) != KU_AWAKE;
        r->since = atomic_load(&r->call->since);
        if (r->asleep && seconds_since(r->since > hang.continued ? r->since : hang.continued) < seconds)
            return false;
        if (all && r->pid != 0 && !r->asleep)
            return false;
        asleep += r->asleep;
    }
    return asleep > 0;
}

/* All have answered, and nothing but a message can help any of them; *family: perhaps one from another job. */
static bool hopeless(bool *family)
{
    *family = false;
    for (int i = 0; i < hang.launch->size; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        if (in_mpi(r) &&
            (!r->answered || r->call->polls || r->call->others & KU_OTHERS_UNSEEN || hang_others_of(r)))
            return false;
        *family |= in_mpi(r) && r->call->others & KU_OTHERS_MET;
    }
    return true;
}

/* By its own clock. */
static uint64_t rests_since(const struct hang_rank *r)
{
    return r->far ? r->far->since : atomic_load(&r->call->since);
}

/* All have answered, that nothing is under way as far as they can know; and nobody has met an event meanwhile. */
static bool at_rest(void)
{
    ask();
    for (int i = 0; i < hang.launch->size; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        if (in_mpi(r) && (!r->answered || r->call->under_way || rests_since(r) != hang.rests[i]))
            return false;
    }
    return true;
}

static bool deadlock(bool *family)
{
    for (int i = 0; i < hang.launch->size; i++)
        if (hang.ranks[i].call)
            hang.rests[i] = rests_since(&hang.ranks[i]);
    if (!quiet(QUIET, true) || !at_rest() || !at_rest())
        return false;
    for (double end = now() + PATIENCE; !quiet(QUIET, true);) { /* they sleep again */
        if (now() > end)
            return false;
        usleep(LOOK_US);
    }
    return hopeless(family);
}

/* Has any rank met an event since the last look? */
static bool has_moved(void)
{
    bool moved = false;
    for (int i = 0; i < hang.launch->size; i++) {
        moved |= hang.moved[i] != hang.ranks[i].since;
        hang.moved[i] = hang.ranks[i].since;
    }
    if (moved)
        hang.moved_at = ku_clock_ns();
    return moved;
}

/* Does any rank that is awake in MPI get on?  Asked again and again; the first answers do not tell. */
static bool gets_on(void)
{
    bool more = false;
    ask();
    for (int i = 0; i < hang.launch->size; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        if (!r->answered)
            continue;
        more |= !r->asleep && r->call->progress != hang.progress[i];
        hang.progress[i] = r->call->progress;
    }
    if (more)
        hang.moved_at = ku_clock_ns();
    return more;
}

/* When to look again.  Without --hang-report: not before the ranks say that they are still, unless they are. */
static void plan(void)
{
    bool still = quiet(QUIET, true);
    if (hang.launch->hang_seconds > 0) {
        hang.due = now() + hang.tick;
        return;
    }
    if (hang.looks++ < LOOKS_SOON)
        hang.tick = SOON;
    else
        hang.tick = hang.tick < TICK ? TICK : hang.tick < TICK_MOST / 2 ? 2 * hang.tick : TICK_MOST;
    hang.due = now() + hang.tick;
    hang.awake = still ? 0 : hang.awake + 1;
    if (hang.awake > 1 && hang.told) { /* something helped; from now on they tell again */
        hang.told = false;
    } else if (!still && !hang.told &&
               hang.tick > 4 * TICK) { /* looked at several times, as one may be awake for a moment */
        forget_still();
        hang.due = 0;
    }
}

static void tell_deadlock(bool ends, bool family)
{
    char *why = xformat("every rank waits for another%s, and nothing can go on%s",
                        family ? " here or in another job" : "",
                        !ends                    ? ""
                        : hang.launch->hang_kill ? "; ending the job (--kill)"
                                                 : "; ending the job (no terminal; --no-kill keeps it)");
    tell(why, family);
    free(why);
    for (int i = 0; i < hang.launch->size; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        char *place = place_of(r);
        if (in_mpi(r) && r->answered)
            found_own(KU_FAULT_DEADLOCK, i, r->call->call, place ? place : "",
                      r->waits_for ? r->waits_for : "it waits, and nothing can go on");
        free(place);
    }
}

/* Can nothing go on?  *family: neither here nor in jobs that these ranks are connected to. */
static bool stands(bool *family)
{
    uint64_t looked = ku_clock_ns();
    return deadlock(family) &&
           (!*family || (!hang.far && hang_family_rests(hang.ranks, hang.launch->size, looked)));
}

/* Those that were spawned report, too, if anything is reported; the job ends when they have had time for it. */
static bool end_soon(bool ends, bool reported)
{
    int n = reported ? hang_family_ask(REPORT_TOO_VALUE) : 0;
    if (ends && n > 0)
        hang.due = hang.end_due = now() + HANG_SPAWNED_SECONDS;
    return ends && n == 0;
}

bool hang_on_time(void)
{
    if (hang.end_due) {
        hang.due = hang.end_due;
        return now() >= hang.end_due;
    }
    const struct launch *l = hang.launch;
    double limit = l->hang_seconds;
    bool found = false, certain = false, family = false,
         ends = l->hang_kill || (l->unwatched && !l->hang_keep);
    look_at_all();
    if (hang.far)
        ask();
    if (has_moved())
        hang.told = false;
    if (hang.stopped) {
        hang.moved_at = ku_clock_ns();
    } else if (!hang.told && stands(&family)) {
        tell_deadlock(ends, family);
        found = certain = true;
    } else if (!hang.told && limit > 0 && seconds_since(hang.moved_at) >= limit && quiet(limit, false) &&
               !gets_on()) {
        char *why = xformat("nothing has moved for %g s (--hang-report)%s", limit,
                            l->hang_kill ? "; ending the job (--kill)" : "");
        tell(why, false);
        free(why);
        found = true;
    }
    hang.told = hang.told || found;
    plan();
    return end_soon(found && (certain ? ends : l->hang_kill), found);
}
