/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util/clock.h"
#include "util/err.h"
#include "util/wait.h"

static uint8_t pattern(int from, uint32_t seq, size_t i)
{
    return (uint8_t)(seq * 31 + (uint32_t)from * 7 + i + (i >> 8));
}

void rank_fill(void *buf, int from, uint32_t seq, size_t len)
{
    uint8_t *b = buf;
    for (size_t i = 0; i < len; i++)
        b[i] = pattern(from, seq, i);
}

_Noreturn void rank_fail(void)
{
    fflush(NULL);
    _exit(1);
}

/* ---- what the device calls ---- */

static void deliver(void *core, int32_t peer, const struct dev_head *head, const void *body, size_t len)
{
    struct rank *r = core;
    const uint8_t *b = body;
    int from = (int)head->source;
    uint32_t seq = head->context;
    NEED(r, head->source < (uint32_t)r->size, "source %u", head->source);
    NEED(r, peer == from || (peer == DEV_PEER_UNKNOWN && head->kind == 1 && len > DEV_SHORT_TELLS),
         "a packet from %d is said to be from %d", from, peer);
    NEED(r, seq == r->next_in[from], "packet %u from %d came when %u was expected", seq, from,
         r->next_in[from]);
    NEED(r, len == head->tag, "packet %u from %d has %zu bytes instead of %u", seq, from, len, head->tag);
    NEED(r, head->kind == 1 ? head->len == len : head->kind == 2 && head->len == 0, "kind %d len %d",
         head->kind, head->len);
    NEED(r, len == 0 || (uintptr_t)body % 8 == 0, "body at %p", body);
    for (size_t i = 0; i < len; i++)
        NEED(r, b[i] == pattern(from, seq, i), "byte %zu of %zu of packet %u from %d is %d", i, len, seq,
             from, b[i]);
    r->next_in[from]++;
    r->packets++;
    r->bytes += len;
    if (r->on_packet)
        r->on_packet(r, head);
}

/* Every other long packet is received straight into memory of the bed, which then is delivered. */
static uint64_t place(void *core, int32_t grank, const struct dev_head *head, size_t len)
{
    struct rank *r = core;
    NEED(r, grank == (int)head->source, "a packet of rank %u from rank %d", head->source, grank);
    NEED(r, head->context == r->next_in[grank], "packet %u from %d is to be placed when %u was expected",
         head->context, grank, r->next_in[grank]);
    if (head->context % 2)
        return 0;
    r->placed[grank] = malloc(len);
    r->placed_head[grank] = *head;
    return (uint64_t)grank + 1;
}

static void *place_at(void *core, uint64_t ticket)
{
    struct rank *r = core;
    return r->placed[ticket - 1];
}

static void placed(void *core, uint64_t ticket)
{
    struct rank *r = core;
    void *body = r->placed[ticket - 1];
    r->placed[ticket - 1] = NULL;
    deliver(r, (int32_t)ticket - 1, &r->placed_head[ticket - 1], body, r->placed_head[ticket - 1].tag);
    free(body);
}

/* Two of three long packets are received straight into memory of the bed.  They are in their turn when it is lent,
 * and checked once the body is there. */
struct lent {
    struct lent *next;
    int32_t from;
    uint32_t seq;
    size_t len;
    uint8_t body[];
};

static void *lend(void *core, int32_t peer, const struct dev_head *head, size_t len, void **cookie)
{
    struct rank *r = core;
    struct lent *l;
    NEED(r, peer == (int)head->source, "a packet of rank %u from rank %d", head->source, peer);
    NEED(r, head->context == r->next_in[peer], "room is asked for packet %u from %d when %u was expected",
         head->context, peer, r->next_in[peer]);
    NEED(r, len == head->tag && head->kind == 2, "packet %u from %d has %zu bytes instead of %u",
         head->context, peer, len, head->tag);
    if (head->context % 3 == 0) {
        r->unlent++;
        return NULL;
    }
    r->lends++;
    l = malloc(sizeof *l + len);
    NEED(r, l, "no memory");
    *l = (struct lent){ .next = r->lent, .from = peer, .seq = head->context, .len = len };
    r->lent = l;
    r->next_in[peer]++;
    *cookie = l;
    return l->body;
}

