/* SPDX-License-Identifier: BSD-3-Clause */
/* io_engine.c: one access of one process to its file: bytes of the view's data from or to memory.
 *
 * Data go in chunks through a packed form, which is the program's buffer itself where that is contiguous.  Between
 * the packed form and the file there are these ways:
 *
 *   direct   the data are contiguous in the file, or no other way will do: a pread or pwrite each run
 *   sieved   reads of small pieces: a window of the file is read, and the pieces are taken from it
 *   mapped   pieces, where all mappings of a page are one page.  To write, space is allocated, so that the disk
 *            cannot be full any more, and the pieces are stored: bytes between them are not touched, so no lock is
 *            needed.  Pieces are read so if the system has the pages; from a disk, larger reads are faster.
 *            Should the file be truncated meanwhile, the access faults, which is caught (fault.c)
 *
 * In atomic mode the whole range is locked: in memory (ranges.c), and where not all processes share some, by a
 * lock of the open file as well. */
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "fault.h"
#include "io.h"
#include "ranges.h"

enum {
    CHUNK = 4 << 20,  /* packed bytes at a time */
    WINDOW = 4 << 20, /* of the file, mapped at a time */
    PIECES = 16,
    LARGE_PAGE = 2 << 20, /* the processor's */
    SPARSE = 16           /* not less than a part like this of a window is to be wanted */
};

int MPIR_Io_errno(int error, const char *name, const char *fmt, ...)
{
    static const struct {
        int error, errclass;
    } rows[] = {
        { ENOENT, MPI_ERR_NO_SUCH_FILE }, { EEXIST, MPI_ERR_FILE_EXISTS },
        { EACCES, MPI_ERR_ACCESS },       { EPERM, MPI_ERR_ACCESS },
        { ENOSPC, MPI_ERR_NO_SPACE },     { EDQUOT, MPI_ERR_QUOTA },
        { EROFS, MPI_ERR_READ_ONLY },     { ENAMETOOLONG, MPI_ERR_BAD_FILE },
        { ENOTDIR, MPI_ERR_BAD_FILE },    { EISDIR, MPI_ERR_BAD_FILE },
        { ELOOP, MPI_ERR_BAD_FILE },      { ETXTBSY, MPI_ERR_FILE_IN_USE },
        { EBUSY, MPI_ERR_FILE_IN_USE },   { ENOMEM, MPI_ERR_NO_MEM },
    };
    char what[100], why[64];
    int errclass = MPI_ERR_IO;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].error == error)
            errclass = rows[i].errclass;
    return MPIR_Err(errclass, NULL, "%s %.100s: %s", what, name, strerror_r(error, why, sizeof why));
}

/* ---- Bytes ---- */

int MPIR_Io_pread(int fd, void *to, int64_t len, int64_t at, int64_t *done)
{
    for (*done = 0; *done < len;) {
        ssize_t n = pread(fd, (char *)to + *done, (size_t)(len - *done), at + *done);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return errno;
        *done += n > 0 ? n : 0;
    }
    return 0;
}

int MPIR_Io_pwrite(int fd, const void *from, int64_t len, int64_t at)
{
    for (int64_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, (const char *)from + done, (size_t)(len - done), at + done);
        if (n == 0)
            return EIO;
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? n : 0;
    }
    return 0;
}

/* One chunk: packed bytes at `mem`, which are bytes [s, s + len) of the view's data. */
struct chunk {
    const MPIR_File *f;
    const struct MPIR_DATATYPE *t; /* the filetype */
    int64_t disp;
    char *mem;
    int64_t s, len;
    int64_t done;
    int error; /* an errno */
};

static bool read_run(void *arg, int64_t at, int64_t bytes)
{
    struct chunk *c = arg;
    int64_t n;
    c->error = MPIR_Io_pread(c->f->fd, c->mem + c->done, bytes, c->disp + at, &n);
    c->done += n;
    return c->error == 0 && n == bytes;
}

