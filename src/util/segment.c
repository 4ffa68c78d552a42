/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.c: making, checking and mapping a job's shared memory (layout in segment.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cpus.h"
#include "err.h"
#include "segment.h"
#include "wait.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3; older kernels answer EINVAL */
#endif

enum { PAGE = 4096 };

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static int segment_fail(const char *what, int err)
{
    return ku_err_set(err, NULL, "shared memory: %s failed: %s", what, strerror(err));
}

static uint64_t card_bytes(const struct ku_seg_head *h)
{
    return h->nnodes > 1 ? h->size * sizeof(uint64_t) : 0;
}

/* Fill in where everything lies; `h` needs size, nlocal and nnodes. */
static void lay_out(struct ku_seg_head *h)
{
    uint64_t map_words = h->nlocal + (h->nnodes > 1 ? h->size : 0);
    h->rank_off = round_up(sizeof *h, PAGE);
    h->place_off = h->rank_off + h->nlocal * sizeof(struct ku_seg_rank);
    h->map_off = h->place_off + h->nlocal * sizeof(struct ku_seg_place);
    h->gone_off = h->map_off + map_words * sizeof(int32_t);
    h->dead_off = round_up(h->gone_off + h->size, sizeof(int32_t));
    h->call_off = round_up(h->dead_off + h->size * sizeof(int32_t), PAGE);
    h->card_off = round_up(h->call_off + h->nlocal * sizeof(struct ku_seg_call), PAGE);
    h->team_off = round_up(h->card_off + card_bytes(h), PAGE);
    h->room_bytes = KU_SEG_ROOM_MAX;
    while (h->room_bytes > KU_SEG_ROOM_MIN && (uint64_t)h->nlocal * 2 * h->room_bytes > KU_SEG_ROOMS)
        h->room_bytes /= 2;
    h->bench_bytes = KU_SEG_BENCH_MAX;
    while (h->bench_bytes > KU_SEG_BENCH_MIN && h->nlocal * h->bench_bytes > KU_SEG_BENCHES)
        h->bench_bytes /= 2;
    h->team_bytes = ku_segment_team_at(h, KU_TEAM_PARTS);
    h->heap_off = round_up(h->team_off + h->team_bytes, PAGE);
    h->dev_off = round_up(h->heap_off + sizeof(struct ku_heap_head), PAGE);
    h->dev_bytes = KU_SEG_DEV_BYTES;
    h->total = h->dev_off + h->nlocal * h->dev_bytes;
}

