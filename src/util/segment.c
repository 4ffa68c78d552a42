/* segment.c: making, checking and mapping a job's shared memory (layout in segment.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cpus.h"
#include "err.h"
#include "segment.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3; older kernels answer EINVAL */
#endif

enum { PAGE = 4096 };

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static int fail(const char *what, int err)
{
    return ku_err_set(err, NULL, "shared memory: %s failed: %s", what, strerror(err));
}

/* Fill in where everything lies; `h` needs size, nlocal and nnodes. */
static void lay_out(struct ku_seg_head *h)
{
    uint64_t map_words = h->nlocal + (h->nnodes > 1 ? h->size : 0);
    h->rank_off = round_up(sizeof *h, PAGE);
    h->map_off = h->rank_off + h->nlocal * sizeof(struct ku_seg_rank);
    h->dev_off = round_up(h->map_off + map_words * sizeof(int32_t), PAGE);
    h->dev_bytes = KU_SEG_DEV_BYTES;
    h->total = h->dev_off + h->nlocal * h->dev_bytes;
}

static int make_file(uint64_t bytes, int *fd)
{
    *fd = memfd_create("keel-job", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (*fd < 0)
        *fd = memfd_create("keel-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0)
        return fail("memfd_create", errno);
    const char *what = "ftruncate";
    if (ftruncate(*fd, (off_t)bytes) == 0) {
        what = "sealing";
        if (fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0)
            return 0;
    }
    int err = errno;
    close(*fd);
    return ku_err_set(err, NULL, "shared memory: %s of %llu bytes failed: %s", what,
                      (unsigned long long)bytes, strerror(err));
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
    lay_out(&h);
    if (getrandom(&h.job_id, sizeof h.job_id, 0) != sizeof h.job_id ||
        getrandom(h.secret, sizeof h.secret, 0) != sizeof h.secret)
        return fail("getrandom", errno ? errno : EIO);
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
    for (uint32_t i = 0; nnodes == 1 && i < nlocal; i++)
        ku_segment_grank_of(s)[i] = (int32_t)i;
    return 0;
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
    bool sane = h->nlocal >= 1 && h->nlocal <= h->size && h->node < h->nnodes && h->total <= bytes &&
                h->rank_off >= sizeof *h && h->rank_off % 64 == 0 &&
                h->map_off >= h->rank_off + h->nlocal * sizeof(struct ku_seg_rank) &&
                h->dev_off >= h->map_off + map_words * sizeof(int32_t) && h->dev_off <= h->total &&
                h->dev_bytes <= (h->total - h->dev_off) / h->nlocal;
    return sane ? NULL : "its sizes do not fit together";
}

int ku_segment_attach(struct ku_segment *s, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail("fstat", errno);
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
    *s = (struct ku_segment){ .head = p, .bytes = (size_t)st.st_size, .fd = fd };
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