/* Is it room that was lent?  Then it ends. */
static bool give_back(struct rank *r, void *cookie, dev_status status)
{
    struct lent **at = &r->lent, *l;
    while (*at != NULL && *at != cookie)
        at = &(*at)->next;
    if ((l = *at) == NULL)
        return false;
    for (size_t i = 0; status == DEV_OK && i < l->len; i++)
        NEED(r, l->body[i] == pattern(l->from, l->seq, i), "byte %zu of %zu of packet %u from %d is %d", i,
             l->len, l->seq, l->from, l->body[i]);
    r->packets += status == DEV_OK;
    r->bytes += status == DEV_OK ? l->len : 0;
    *at = l->next;
    free(l);
    return true;
}

static void sent(void *core, void *cookie, dev_status status)
{
    struct rank *r = core;
    NEED(r, status == DEV_OK || status == DEV_PEER_GONE, "status %d", status);
    if (give_back(r, cookie, status))
        return;
    r->lost_calls += status == DEV_PEER_GONE;
    r->sent_calls++;
    free(cookie);
}

static void peer_gone(void *core, int32_t grank)
{
    struct rank *r = core;
    NEED(r, grank >= 0 && grank < r->size, "rank %d", grank);
    r->gone_calls[grank]++;
}

static void error(void *core, const char *text)
{
    (void)core;
    fprintf(stderr, "device: %s\n", text);
}

static const char *knob(void *core, const char *name)
{
    const struct dev_ops *ops = ((const struct rank *)core)->ops;
    char full[64];
    snprintf(full, sizeof full, "KEEL_%s", name);
    for (uint32_t i = 0; getenv(full) == NULL && i < ops->nknobs; i++)
        if (strcmp(ops->knobs[i].name, name) == 0)
            return ops->knobs[i].def;
    return getenv(full);
}

static int64_t knob_number(void *core, const char *name)
{
    const char *text = knob(core, name);
    char *end;
    int64_t n;
    if (text == NULL || strcmp(text, "yes") == 0)
        return text != NULL;
    n = strtoll(text, &end, 0);
    return n << (*end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0);
}

static void wake(_Atomic uint32_t *sleeping, bool fence_all)
{
    ku_wait_wake(sleeping, fence_all);
}

static size_t address(void *core, int32_t grank, void *buf, size_t cap)
{
    struct rank *r = core;
    struct card *c = &r->board->card[grank];
    uint32_t epoch = atomic_load(&c->epoch);
    size_t len;
    NEED(r, grank >= 0 && grank < r->size, "rank %d", grank);
    if (epoch != r->epoch)
        return epoch < r->epoch ? 0 : DEV_ADDRESS_NEVER;
    len = c->len;
    memcpy(buf, c->bytes, len < cap ? len : cap);
    if (r->on_address)
        r->on_address(r, grank, buf, &len);
    return len;
}

static void write_card(struct rank *r)
{
    struct card *c = &r->board->card[r->me];
    if (r->ops->address) {
        c->len = (uint32_t)r->ops->address(r->dev, c->bytes, sizeof c->bytes);
        NEED(r, c->len <= DEV_ADDRESS_MAX, "an address of %u bytes", c->len);
        atomic_store(&c->epoch, r->epoch);
    }
}

static bool is_failed(void *core, int32_t grank)
{
    const struct rank *r = core;
    return grank < r->size && atomic_load(&ku_segment_gone(&r->seg)[grank]) != 0;
}

static int32_t next_failed(void *core, uint32_t *seen)
{
    const struct rank *r = core;
    return atomic_load(&r->seg.head->failed) == *seen ? -1 : ku_segment_dead(&r->seg, (*seen)++);
}

/* ---- a rank ---- */

