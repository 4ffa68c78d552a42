/* SPDX-License-Identifier: BSD-3-Clause */
/* The N-th call of each kind that the library makes for a file fails or comes short, for every N: what is reported
 * as written is there, what is reported as read is right, an error has the standard's class and names the file,
 * the byte and the cause, and nobody waits for ever.
 *
 * The program's own open, pwrite and so on take the place of libc's, in the library as well. */
/* ranks: 1 4 */
/* timeout: 180 */
/* across: an aggregator's error reaches all */
/* races: the library's threads are those of async.c; these functions only count */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "io.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* ---- The calls ---- */

enum { FDS = 4096, EVER = 1 << 20, SHORT = 0 };

static const char *_Atomic fault_call; /* NULL: none fails */
static int fault_error;                /* SHORT: half of the bytes */
static bool fault_ever;                /* so do all calls after it */
static _Atomic long calls_left, hits;
static _Atomic bool ours[FDS]; /* descriptors of the test's file */

static void arm(const char *call, int error, long nth)
{
    fault_error = error & ~EVER;
    fault_ever = error & EVER;
    hits = 0;
    calls_left = nth;
    fault_call = call;
}

static bool disarm(void)
{
    fault_call = NULL;
    return hits > 0;
}

static bool fails(const char *call, bool concerned)
{
    const char *which = fault_call;
    if (!which || !concerned || strcmp(which, call))
        return false;
    long left = atomic_fetch_sub(&calls_left, 1);
    if (left > 1 || (left < 1 && !fault_ever))
        return false;
    hits++;
    errno = fault_error;
    return true;
}

static bool is_ours(int fd)
{
    return fd >= 0 && fd < FDS && ours[fd];
}

static bool is_name(const char *name)
{
    return io_name[0] && !strcmp(name, io_name);
}

#define REAL(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

int open(const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (fails("open", is_name(name)))
        return -1;
    int fd = REAL(int, open, const char *, int, ...)(name, flags, mode);
    if (fd >= 0 && fd < FDS)
        ours[fd] = is_name(name);
    return fd;
}

int close(int fd)
{
    bool failed = fails("close", is_ours(fd));
    int error = errno, r;
    if (fd >= 0 && fd < FDS)
        ours[fd] = false;
    r = REAL(int, close, int)(fd);
    if (failed)
        errno = error;
    return failed ? -1 : r;
}

ssize_t pread(int fd, void *buf, size_t n, off_t at)
{
    if (fails("pread", is_ours(fd))) {
        if (fault_error != SHORT)
            return -1;
        n = (n + 1) / 2;
    }
    return REAL(ssize_t, pread, int, void *, size_t, off_t)(fd, buf, n, at);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t at)
{
    if (fails("pwrite", is_ours(fd))) {
        if (fault_error != SHORT)
            return -1;
        n = (n + 1) / 2;
    }
    return REAL(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, buf, n, at);
}

int fsync(int fd)
{
    return fails("fsync", is_ours(fd)) ? -1 : REAL(int, fsync, int)(fd);
}

