/* hang.c: asking the ranks what they wait for, and watching for a job in which nothing can go on.
 *
 * A deadlock is certain when every rank of the only node sleeps for messages and none has met an event for QUIET seconds:
 * who sleeps looks at its devices every second, and who sleeps sends nothing.  Whether something else than a message may end a wait
 * (a thread, a generalized request) is in the ranks' answers; a rank that gives none may be stopped. */
#define _GNU_SOURCE
#include "hang.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dirent.h>
#include "launch.h"
#include "output.h"
#include "util/clock.h"
#include "util/wait.h"

static const double TICK = 1, QUIET = 2.5, PATIENCE = 0.7, PATIENCE_AWAKE = 0.2;
enum { LOOK_US = 2000 };

static struct {
    const struct launch *launch;
    const struct ku_segment *segments;
    void (*look)(int rank, struct hang_rank *r);
    struct hang_rank *ranks;
    uint64_t *moved; /* of each rank: its `since` when it was looked at last */
    uint64_t moved_at;
    double due;
    bool told; /* of this standstill */
} hang;

void hang_init(const struct launch *l, const struct ku_segment *segments,
               void (*look)(int rank, struct hang_rank *r))
{
    hang.launch = l;
    hang.segments = segments;
    hang.look = look;
    hang.ranks = xalloc((size_t)l->size, sizeof *hang.ranks);
    hang.moved = xalloc((size_t)l->size, sizeof *hang.moved);
    hang.moved_at = ku_clock_ns();
    hang.due = now() + TICK;
}

double hang_due(void)
{
    return hang.due;
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
    r->state = atomic_load(&r->seg->state);
    r->asleep = in_mpi(r) && atomic_load(&r->seg->sleeping) != KU_AWAKE;
    r->since = atomic_load(&r->call->since);
    if (r->pid != 0 && atomic_load(&r->seg->pid) > 0)
        r->pid = atomic_load(&r->seg->pid); /* a script's child */
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
        r->answered = in_mpi(r) && atomic_load(&r->call->answered) == asked;
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
        asked = atomic_fetch_add(&hang.segments[i].head->asked, 1) + 1;
        ku_segment_wake_all(&hang.segments[i]);
    }
    for (;;) {
        missing(asked, &asleep, &awake);
        if (asleep + awake == 0 || now() > start + (asleep > 0 ? PATIENCE : PATIENCE_AWAKE))
            break;
        usleep(LOOK_US);
    }
}

static void tell(const char *why)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        die("no memory for the report on what the ranks wait for");
    fprintf(out, "mpiexec: %s\n", why);
    hang_text(out, hang.ranks, hang.launch->size);
    if (fclose(out) != 0)
        die("no memory for the report on what the ranks wait for");
    output_catch_up();
    output_message(text);
    free(text);
}

void hang_report(const char *why)
{
    ask();
    tell(why);
}

/* ---- watching ---- */

static double seconds_since(uint64_t ns)
{
    uint64_t t = ku_clock_ns();
    return t > ns ? (double)(t - ns) * 1e-9 : 0;
}

/* Does any rank sleep, and has none that does so met an event for so long? */
static bool quiet(double seconds, bool all)
{
    int asleep = 0;
    for (int i = 0; i < hang.launch->size; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        bool over = r->pid == 0 || r->state == KU_RANK_FINALIZED;
        if (r->asleep && seconds_since(atomic_load(&r->call->since)) < seconds)
            return false;
        if (all && !over && !(in_mpi(r) && atomic_load(&r->seg->sleeping) == KU_ASLEEP))
            return false;
        asleep += r->asleep;
    }
    return asleep > 0;
}

static bool several_threads(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    int n = 0;
    if (!dir)
        return true;
    for (const struct dirent *e; n < 2 && (e = readdir(dir)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n > 1;
}

/* All have answered, and nothing but a message can help any of them. */
static bool hopeless(void)
{
    for (int i = 0; i < hang.launch->size; i++) {
        const struct hang_rank *r = &hang.ranks[i];
        if (!in_mpi(r))
            continue;
        if (!r->answered || r->call->polls || r->call->others & KU_OTHERS_REQUESTS ||
            (r->call->others & KU_OTHERS_THREADS && several_threads(r->pid)))
            return false;
    }
    return true;
}

static bool deadlock(void)
{
    if (hang.launch->nodes > 1 || !quiet(QUIET, true))
        return false;
    ask();
    for (double end = now() + PATIENCE; !quiet(QUIET, true);) { /* they sleep again */
        if (now() > end)
            return false;
        usleep(LOOK_US);
    }
    return hopeless();
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

bool hang_on_time(void)
{
    const struct launch *l = hang.launch;
    double limit = l->hang_seconds;
    hang.due = now() + TICK;
    look_at_all();
    if (has_moved())
        hang.told = false;
    if (hang.told)
        return false;
    if (deadlock()) {
        tell(l->hang_kill ? "every rank waits for another, and nothing can go on; ending the job (--kill)"
                          : "every rank waits for another, and nothing can go on");
    } else if (limit > 0 && seconds_since(hang.moved_at) >= limit && quiet(limit, false)) {
        char *why = xformat("nothing has moved for %g s (--hang-report)%s", limit,
                            l->hang_kill ? "; ending the job (--kill)" : "");
        hang_report(why);
        free(why);
    } else
        return false;
    hang.told = true;
    return l->hang_kill;
}