static bool write_run(void *arg, int64_t at, int64_t bytes)
{
    struct chunk *c = arg;
    c->error = MPIR_Io_pwrite(c->f->fd, c->mem + c->done, bytes, c->disp + at);
    c->done += c->error ? 0 : bytes;
    return c->error == 0;
}

/* ---- Windows ---- */

/* Pieces of a chunk: the first of them are looked at. */
struct pieces {
    int n;
    int64_t bytes;
};

static bool count_piece(void *arg, int64_t at, int64_t bytes)
{
    struct pieces *p = arg;
    (void)at;
    p->n++;
    p->bytes += bytes;
    return p->n < PIECES;
}

/* From the first to the last byte of a chunk in the file. */
static int64_t span_of(const struct chunk *c)
{
    return MPIR_Io_place(c->t, c->s + c->len - 1) + 1 - MPIR_Io_place(c->t, c->s);
}

/* The longest pieces for which a way by windows costs less than a call for each, as measured
 * (doc/measurements/io.md).  A fault in a mapping costs about what a call costs, but one serves many pieces: all
 * of a page that is stored to, which may be a large one except where memory is all there is; and where pages are
 * read, those beside it, if so many are wanted. */
static int64_t longest(const struct chunk *c, bool write, bool mapped)
{
    const int64_t page = 4096;
    if (write)
        return c->f->ram ? page - 1 : 4 * page;
    return mapped && !c->f->ram && span_of(c) <= 2 * c->len ? 2 * page : page - 1;
}

/* Are the pieces so many, so near to each other and so short that windows pay? */
static bool windows_pay(const struct chunk *c, bool write, bool mapped)
{
    struct pieces p = { 0 };
    if (span_of(c) / SPARSE > c->len)
        return false;
    MPID_Layout_runs(c->t, c->s, c->len, count_piece, &p);
    return p.n == PIECES && p.bytes <= PIECES * longest(c, write, mapped);
}

static char *moved(char *p, int64_t by)
{
    return (char *)((uintptr_t)p + (uintptr_t)by);
}

static void read_windows(struct chunk *c)
{
    int64_t room = c->f->hints.ind_rd_buffer_size, end = c->s + c->len;
    int64_t whole = MPIR_Io_place(c->t, end - 1) + 1 - MPIR_Io_place(c->t, c->s);
    room = whole < room ? whole : room;
    char *window = malloc((size_t)room);
    if (!window) {
        c->error = ENOMEM;
        return;
    }
    while (c->done < c->len) {
        int64_t s = c->s + c->done, from = MPIR_Io_place(c->t, s), there;
        int64_t to = MPIR_Io_find(c->t, s, end, from + room);
        int64_t bytes = MPIR_Io_place(c->t, to - 1) + 1 - from;
        c->error = MPIR_Io_pread(c->f->fd, window, bytes, c->disp + from, &there);
        if (there < bytes)
            to = MPIR_Io_find(c->t, s, to, from + there);
        MPID_Layout_pack(c->t, moved(window, -from), io_elements(c->t, to), s, c->mem + c->done, to - s);
        c->done += to - s;
        if (c->error || there < bytes)
            break;
    }
    free(window);
}

struct mapped {
    const struct chunk *c;
    char *map;
    int64_t base, s, to;
};

static void io_engine_store(void *arg)
{
    const struct mapped *w = arg;
    const struct chunk *c = w->c;
    MPID_Layout_unpack(c->t, moved(w->map, -w->base), io_elements(c->t, w->to), w->s, c->mem + c->done,
                       w->to - w->s);
}

static void io_engine_load(void *arg)
{
    const struct mapped *w = arg;
    const struct chunk *c = w->c;
    MPID_Layout_pack(c->t, moved(w->map, -w->base), io_elements(c->t, w->to), w->s, c->mem + c->done,
                     w->to - w->s);
}

/* Is what is stored there, by all processes, most of what large pages would hold? */
static bool fills_large_pages(const struct chunk *c, int64_t from, int64_t last)
{
    return last - from >= LARGE_PAGE / 2 && span_of(c) / 2 / c->f->comm->adi.size <= c->len;
}