static int make_file(uint64_t bytes, int *fd)
{
    *fd = memfd_create("keel-job", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (*fd < 0)
        *fd = memfd_create("keel-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0)
        return segment_fail("memfd_create", errno);
    const char *what = "ftruncate";
    if (ftruncate(*fd, (off_t)bytes) == 0) {
        what = "sealing";
        if (fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
            return 0;
    }
    int err = errno;
    close(*fd);
    return ku_err_set(err, NULL, "shared memory: %s of %llu bytes failed: %s%s", what,
                      (unsigned long long)bytes, strerror(err),
                      err == EFBIG ? " (is the size of files limited, ulimit -f?)" : "");
}

static void *map_file(int fd, uint64_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
}

static int fail_map(uint64_t bytes, int err)
{
    return ku_err_set(
        err, NULL, "shared memory: mapping %llu bytes failed: %s (is the address space limited, ulimit -v?)",
        (unsigned long long)bytes, strerror(err));
}

int ku_segment_create(struct ku_segment *s, uint32_t size, uint32_t nlocal, uint32_t node, uint32_t nnodes)
{
    struct ku_seg_head h = { .magic = KU_SEG_MAGIC,
                             .version = KU_SEG_VERSION,
                             .word_bytes = sizeof(void *),
                             .size = size,
                             .nlocal = nlocal,
                             .node = node,
                             .nnodes = nnodes,
                             .cpus = ku_cpus() };
    h.universe = h.cpus;
    h.fence_all = nlocal > h.cpus ? KU_FENCE_ALL : KU_FENCE_NONE;
    lay_out(&h);
    if (getrandom(&h.job_id, sizeof h.job_id, 0) != sizeof h.job_id ||
        getrandom(h.secret, sizeof h.secret, 0) != sizeof h.secret)
        return segment_fail("getrandom", errno ? errno : EIO);
    int err = make_file(h.total, &s->fd);
    if (err)
        return err;
    s->bytes = h.total;
    s->head = map_file(s->fd, h.total);
    if (s->head == MAP_FAILED) {
        err = fail_map(h.total, errno);
        close(s->fd);
        return err;
    }
    memcpy(s->head, &h, sizeof h);
    err = ku_heap_format((struct ku_heap_head *)((char *)s->head + h.heap_off),
                         round_up(h.total, KU_HEAP_CHUNK));
    if (err) {
        ku_segment_detach(s);
        return segment_fail("making a lock", err);
    }
    for (uint32_t i = 0; nnodes == 1 && i < nlocal; i++)
        ku_segment_grank_of(s)[i] = (int32_t)i;
    s->head->stride = nnodes == 1;
    s->head->deal = nnodes == 1;
    return 0;
}

/* What the ranks here have between them, if it is the same everywhere: in blocks, and dealt out one by one, it is. */
static uint32_t stride_of(const int32_t *grank_of, uint32_t n)
{
    int32_t stride = n > 1 ? grank_of[1] - grank_of[0] : 1;
    for (uint32_t l = 2; l < n; l++)
        if (grank_of[l] - grank_of[l - 1] != stride)
            return 0;
    return (uint32_t)stride;
}

/* How many ranks in a row a node has, if the nodes get as many each in turn, and then again from the first on. */
static uint32_t deal_of(const int32_t *node_of, uint32_t size, uint32_t nnodes)
{
    uint32_t deal = 1;
    while (deal < size && node_of[deal] == node_of[0])
        deal++;
    for (uint32_t r = 0; r < size; r++)
        if (node_of[r] != (int32_t)(r / deal % nnodes))
            return 0;
    return deal;
}

void ku_segment_join(struct ku_segment *s, uint64_t job_id, const uint8_t secret[KU_SECRET_BYTES],
                     const int32_t *node_of)
{
    struct ku_seg_head *h = s->head;
    int32_t *grank_of = ku_segment_grank_of(s);
    uint32_t local = 0;
    h->job_id = job_id;
    memcpy(h->secret, secret, sizeof h->secret);
    for (uint32_t r = 0; r < h->size; r++)
        if (node_of[r] == (int32_t)h->node && local < h->nlocal)
            grank_of[local++] = (int32_t)r;
    h->stride = stride_of(grank_of, local);
    h->deal = deal_of(node_of, h->size, h->nnodes);
    if (h->deal == 0)
        memcpy(grank_of + h->nlocal, node_of, h->size * sizeof *node_of);
}

int32_t ku_segment_ranks_of(const struct ku_segment *s, int32_t node, int32_t *granks)
{
    const struct ku_seg_head *h = s->head;
    int64_t run = h->deal != 0 ? h->deal : h->size, round = run * h->nnodes; /* no rule: look at each */
    int64_t first = h->deal != 0 ? node * run : 0;
    int32_t n = 0;
    for (int64_t at = first; at < h->size; at += round)
        for (int64_t r = at; r < at + run && r < h->size; r++)
            if (h->deal != 0 || ku_segment_node_of(s, (int32_t)r) == node) {
                if (granks)
                    granks[n] = (int32_t)r;
                n++;
            }
    return n;
}

/* What is wrong with a mapped head, or NULL.  Nothing behind an offset is touched before this says yes. */
static const char *flaw(const struct ku_seg_head *h, uint64_t bytes)
{
    if (h->magic != KU_SEG_MAGIC)
        return "it is not a Keel job's, or of another byte order";
    if (h->version != KU_SEG_VERSION)
        return "it was made by another version of Keel (is this mpiexec the one of the program's library?)";
    if (h->word_bytes != sizeof(void *))
        return "it was made by a launcher of another word size";
    uint64_t map_words = (uint64_t)h->nlocal + (h->nnodes > 1 ? h->size : 0);
    bool sane =
        h->nlocal >= 1 && h->nlocal <= h->size && h->node < h->nnodes && h->total <= bytes &&
        h->rank_off >= sizeof *h && h->rank_off % 64 == 0 &&
        h->place_off >= h->rank_off + h->nlocal * sizeof(struct ku_seg_rank) && h->place_off % 64 == 0 &&
        h->map_off >= h->place_off + h->nlocal * sizeof(struct ku_seg_place) &&
        h->gone_off >= h->map_off + map_words * sizeof(int32_t) && h->dead_off >= h->gone_off + h->size &&
        h->dead_off % sizeof(int32_t) == 0 && h->call_off >= h->dead_off + h->size * sizeof(int32_t) &&
        h->call_off % 64 == 0 && h->card_off >= h->call_off + h->nlocal * sizeof(struct ku_seg_call) &&
        h->card_off % 64 == 0 && h->team_off >= h->card_off + card_bytes(h) && h->team_off % 64 == 0 &&
        h->room_bytes <= KU_SEG_ROOM_MAX && h->room_bytes % 64 == 0 && h->bench_bytes <= KU_SEG_BENCH_MAX &&
        h->bench_bytes % 64 == 0 && h->team_bytes == ku_segment_team_at(h, KU_TEAM_PARTS) &&
        h->heap_off >= h->team_off + h->team_bytes && h->heap_off % 64 == 0 &&
        h->dev_off >= h->heap_off + sizeof(struct ku_heap_head) && h->dev_off <= h->total &&
        h->dev_bytes <= (h->total - h->dev_off) / h->nlocal;
    return sane ? NULL : "its sizes do not fit together";
}

int ku_segment_attach(struct ku_segment *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return segment_fail("fstat", errno);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(struct ku_seg_head))
        return ku_err_set(EINVAL, NULL, "shared memory: the descriptor is not that of a job's segment");
    void *p = map_file(fd, (uint64_t)st.st_size);
    if (p == MAP_FAILED)
        return fail_map((uint64_t)st.st_size, errno);
    const char *why = flaw(p, (uint64_t)st.st_size);
    if (why) {
        munmap(p, (size_t)st.st_size);
        return ku_err_set(EINVAL, NULL, "shared memory: %s", why);
    }
    *s =
        (struct ku_segment){ .head = p, .bytes = round_up(((struct ku_seg_head *)p)->total, PAGE), .fd = fd };
    if ((size_t)st.st_size > s->bytes) /* the heap; it is mapped as it is used */
        munmap((char *)p + s->bytes, (size_t)st.st_size - s->bytes);
    return 0;
}

void ku_segment_detach(struct ku_segment *s)
{
    if (s->head)
        munmap(s->head, s->bytes);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct ku_segment){ .fd = -1 };
}

/* ---- deaths ---- */

void ku_segment_wake_all(const struct ku_segment *s)
{
    for (uint32_t i = 0; i < s->head->nlocal; i++)
        ku_wait_wake(&ku_segment_rank(s, i)->sleeping, true);
}

/* Is the rank among those that have died?  Who marked it may have ended before it was. */
static bool is_listed(const struct ku_segment *s, uint32_t rank, uint32_t failed)
{
    uint32_t i = failed;
    while (i > 0 && ku_segment_dead(s, i - 1) != (int32_t)rank)
        i--;
    return i > 0;
}

bool ku_segment_mark_begin(const struct ku_segment *s)
{
    _Atomic uint32_t *held = &s->head->held;
    uint32_t by = atomic_load(held);
    if (by != 0 && !(kill((pid_t)by, 0) != 0 && errno == ESRCH))
        return false;
    return atomic_compare_exchange_strong(held, &by, (uint32_t)getpid());
}

void ku_segment_mark_end(const struct ku_segment *s)
{
    atomic_store(&s->head->held, 0);
}

void ku_segment_mark_gone(const struct ku_segment *s, uint32_t rank, enum ku_gone how)
{
    int32_t here = ku_segment_local_of(s, (int32_t)rank);
    uint32_t failed = atomic_load(&s->head->failed);
    if (atomic_load(&ku_segment_gone(s)[rank]) && is_listed(s, rank, failed))
        return;
    if (here >= 0 && how != KU_GONE_ENDED)
        atomic_store(&ku_segment_rank(s, (uint32_t)here)->state, KU_RANK_DEAD);
    atomic_store(&ku_segment_gone(s)[rank], (uint8_t)how);
    ((int32_t *)((char *)s->head + s->head->dead_off))[failed] = (int32_t)rank;
    atomic_store(&s->head->failed, failed + 1);
    ku_segment_wake_all(s);
}