void rank_prepare(struct rank *r)
{
    r->services = (struct dev_services){ .size = sizeof r->services,
                                         .version = DEV_VERSION,
                                         .core = r,
                                         .deliver = deliver,
                                         .sent = sent,
                                         .peer_gone = peer_gone,
                                         .error = error,
                                         .knob = knob,
                                         .knob_number = knob_number,
                                         .wake = wake,
                                         .address = address,
                                         .place = place,
                                         .place_at = place_at,
                                         .placed = placed,
                                         .lend = lend,
                                         .is_failed = is_failed,
                                         .next_failed = next_failed };
    r->world = (struct dev_world){ .rank = r->me,
                                   .size = r->size,
                                   .local_rank = r->me,
                                   .local_size = r->size,
                                   .epoch = ++r->epoch,
                                   .nodes = 1,
                                   .self = { .job = r->seg.head->job_id, .rank = r->me, .epoch = r->epoch },
                                   .sleeping = &ku_segment_rank(&r->seg, (uint32_t)r->me)->sleeping,
                                   .segment = &r->seg,
                                   .grank_of = ku_segment_grank_of(&r->seg),
                                   .stride = r->seg.head->stride,
                                   .area_off = 8192 };
    memcpy(r->world.self.key, r->seg.head->secret, sizeof r->world.self.key);
}

void rank_open(struct rank *r)
{
    rank_prepare(r);
    rank_open_prepared(r);
}

void rank_open_prepared(struct rank *r)
{
    static pthread_mutex_t one_at_a_time =
        PTHREAD_MUTEX_INITIALIZER; /* devices read their knobs, as in MPID_Init */
    dev_status st;
    pthread_mutex_lock(&one_at_a_time);
    st = r->ops->open(&r->services, &r->world, &r->dev);
    pthread_mutex_unlock(&one_at_a_time);
    NEED(r, st == DEV_OK, "open: %d, %s", st, ku_err_last()->text);
    r->ops->caps(r->dev, &r->caps);
    write_card(r);
    for (int p = 0; p < r->size; p++) {
        r->peer[p] = NULL;
        st = r->ops->peer_init(r->dev, p, &r->peer[p]);
        if (p == r->me && r->subject->connects) {
            NEED(r, st == DEV_NO_SUPPORT, "peer_init of itself: %d", st);
            continue;
        }
        NEED(r, st == DEV_OK, "peer_init of %d: %d, %s", p, st, ku_err_last()->text);
    }
}

void rank_close(struct rank *r)
{
    for (int p = 0; p < r->size; p++)
        if (r->peer[p])
            r->ops->peer_stop(r->peer[p]);
    r->ops->close(r->dev);
    for (int p = 0; p < r->size; p++)
        r->ops->peer_fini(r->peer[p]);
    r->ops->fini(r->dev);
    r->dev = NULL;
    for (int p = 0; p < MAX_RANKS; p++) {
        free(r->placed[p]);
        r->placed[p] = NULL;
    }
}

/* Arrive; returns the round to wait for the end of. */
static uint32_t arrive(struct rank *r)
{
    uint32_t round = atomic_load(&r->board->round);
    if (atomic_fetch_add(&r->board->arrived, 1) + 1 == (uint32_t)r->size) {
        atomic_store(&r->board->arrived, 0);
        atomic_fetch_add(&r->board->round, 1);
    }
    return round;
}

void rank_meet(struct rank *r)
{
    uint32_t round = arrive(r);
    while (atomic_load(&r->board->round) == round)
        sched_yield();
}

void rank_meet_pumping(struct rank *r)
{
    uint32_t round = arrive(r);
    while (atomic_load(&r->board->round) == round)
        rank_pump(r);
}

int rank_pump(struct rank *r)
{
    int n = r->ops->progress(r->dev);
    NEED(r, n >= 0, "progress answered %d", n);
    if (n == 0)
        sched_yield();
    return n;
}

void rank_connect(struct rank *r)
{
    for (int p = 0; p < r->size; p++)
        if (r->peer[p])
            rank_short(r, p, 1);
    for (int p = 0; p < r->size; p++)
        if (r->peer[p])
            rank_pump_until(r, p, 1);
    rank_meet_pumping(r);
}

void rank_settle(struct rank *r)
{
    uint64_t last = ku_clock_ns();
    while (ku_clock_ns() - last < 20000000 || (r->ops->unsent != NULL && r->ops->unsent(r->dev)))
        if (rank_pump(r) > 0)
            last = ku_clock_ns();
}

void rank_pump_until(struct rank *r, int from, uint32_t packets)
{
    while (r->next_in[from] < packets || r->lent != NULL)
        rank_pump(r);
}