/* A mapping of bytes [from, last) of the file, from *base on; NULL: it cannot be.  Where it covers large pages as
 * a whole the system can map them at once. */
static char *map_window(const struct chunk *c, bool write, int64_t from, int64_t last, int64_t *base,
                        size_t *len)
{
    int64_t unit = last - from < LARGE_PAGE / 2 ? sysconf(_SC_PAGESIZE) : LARGE_PAGE;
    *base = from & -unit;
    *len = (size_t)((last - *base + unit - 1) & -unit);
    char *map = mmap(NULL, *len, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, c->f->fd, *base);
    if (map == MAP_FAILED)
        return NULL;
    if (write && fills_large_pages(c, from, last))
        madvise(map, *len, MADV_HUGEPAGE);
    return map;
}

/* Data up to `to`, which are all in the file; false: it cannot be mapped (*faulted is false), or was not all there. */
static bool access_mapped(struct chunk *c, bool write, int64_t to, bool *faulted)
{
    int64_t s = c->s + c->done, base;
    size_t len;
    char *map = map_window(c, write, c->disp + MPIR_Io_place(c->t, s),
                           c->disp + MPIR_Io_place(c->t, to - 1) + 1, &base, &len);
    *faulted = false;
    if (!map)
        return false;
    struct mapped w = { c, map, base - c->disp, s, to };
    *faulted = !MPIR_Io_guard(write ? io_engine_store : io_engine_load, &w, map, len);
    munmap(map, len);
    c->done += *faulted ? 0 : to - s;
    return !*faulted;
}

/* Where the mapped window ends that begins with byte s of the data, which lies at `from` in the file: windows meet
 * where large pages do. */
static int64_t window_end(const struct chunk *c, int64_t s, int64_t from)
{
    return MPIR_Io_find(c->t, s, c->s + c->len, (from & -(int64_t)LARGE_PAGE) + WINDOW - c->disp);
}

/* Window by window.  False: the file system does not do it; nothing of the window has been written. */
static bool write_mapped(struct chunk *c)
{
    while (c->done < c->len) {
        int64_t s = c->s + c->done, from = c->disp + MPIR_Io_place(c->t, s);
        int64_t to = window_end(c, s, from), last = c->disp + MPIR_Io_place(c->t, to - 1) + 1;
        bool faulted;
        int r;
        while ((r = fallocate(c->f->fd, 0, from, last - from)) != 0 && errno == EINTR)
            ;
        if (r != 0) {
            c->error = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL ? 0 : errno;
            return c->error != 0;
        }
        if (!access_mapped(c, true, to, &faulted)) {
            c->error = faulted ? EIO : 0;
            return faulted;
        }
    }
    return true;
}