int ftruncate(int fd, off_t size)
{
    return fails("ftruncate", is_ours(fd)) ? -1 : REAL(int, ftruncate, int, off_t)(fd, size);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
    return fails("fallocate", is_ours(fd)) ? -1
                                           : REAL(int, fallocate, int, int, off_t, off_t)(fd, mode, at, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    return fails("posix_fallocate", is_ours(fd)) ? fault_error
                                                 : REAL(int, posix_fallocate, int, off_t, off_t)(fd, at, n);
}

/* To get a lock fails, not to give it back. */
int fcntl(int fd, int how, ...)
{
    va_list ap;
    va_start(ap, how);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    return fails("fcntl", is_ours(fd) && how == F_OFD_SETLKW) ? -1
                                                              : REAL(int, fcntl, int, int, ...)(fd, how, arg);
}

int fstat(int fd, struct stat *s)
{
    return fails("fstat", is_ours(fd)) ? -1 : REAL(int, fstat, int, struct stat *)(fd, s);
}

int fstatfs(int fd, struct statfs *s)
{
    return fails("fstatfs", is_ours(fd)) ? -1 : REAL(int, fstatfs, int, struct statfs *)(fd, s);
}

off_t lseek(int fd, off_t at, int whence)
{
    return fails("lseek", is_ours(fd)) ? -1 : REAL(off_t, lseek, int, off_t, int)(fd, at, whence);
}

void *mmap(void *to, size_t n, int prot, int flags, int fd, off_t at)
{
    return fails("mmap", is_ours(fd))
               ? MAP_FAILED
               : REAL(void *, mmap, void *, size_t, int, int, int, off_t)(to, n, prot, flags, fd, at);
}

int unlink(const char *name)
{
    return fails("unlink", is_name(name)) ? -1 : REAL(int, unlink, const char *)(name);
}

/* ---- What is expected ---- */

/* A call that fails so, and what MPI makes of it; MPI_SUCCESS: the library goes another way, or on. */
struct row {
    const char *call;
    int error, errclass;
};

static bool any(bool here)
{
    int flag = here;
    MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return flag;
}

static const char *shown(const struct row *r, const char *what, long nth)
{
    static char text[160];
    snprintf(text, sizeof text, "%s: %ld. %s: %s%s", what, nth, r->call,
             r->error == SHORT ? "short" : strerror(r->error & ~EVER), r->error & EVER ? " for ever" : "");
    return text;
}

/* An error's class and words; cause: it was met here. */
static void check_words_of(int err, const struct row *r, bool cause, const char *what)
{
    int errclass, len;
    char words[MPI_MAX_ERROR_STRING];
    MPI_Error_class(err, &errclass);
    MPI_Error_string(err, words, &len);
    CHECK_EQ(errclass, r->errclass, "%s: %s", what, words);
    CHECK(strstr(words, io_name), "%s: %s", what, words);
    CHECK(!cause || strstr(words, strerror(r->error & ~EVER)), "%s: %s", what, words);
}

/* ---- Accesses ---- */

enum { PARTS = 3, LEN = 6000 };
enum layout { CONTIG, PIECES, RUNS, EXTERNAL, ATOMIC, TOGETHER, LAYOUTS };
enum form { AT, AT_ALL, I_AT, I_AT_ALL, SPLIT, SHARED, ORDERED, I_SHARED, FORMS };

static const char *const layouts[] = { "contiguous", "pieces", "runs", "external32", "atomic", "together" };
static const char *const forms[] = {
    "at", "at_all", "iat", "iat_all", "split", "shared", "ordered", "ishared"
};

static int piece_of(enum layout l)
{
    return l == PIECES || l == TOGETHER ? 8 : l == RUNS ? 600 : PARTS * LEN;
}

/* Where byte i of a rank's data is in the file. */
static long place(enum layout l, int i)
{
    int piece = piece_of(l);
    return ((long)(i / piece) * check_size + check_rank) * piece + i % piece;
}

static MPI_File open_file(enum layout l, bool shared)
{
    MPI_File f;
    MPI_Info info;
    MPI_Datatype t, ft;
    int piece = piece_of(l);
    MPI_Info_create(&info);
    MPI_Info_set(info, "ind_rd_buffer_size", "4096");
    MPI_Info_set(info, "cb_buffer_size", "4096");
    MPI_Info_set(info, "cb_nodes", "2");
    MPI_Info_set(info, "romio_cb_write", l == TOGETHER ? "enable" : "disable");
    MPI_Info_set(info, "romio_cb_read", l == TOGETHER ? "enable" : "disable");
    CHECK_ERR(MPI_File_open(MPI_COMM_WORLD, io_name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Type_contiguous(piece, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, (MPI_Aint)piece * check_size, &ft);
    MPI_Type_commit(&ft);
    if (!shared)
        CHECK_ERR(MPI_File_set_view(f, (MPI_Offset)check_rank * piece, MPI_BYTE, ft,
                                    l == EXTERNAL ? "external32" : "native", MPI_INFO_NULL),
                  MPI_SUCCESS);
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
    if (l == ATOMIC)
        CHECK_ERR(MPI_File_set_atomicity(f, 1), MPI_SUCCESS);
    return f;
}

static int access_part(MPI_File f, enum form form, bool write, int part, char *b, MPI_Status *s)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Offset at = (MPI_Offset)part * LEN;
    int err = 0;
    memset(s, 0, sizeof *s);
    switch (form) {
    case AT:
        return write ? MPI_File_write_at(f, at, b, LEN, MPI_BYTE, s)
                     : MPI_File_read_at(f, at, b, LEN, MPI_BYTE, s);
    case AT_ALL:
        return write ? MPI_File_write_at_all(f, at, b, LEN, MPI_BYTE, s)
                     : MPI_File_read_at_all(f, at, b, LEN, MPI_BYTE, s);
    case SHARED:
        return write ? MPI_File_write_shared(f, b, LEN, MPI_BYTE, s)
                     : MPI_File_read_shared(f, b, LEN, MPI_BYTE, s);
    case ORDERED:
        return write ? MPI_File_write_ordered(f, b, LEN, MPI_BYTE, s)
                     : MPI_File_read_ordered(f, b, LEN, MPI_BYTE, s);
    case SPLIT:
        err = write ? MPI_File_write_at_all_begin(f, at, b, LEN, MPI_BYTE)
                    : MPI_File_read_at_all_begin(f, at, b, LEN, MPI_BYTE);
        CHECK_ERR(err, MPI_SUCCESS);
        return write ? MPI_File_write_at_all_end(f, b, s) : MPI_File_read_at_all_end(f, b, s);
    case I_AT:
        err = write ? MPI_File_iwrite_at(f, at, b, LEN, MPI_BYTE, &r)
                    : MPI_File_iread_at(f, at, b, LEN, MPI_BYTE, &r);
        break;
    case I_AT_ALL:
        err = write ? MPI_File_iwrite_at_all(f, at, b, LEN, MPI_BYTE, &r)
                    : MPI_File_iread_at_all(f, at, b, LEN, MPI_BYTE, &r);
        break;
    default:
        err = write ? MPI_File_iwrite_shared(f, b, LEN, MPI_BYTE, &r)
                    : MPI_File_iread_shared(f, b, LEN, MPI_BYTE, &r);
        break;
    }
    CHECK_ERR(err, MPI_SUCCESS);
    return MPI_Wait(&r, s);
}

static uint64_t seed_of(int rank, int part)
{
    return (uint64_t)(rank * PARTS + part);
}

/* Is that much of the part in the file?  Of a shared pointer's: anywhere in it. */
static bool is_there(int fd, enum layout l, bool shared, int part, int n)
{
    static char record[LEN], right[LEN];
    check_fill(right, LEN, seed_of(check_rank, part));
    for (long slot = 0; shared && slot < (long)check_size * PARTS; slot++)
        if (pread(fd, record, LEN, slot * LEN) >= n && !memcmp(record, right, (size_t)n))
            return true;
    for (int i = 0; !shared && i < n;) {
        int from = part * LEN + i, piece = piece_of(l) - from % piece_of(l),
            m = n - i < piece ? n - i : piece;
        if (pread(fd, record, (size_t)m, place(l, from)) != m || memcmp(record, right + i, (size_t)m))
            return false;
        i += m;
    }
    return !shared || n == 0;
}

static bool is_shared(enum form form)
{
    return form == SHARED || form == ORDERED || form == I_SHARED;
}

/* All parts are written or read while the calls fail so; were they? */
static bool attempt(enum form form, enum layout l, const struct row *r, bool write, long nth)
{
    static char buf[PARTS][LEN];
    static MPI_Status s[PARTS];
    int err[PARTS], failed = 0;
    bool shared = is_shared(form);
    char call[100], what[200];
    snprintf(call, sizeof call, "%s %s %s", write ? "write" : "read", forms[form], layouts[l]);
    snprintf(what, sizeof what, "%s", shown(r, call, nth));
    MPI_File f = open_file(l, shared);
    for (int p = 0; p < PARTS; p++)
        check_fill(buf[p], LEN, write ? seed_of(check_rank, p) : 99);
    arm(r->call, r->error, nth);
    for (int p = 0; p < PARTS; p++)
        err[p] = access_part(f, form, write, p, buf[p], &s[p]);
    bool hit = disarm(), everywhere = any(hit);
    MPI_Barrier(MPI_COMM_WORLD);
    int fd = open(io_name, O_RDONLY);
    for (int p = 0; p < PARTS; p++) {
        int n = io_count(&s[p]);
        if (err[p] == MPI_SUCCESS)
            CHECK_EQ(n, LEN, "%s", what);
        else if (++failed)
            check_words_of(err[p], r, hit && l != TOGETHER, what);
        CHECK(!write || n < 0 || is_there(fd, l, shared, p, n), "%s: part %d, of which %d bytes", what, p, n);
        if (!write && !shared && n > 0)
            CHECK_BYTES(buf[p], (size_t)n, seed_of(check_rank, p));
    }
    close(fd);
    bool fatal = r->errclass != MPI_SUCCESS;
    bool together = l == TOGETHER && (form == AT_ALL || form == I_AT_ALL || form == SPLIT);
    CHECK((failed > 0) == (fatal && (together ? everywhere : hit)), "%s: %d failed", what, failed);
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    return everywhere;
}

/* The file as it is before it is read. */
static void fill_file(enum layout l, bool shared)
{
    static char part[LEN];
    MPI_File f = open_file(l, shared);
    MPI_Status s;
    for (int p = 0; p < PARTS; p++) {
        check_fill(part, LEN, seed_of(check_rank, p));
        CHECK_ERR(access_part(f, shared ? SHARED : AT, true, p, part, &s), MPI_SUCCESS);
    }
    CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
}

static void fresh(void)
{
    if (check_rank == 0)
        unlink(io_name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct row writes[] = {
    { "pwrite", EIO, MPI_ERR_IO },
    { "pwrite", ENOSPC, MPI_ERR_NO_SPACE },
    { "pwrite", ENOSPC | EVER, MPI_ERR_NO_SPACE },
    { "pwrite", EDQUOT, MPI_ERR_QUOTA },
    { "pwrite", EFBIG, MPI_ERR_IO },
    { "pwrite", EINTR, MPI_SUCCESS },
    { "pwrite", SHORT, MPI_SUCCESS },
    { "pwrite", SHORT | EVER, MPI_SUCCESS },
    { "fallocate", EIO, MPI_ERR_IO },
    { "fallocate", ENOSPC, MPI_ERR_NO_SPACE },
    { "fallocate", EDQUOT, MPI_ERR_QUOTA },
    { "fallocate", EINTR, MPI_SUCCESS },
    { "fallocate", EOPNOTSUPP, MPI_SUCCESS },
    { "fallocate", EOPNOTSUPP | EVER, MPI_SUCCESS },
    { "mmap", ENOMEM, MPI_SUCCESS },
    { "mmap", EACCES | EVER, MPI_SUCCESS },
    { "fcntl", ENOLCK, MPI_ERR_IO },
    { "fcntl", EINTR, MPI_SUCCESS },
};

static const struct row reads[] = {
    { "pread", EIO, MPI_ERR_IO },    { "pread", EIO | EVER, MPI_ERR_IO },    { "pread", EINTR, MPI_SUCCESS },
    { "pread", SHORT, MPI_SUCCESS }, { "pread", SHORT | EVER, MPI_SUCCESS }, { "fcntl", ENOLCK, MPI_ERR_IO },
};

static long tried;

static void accesses(enum form form, enum layout l)
{
    bool shared = is_shared(form);
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++)
        for (long nth = 1;; nth++, tried++) {
            fresh();
            if (!attempt(form, l, &writes[i], true, nth))
                break;
        }
    fresh();
    fill_file(l, shared);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        for (long nth = 1; attempt(form, l, &reads[i], false, nth); nth++)
            tried++;
}

/* ---- Files as objects ---- */

static const struct row objects[] = {
    { "open", EIO, MPI_ERR_IO },
    { "open", ENOSPC, MPI_ERR_NO_SPACE },
    { "open", EDQUOT, MPI_ERR_QUOTA },
    { "open", EROFS, MPI_ERR_READ_ONLY },
    { "open", EACCES, MPI_ERR_ACCESS },
    { "open", ENOENT, MPI_ERR_NO_SUCH_FILE },
    { "open", ETXTBSY, MPI_ERR_FILE_IN_USE },
    { "open", EINTR, MPI_SUCCESS },
    { "fstatfs", EIO, MPI_SUCCESS },
    { "fstat", EIO, MPI_ERR_IO },
    { "lseek", EIO, MPI_ERR_IO },
    { "posix_fallocate", EIO, MPI_ERR_IO },
    { "posix_fallocate", ENOSPC, MPI_ERR_NO_SPACE },
    { "posix_fallocate", EDQUOT, MPI_ERR_QUOTA },
    { "posix_fallocate", EINTR, MPI_SUCCESS },
    { "ftruncate", EIO, MPI_ERR_IO },
    { "ftruncate", EINTR, MPI_SUCCESS },
    { "fsync", EIO, MPI_ERR_IO },
    { "fsync", ENOSPC, MPI_ERR_NO_SPACE },
    { "fsync", EDQUOT, MPI_ERR_QUOTA },
    { "fsync", EINTR, MPI_SUCCESS },
    { "unlink", EACCES, MPI_ERR_ACCESS },
    { "unlink", EIO, MPI_ERR_IO },
    { "close", EIO, MPI_ERR_IO },
    { "close", ENOSPC, MPI_ERR_NO_SPACE },
    { "close", EDQUOT, MPI_ERR_QUOTA },
    { "close", EINTR, MPI_SUCCESS },
};

/* The life of a file, up to the first call that fails: its error; *name: the call.  What each process asks for by
 * itself is no reason to leave the others alone. */
static int life(MPI_File *f, const char **name)
{
    static const char *const names[] = { "open", "preallocate", "set_size", "sync", "get_size", "close" };
    const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE;
    MPI_Offset size;
    int err = 0, asked = 0, step = 0;
    while (step < 6 && !err) {
        *name = asked ? "get_size" : names[step];
        step++;
        err = step == 1   ? MPI_File_open(MPI_COMM_WORLD, io_name, amode, MPI_INFO_NULL, f)
              : step == 2 ? MPI_File_preallocate(*f, 5000)
              : step == 3 ? MPI_File_set_size(*f, 100)
              : step == 4 ? MPI_File_sync(*f)
              : step == 5 ? (asked = MPI_File_get_size(*f, &size), 0)
                          : MPI_File_close(f);
    }
    return err ? err : asked;
}

/* It fails in one rank; all hear of it but where each process acts for itself. */
static bool attempt_life(const struct row *r, int victim, long nth)
{
    MPI_File f = MPI_FILE_NULL;
    const char *name = "";
    fresh();
    if (check_rank == victim)
        arm(r->call, r->error, nth);
    int err = life(&f, &name);
    bool hit = disarm(), everywhere = any(hit);
    const char *what = shown(r, name, nth);
    if (r->errclass == MPI_SUCCESS || !everywhere)
        CHECK_ERR(err, MPI_SUCCESS);
    else if (err)
        check_words_of(err, r, hit, what);
    else
        CHECK(!hit && (!strcmp(r->call, "close") || !strcmp(r->call, "fstat")), "%s: no error", what);
    if (f != MPI_FILE_NULL)
        CHECK_ERR(MPI_File_close(&f), MPI_SUCCESS);
    return everywhere;
}

static void lives(void)
{
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        for (int victim = 0; victim<check_size; victim += check_size> 1 ? check_size - 1 : 1)
            for (long nth = 1; attempt_life(&objects[i], victim, nth); nth++)
                tried++;
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    io_file("faults");
    for (int form = 0; form < FORMS; form++)
        for (int l = 0; l < LAYOUTS; l++)
            if (!is_shared((enum form)form) || l == CONTIG || l == ATOMIC)
                accesses((enum form)form, (enum layout)l);
    lives();
    CHECK(tried > 500, "%ld failures tried", tried);
    io_remove();
    return check_done();
}