/* Say that it sleeps, look once more, sleep: on the device's word, or in poll on its descriptor. */
bool rank_sleep(struct rank *r)
{
    return rank_sleep_for(r, SLEEP_MS);
}

bool rank_sleep_for(struct rank *r, int most_ms)
{
    _Atomic uint32_t *word = r->ops->wait_word ? r->ops->wait_word(r->dev) : NULL;
    int fd = r->ops->wait_fd(r->dev);
    struct ku_seg_rank *me = ku_segment_rank(&r->seg, (uint32_t)r->me);
    uint64_t before, slept;
    if (fd >= 0)
        ku_wait_prepare_poll(me, false);
    else
        ku_wait_prepare(word, false);
    if (r->ops->progress(r->dev) || (fd >= 0 && r->ops->arm && !r->ops->arm(r->dev))) {
        ku_wait_cancel(fd >= 0 ? &me->sleeping : word);
        return false;
    }
    before = ku_clock_ns();
    if (fd >= 0)
        ku_wait_poll(me, &fd, 1, most_ms);
    else
        ku_wait_sleep(word, most_ms);
    slept = ku_clock_ns() - before;
    ku_wait_cancel(fd >= 0 ? &me->sleeping : word);
    return slept >= (uint64_t)(most_ms - 10) * 1000000;
}

static struct dev_head head_for(struct rank *r, int to, uint8_t kind, size_t len)
{
    return (struct dev_head){ .kind = kind,
                              .len = kind == 1 ? (uint8_t)len : 0,
                              .context = r->next_out[to],
                              .tag = (uint32_t)len,
                              .source = (uint32_t)r->me };
}

static dev_status count(struct rank *r, int to, dev_status st)
{
    if (st == DEV_OK || st == DEV_QUEUED)
        r->next_out[to]++;
    else if (st == DEV_AGAIN)
        r->again++;
    else
        NEED(r, st == DEV_PEER_GONE, "a send to %d answered %d", to, st);
    return st;
}

dev_status rank_try_short(struct rank *r, int to, size_t len)
{
    uint8_t body[64];
    struct dev_head head = head_for(r, to, 1, len);
    rank_fill(body, r->me, head.context, len);
    return count(r, to, r->ops->send_short(r->peer[to], &head, body));
}

void rank_short(struct rank *r, int to, size_t len)
{
    while (rank_try_short(r, to, len) == DEV_AGAIN)
        rank_pump(r);
}

dev_status rank_try_send(struct rank *r, int to, size_t len, int pieces, void *buf)
{
    struct dev_head head = head_for(r, to, 2, len);
    struct dev_iov iov[16];
    size_t done = 0;
    for (int i = 0; i < pieces; i++) {
        size_t part = i == pieces - 1 ? len - done : (len - done) / 3;
        iov[i] = (struct dev_iov){ (char *)buf + done, part, DEV_MEM_HOST };
        done += part;
    }
    rank_fill(buf, r->me, head.context, len);
    return count(r, to, r->ops->send(r->peer[to], &head, iov, pieces, buf));
}

void rank_send(struct rank *r, int to, size_t len, int pieces)
{
    void *buf = malloc(len + 1);
    dev_status st;
    NEED(r, buf, "no memory");
    while ((st = rank_try_send(r, to, len, pieces, buf)) == DEV_AGAIN)
        rank_pump(r);
    if (st != DEV_QUEUED)
        free(buf); /* else it is the device's, and freed by sent() */
}

dev_status rank_commit(struct rank *r, int to, void *room, size_t len)
{
    struct dev_head head = head_for(r, to, 2, len);
    rank_fill(room, r->me, head.context, len);
    return count(r, to, r->ops->commit(r->peer[to], &head, room, len));
}

void rank_copy(struct rank *r, int to, size_t len)
{
    void *buf = malloc(len + 1);
    NEED(r, buf, "no memory");
    for (;;) {
        struct dev_head head = head_for(r, to, 2, len);
        rank_fill(buf, r->me, head.context, len);
        if (count(r, to, r->near->send_copy(r->peer[to], &head, buf, len)) != DEV_AGAIN)
            break;
        rank_pump(r);
    }
    free(buf);
}