/* Has the system the page of this byte in memory, as far as can be told? */
static bool is_cached(int fd, int64_t at)
{
    char byte;
    struct iovec to = { &byte, 1 };
    return preadv2(fd, &to, 1, at, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

/* Window by window.  False: the rest is to be read otherwise; so are errors found, and where the file ends if it
 * changes. */
static bool read_mapped(struct chunk *c)
{
    struct stat st;
    if (fstat(c->f->fd, &st) != 0)
        return false;
    while (c->done < c->len) {
        int64_t s = c->s + c->done, from = c->disp + MPIR_Io_place(c->t, s);
        int64_t to = window_end(c, s, from), last = c->disp + MPIR_Io_place(c->t, to - 1) + 1;
        bool faulted;
        if (last > st.st_size || !is_cached(c->f->fd, from) || !is_cached(c->f->fd, last - 1) ||
            !access_mapped(c, false, to, &faulted))
            return false;
    }
    return true;
}

static bool io_engine_wanted(enum MPIR_FILE_USE use, const struct chunk *c, bool write, bool mapped)
{
    return use == MPIR_FILE_ENABLE || (use == MPIR_FILE_AUTOMATIC && windows_pay(c, write, mapped));
}

/* By windows, as far as they serve; true: all is done, or there was an error. */
static bool run_windows(struct chunk *c, bool write)
{
    const MPIR_File *f = c->f;
    bool mapped = f->mappable && f->readable;
    if (write)
        return mapped && io_engine_wanted(f->hints.map_write, c, true, true) && write_mapped(c);
    if (mapped && io_engine_wanted(f->hints.ds_read, c, false, true) && read_mapped(c))
        return true;
    if (!f->readable || !io_engine_wanted(f->hints.ds_read, c, false, false))
        return false;
    read_windows(c);
    return true;
}

static void chunk_run(struct chunk *c, bool write, bool overlaps)
{
    if (!c->t->is_contig && !overlaps && c->len > 1 && run_windows(c, write))
        return;
    int64_t done = c->done;
    MPID_Layout_runs(c->t, c->s + done, c->len - done, write ? write_run : read_run, c);
}

/* ---- An access ---- */

static void io_engine_note(struct io_access *a, int error, int64_t s)
{
    int64_t at = a->view->disp + MPIR_Io_place(&a->view->filetype_there->adi, s);
    a->err = MPIR_Io_errno(error, a->f->name, "%s at byte %lld of", a->write ? "writing" : "reading",
                           (long long)at);
    a->words = *ku_err_last();
}

/* Bytes at an address; how many were accessed. */
static int64_t run_bytes(struct io_access *a, char *mem, int64_t s, int64_t len)
{
    struct chunk c = { a->f, &a->view->filetype_there->adi, a->view->disp, mem, s, len, 0, 0 };
    chunk_run(&c, a->write, !io_in_order(a));
    if (c.error)
        io_engine_note(a, c.error, s + c.done);
    return c.done;
}

/* The program's own representation. */
static void run_same(struct io_access *a)
{
    const struct MPIR_DATATYPE *t = &a->type->adi;
    if (t->is_contig) {
        a->native = run_bytes(a, a->buf, a->at, a->len);
        return;
    }
    int64_t room = a->len < CHUNK ? a->len : CHUNK;
    char *packed = malloc((size_t)room);
    if (!packed) {
        io_engine_note(a, ENOMEM, a->at);
        return;
    }
    while (!a->err && a->native < a->len) {
        int64_t n = a->len - a->native < room ? a->len - a->native : room;
        if (a->write)
            MPID_Layout_pack(t, a->buf, a->count, a->native, packed, n);
        int64_t done = run_bytes(a, packed, a->at + a->native, n);
        if (!a->write)
            MPID_Layout_unpack(t, a->buf, a->count, a->native, packed, done);
        a->native += done;
        if (done < n)
            break;
    }
    free(packed);
}

/* Where the part ends that takes at most `room` bytes of the file, behind those that are done; at least an item. */
static struct MPIR_ELEMENTS part_end(const struct io_access *a, int64_t done, int64_t room)
{
    struct MPIR_ELEMENTS end = { 0 };
    for (int64_t upto = done; end.there <= done && upto < a->len; room *= 2) {
        upto = a->len - done < room ? a->len : done + room;
        end = MPIR_Io_items(a->view->rep, a->type, a->there, upto);
    }
    return end;
}

/* The part from one item to another; true: it is not the last. */
static bool run_part(struct io_access *a, struct MPIR_ELEMENTS from, struct MPIR_ELEMENTS to)
{
    const struct io_rep *rep = a->view->rep;
    struct io_part p = { from.n, to.n - from.n, from.here, to.here - from.here };
    int64_t len = to.there - from.there, done = 0;
    char *mem = malloc((size_t)len);
    int err = 0;
    if (!mem) {
        io_engine_note(a, ENOMEM, a->at + from.there);
        return false;
    }
    if (a->write)
        err = MPIR_Io_to_file(rep, a->buf, a->count, a->type, &p, mem, len);
    if (!err)
        done = run_bytes(a, mem, a->at + from.there, len);
    if (done < len) /* of the items that are whole in the file */
        to = MPIR_Io_items(rep, a->type, a->there, from.there + done);
    p.items = to.n - from.n;
    p.native_len = to.here - from.here;
    if (!a->err && !a->write && p.items > 0)
        err = MPIR_Io_from_file(rep, mem, to.there - from.there, a->buf, a->count, a->type, &p);
    free(mem);
    if (err) {
        a->err = err;
        a->words = *ku_err_last();
        return false;
    }
    a->native = to.here;
    a->done = from.there + done;
    return !a->err && done == len && a->done < a->len;
}

/* external32 is converted at once, the program's representation in parts. */
static void run_converted(struct io_access *a)
{
    int64_t room = a->view->rep->how == IO_USER ? CHUNK : a->len;
    struct MPIR_ELEMENTS from = { 0 }, to = part_end(a, 0, room);
    while (run_part(a, from, to)) {
        from = to;
        to = part_end(a, from.there, room);
    }
}

/* What is locked in atomic mode. */
struct held {
    int64_t from, to; /* INT64_MAX: to the end of all files */
    int row;
};

static struct held range_of(const struct io_access *a)
{
    const struct MPIR_DATATYPE *t = &a->view->filetype_there->adi;
    if (!io_in_order(a)) /* its first and last byte are not the ends of what it covers: the whole file */
        return (struct held){ .to = INT64_MAX };
    return (struct held){ .from = a->view->disp + MPIR_Io_place(t, a->at),
                          .to = a->view->disp + MPIR_Io_place(t, a->at + a->len - 1) + 1 };
}

/* By the file system, for processes on all nodes.  A process's own accesses have one owner there: among them it
 * keeps nobody out, and one unlocks what another has. */
static int lock_file(const MPIR_File *f, short how, const struct held *h)
{
    struct flock l = { .l_type = how,
                       .l_whence = SEEK_SET,
                       .l_start = h->from,
                       .l_len = h->to == INT64_MAX ? 0 : h->to - h->from };
    int r;
    while ((r = fcntl(f->fd, how == F_UNLCK ? F_OFD_SETLK : F_OFD_SETLKW, &l)) != 0 && errno == EINTR)
        ;
    return r ? errno : 0;
}

/* The byte is one that no access has a lock of. */
int MPIR_Io_refresh(const MPIR_File *f)
{
    const struct held byte = { .from = INT64_MAX - 1, .to = INT64_MAX };
    int error = f->refreshed ? lock_file(f, f->readable ? F_RDLCK : F_WRLCK, &byte) : 0;
    if (f->refreshed && !error)
        error = lock_file(f, F_UNLCK, &byte);
    return error && error != ENOLCK ? MPIR_Io_errno(error, f->name, "looking for newer bytes of") : 0;
}

static int io_engine_lock(const struct io_access *a, struct held *h)
{
    const MPIR_File *f = a->f;
    *h = range_of(a);
    h->row = MPIR_Io_range_take(f->ranges, h->from, h->to, a->write || !f->ranges_all);
    int error = f->ranges_all ? 0 : lock_file(f, a->write ? F_WRLCK : F_RDLCK, h);
    if (error)
        MPIR_Io_range_leave(f->ranges, h->row);
    return error;
}

static void unlock(const MPIR_File *f, const struct held *h)
{
    if (!f->ranges_all)
        lock_file(f, F_UNLCK, h);
    MPIR_Io_range_leave(f->ranges, h->row);
}

void MPIR_Io_run(struct io_access *a)
{
    bool atomic = a->f->atomic && a->len > 0;
    struct held held;
    int error = 0;
    if (a->len == 0 || a->count == 0)
        return;
    if (atomic && (error = io_engine_lock(a, &held)) != 0) {
        io_engine_note(a, error, a->at);
        return;
    }
    if (a->view->rep->how == IO_SAME) {
        run_same(a);
        a->done = a->native;
    } else {
        run_converted(a);
    }
    if (atomic)
        unlock(a->f, &held);
}