int64_t rank_take(struct rank *r, int from, size_t cap)
{
    struct dev_head want = { .kind = 1, .context = r->next_in[from], .source = (uint32_t)from };
    struct {
        uint32_t tag, source;
    } bits = { 0, UINT32_MAX };
    uint64_t mask;
    void *buf = aligned_alloc(64, (cap / 64 + 1) * 64);
    struct dev_taken t;
    NEED(r, buf, "no memory");
    memcpy(&mask, &bits, sizeof mask);
    t = r->near->take(r->dev, want, mask, buf, cap < 48 ? cap : 48);
    if (t.len == DEV_TAKE_OTHER) {
        want.kind = 2;
        t = r->near->take_long(r->dev, want, mask, buf, cap);
    }
    if (t.len >= 0) {
        want.len = want.kind == 1 ? (uint8_t)t.len : 0;
        want.tag = t.tag;
        NEED(r, (size_t)t.len <= cap && t.source == (uint32_t)from, "%lld bytes from %u", (long long)t.len,
             t.source);
        deliver(r, from, &want, buf, (size_t)t.len);
    }
    free(buf);
    return t.len;
}

/* ---- running them ---- */

struct job {
    struct rank rank[MAX_RANKS];
    void (*fn)(struct rank *r);
};

static void *as_thread(void *arg)
{
    struct rank *r = arg;
    struct job *job = (struct job *)((char *)(r - r->me) - offsetof(struct job, rank));
    ku_segment_rank(&r->seg, (uint32_t)r->me)->pid = getpid();
    ku_segment_rank(&r->seg, (uint32_t)r->me)->state = KU_RANK_RUNNING;
    job->fn(r);
    ku_segment_rank(&r->seg, (uint32_t)r->me)->state = KU_RANK_FINALIZED;
    return NULL;
}

static int run_threads(struct job *job, int size)
{
    pthread_t t[MAX_RANKS];
    for (int i = 0; i < size; i++)
        if (pthread_create(&t[i], NULL, as_thread, &job->rank[i]))
            rank_fail();
    for (int i = 0; i < size; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* What the launcher does when a rank is gone without having finalized. */
static int run_processes(struct job *job, int size)
{
    pid_t pid[MAX_RANKS];
    int failed = 0;
    for (int i = 0; i < size; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            ku_wait_register();
            as_thread(&job->rank[i]);
            _exit(0);
        }
    }
    for (int left = size; left > 0; left--) {
        int status, i = 0;
        pid_t p = wait(&status);
        while (i < size && pid[i] != p)
            i++;
        if (i == size)
            continue;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            ku_segment_mark_gone(&job->rank[0].seg, (uint32_t)i, KU_GONE);
        else if (status != 0)
            failed++;
        pid[i] = -1;
        for (int k = 0; failed && k < size; k++)
            if (pid[k] > 0)
                kill(pid[k], SIGTERM);
    }
    return failed;
}

int ranks_run(const struct subject *s, int size, bool threads, void (*fn)(struct rank *r))
{
    static const struct dev_near nothing = { .size = sizeof nothing };
    static struct job job;
    struct ku_segment seg;
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int failed;
    if (s->env)
        putenv((char *)(uintptr_t)s->env);
    if (s->more_env)
        putenv((char *)(uintptr_t)s->more_env);
    if (s->prepare)
        s->prepare();
    ku_wait_register();
    if (ku_segment_create(&seg, (uint32_t)size, (uint32_t)size, 0, 1) != 0) {
        fprintf(stderr, "segment: %s\n", ku_err_last()->text);
        return 1;
    }
    memset(&job, 0, sizeof job);
    job.fn = fn;
    for (int i = 0; i < size; i++)
        job.rank[i] = (struct rank){ .subject = s,
                                     .ops = s->ops(),
                                     .near = s->ops()->near ? s->ops()->near : &nothing,
                                     .seg = seg,
                                     .board = board,
                                     .me = i,
                                     .size = size,
                                     .threads = threads };
    ku_threaded = true; /* ranks that are threads share it, and tests send from several */
    failed = threads ? run_threads(&job, size) : run_processes(&job, size);
    ku_segment_detach(&seg);
    munmap(board, sizeof *board);
    return failed;
}
