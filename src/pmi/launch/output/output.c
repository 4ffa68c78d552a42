/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c: see output.h for the invariants. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/base/process.h"
#include "pmi/launch/job/launch.h"
#include "output.h"
#include "output_file.h"
#include "pmi/launch/frames/queue.h"
#include "report.h"

enum {
    READ_BYTES = OUTPUT_CHUNK,
    ROOM = 256 << 10,     /* bytes that may wait for a destination */
    LINE_BYTES = 1 << 20, /* a longer line is passed on in pieces */
    CATCH_UP = 100,       /* rounds of reading before a message: ranks may write without end */
    PIPE_CHUNK = 4096,    /* POLLOUT of a pipe promises that this much does not block */
    PREFIX_BYTES = 512,
    FEW_BYTES = 4096 /* a read that brings less was early */
};
/* Seconds after which text without a newline is passed on, if nobody else writes. */
static const double SILENCE = 0.05;
/* The same if others do; and so long others' lines wait for the end of what has been passed on. */
static const double PATIENCE = 1;
/* Seconds until the next read after one that was early: ranks that write line by line are not interrupted, nor is
 * mpiexec woken, for each of their lines. */
static const double GATHER = 0.001;

struct stream {
    int fd, rank, which;
    struct dest *dest, *file; /* file: NULL without */
    char *part;               /* a line that has no end yet */
    size_t len, cap;
    double since;  /* when the last of it came */
    double ran;    /* how long the rank had run when we looked whether it is done with the line; 0: not yet */
    bool begun;    /* something has come */
    bool open;     /* what the line has so far has been passed on, */
    double opened; /* at that time */
};

struct dest {
    int fd, epoll;            /* epoll: the streams that come here */
    struct output_file *file; /* then there is neither of them */
    bool gone, is_file, midline;
    const struct stream *owner; /* of the open line */
    struct queue bytes;         /* what waits */
    double rest;                /* not read before */
    double last;                /* when something came here */
};

enum { NOWHERE = 2, NDESTS };
static struct dest dests[NDESTS]; /* our stdout and stderr; and for streams that go to a file alone */
static struct dest *to[2];        /* where the ranks' stdout and stderr go; equal if both are one file */
static struct dest *files;        /* 2 * rank + which */
static struct stream *streams;
static int nstreams;
static const struct launch *job;
static bool reader_gone;
static int failed;
static double parts_due; /* when to look for lines without an end that have waited; 0: there are none */
static bool parts_held;  /* some wait for the end of another rank's open line */
static size_t came;      /* bytes, in all reads */
static void (*divert_to)(int rank, int which, const char *data, size_t n); /* NULL: it goes to us */
static bool (*divert_room)(int which);

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* A destination of ours: stdout, stderr, or none. */
static void dest_init(struct dest *d, int fd)
{
    struct stat st;
    *d = (struct dest){ .fd = fd, .epoll = epoll_create1(EPOLL_CLOEXEC) };
    if (d->epoll < 0)
        die("epoll_create1 failed: %s", strerror(errno));
    d->is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool output_direct(const struct launch *l)
{
    return l->size == 1 && !l->remote && !l->prefix && !l->pattern[0] && !l->pattern[1];
}

/* The file that `which` of `rank` goes to, made when it is first asked for; NULL: to none. */
static struct dest *file_for(int rank, int which)
{
    char path[PATH_MAX];
    const char *out = job->pattern[0], *err = job->pattern[1];
    if (job->merge_stderr || (out && err && strcmp(out, err) == 0 && !pattern_has(out, "s")))
        which = 0;
    const char *pattern = job->pattern[which];
    if (!pattern)
        return NULL;
    if (!pattern_has(pattern, "rR"))
        rank = 0;
    struct dest *d = &files[2 * rank + which];
    if (d->file)
        return d;
    struct pattern_values v = { launch_host(job, rank), rank, job->size, which };
    size_t n = pattern_expand(path, sizeof path, pattern, &v);
    d->file = n + 1 < sizeof path ? output_file_create(path) : NULL;
    d->is_file = true;
    if (!d->file)
        die("%s, for the %s of rank %d, cannot be created: %s", path, which ? "stderr" : "stdout", rank,
            errno == ENOTSUP ? "it is neither a file nor a device"
                             : strerror(n + 1 < sizeof path ? errno : ENAMETOOLONG));
    return d;
}

void output_divert(void (*to_whom)(int rank, int which, const char *data, size_t n), bool (*room)(int which))
{
    divert_to = to_whom;
    divert_room = room;
}

void output_init(const struct launch *l)
{
    job = l;
    output_file_leave(l->size);
    nstreams = 2 * l->size;
    streams = xalloc((size_t)nstreams, sizeof *streams);
    files = xalloc((size_t)nstreams, sizeof *files);
    for (int i = 0; i < NDESTS; i++)
        dest_init(&dests[i], i + 1);
    dests[NOWHERE].gone = true;
    to[0] = &dests[0];
    to[1] = !divert_to && (l->merge_stderr || same_file(1, 2)) ? &dests[0] : &dests[1];
    for (int i = 0; i < nstreams; i++) {
        struct dest *file = file_for(i / 2, i % 2);
        struct dest *dest = file && l->no_copy ? &dests[NOWHERE] : to[i % 2];
        streams[i] = (struct stream){ .fd = -1, .rank = i / 2, .which = i % 2, .dest = dest, .file = file };
    }
}

void output_add(int rank, int which, int fd)
{
    struct stream *s = &streams[2 * rank + which];
    s->fd = fd;
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = s };
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || epoll_ctl(s->dest->epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
        die("watching the output of rank %d failed: %s", rank, strerror(errno));
}

static void append(struct dest *d, const char *data, size_t n)
{
    if (!d->gone)
        queue_put(&d->bytes, data, n);
}

/* Pass on bytes of one writer; invariant 1. */
static void emit(struct dest *d, const struct stream *who, const char *data, size_t n)
{
    if (n == 0)
        return;
    if (d->midline && d->owner != who)
        append(d, "\n", 1);
    append(d, data, n);
    d->last = now();
    d->owner = who;
    d->midline = data[n - 1] != '\n';
    if (!d->midline && parts_held) {
        parts_held = false;
        parts_due = now();
    }
}

/* The line of this stream can go on at this destination, or begin there without ending another's. */
static bool is_free(const struct dest *d, const struct stream *s)
{
    return !d || !d->midline || d->owner == s;
}

/* Each line with its prefix, to one destination. */
static void emit_prefixed(struct dest *d, const struct stream *s, const char *data, size_t n)
{
    char prefix[PREFIX_BYTES];
    struct pattern_values v = { launch_host(job, s->rank), s->rank, job->size, s->which };
    size_t len = pattern_expand(prefix, sizeof prefix, job->prefix, &v);
    while (n > 0) {
        const char *end = memchr(data, '\n', n);
        size_t line = end ? (size_t)(end - data) + 1 : n;
        if (!(d->midline && d->owner == s))
            emit(d, s, prefix, len);
        emit(d, s, data, line);
        data += line;
        n -= line;
    }
}

static void emit_lines(struct stream *s, const char *data, size_t n)
{
    struct dest *const both[] = { s->dest, s->file };
    for (int i = 0; i < 2; i++)
        if (both[i] && job->prefix)
            emit_prefixed(both[i], s, data, n);
        else if (both[i])
            emit(both[i], s, data, n);
}

/* A last line without an end: with a prefix, lines have ends. */
static void emit_end(struct stream *s)
{
    struct dest *const both[] = { s->dest, s->file };
    emit_lines(s, s->part, s->len);
    for (int i = 0; job->prefix && i < 2; i++)
        if (both[i] && both[i]->midline && both[i]->owner == s)
            emit(both[i], s, "\n", 1);
    s->len = 0;
    s->open = false;
}

static void keep_part(struct stream *s, const char *data, size_t n)
{
    if (s->len + n > s->cap) {
        s->cap = 2 * (s->len + n);
        s->part = xgrow(s->part, s->cap, 1);
    }
    memcpy(s->part + s->len, data, n);
    s->len += n;
    s->since = now();
    s->ran = 0;
    if (parts_due == 0)
        parts_due = s->since + SILENCE;
    if (s->len > LINE_BYTES) {
        emit_lines(s, s->part, s->len);
        s->len = 0;
    }
}

/* What the loader says instead of the program's first word concerns every rank: it is told once. */
static bool is_loaders(const struct stream *s, const char *data, size_t n)
{
    static const char *const words[] = { ": error while loading shared libraries: ",
                                         ": symbol lookup error: " };
    if (s->begun || s->which != 1 || s->file || s->dest->gone || memchr(data, '\n', n) != data + n - 1)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(data, n, words[i], strlen(words[i])))
            return true;
    return false;
}

static void take(struct stream *s, const char *data, size_t n)
{
    if (divert_to) {
        divert_to(s->rank, s->which, data, n);
        return;
    }
    bool loaders = is_loaders(s, data, n);
    s->begun = true;
    if (loaders) {
        report_text(s->rank, data, n, false);
        return;
    }
    const char *end = memrchr(data, '\n', n);
    size_t whole = end ? (size_t)(end - data) + 1 : 0;
    if (whole) {
        emit_lines(s, s->part, s->len);
        emit_lines(s, data, whole);
        s->len = 0;
        s->open = false;
    }
    if (n > whole && s->open && is_free(s->dest, s) && is_free(s->file, s))
        emit_lines(s, data + whole, n - whole);
    else if (n > whole)
        keep_part(s, data + whole, n - whole);
}

static void drain(struct dest *d);

/* Is the rank's line to be continued at once?  There is more to read; or the rank wants to run, and has not had
 * its turn since we looked first. */
static bool goes_on(struct stream *s)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    double ran = 0, before = s->ran;
    if (s->fd < 0 || now() > s->since + PATIENCE)
        return false;
    if (poll(&p, 1, 0) > 0)
        return true;
    if (!process_runs(crew.ranks[s->rank].pid, &ran) || ran == 0)
        return false;
    s->ran = ran;
    return before == 0 || ran < before + SILENCE / 4;
}

/* When the line that has no end may be passed on: others that write have a pause, too. */
static double part_due(const struct stream *s)
{
    double last = s->file && s->file->last > s->dest->last ? s->file->last : s->dest->last;
    double due = (last > s->since ? last : s->since) + SILENCE;
    return due < s->since + PATIENCE ? due : s->since + PATIENCE;
}

/* A prompt, dots that show progress: lines without an end whose ranks have been silent since are passed on, one
 * rank's at a time. */
static void pass_parts(void)
{
    double t = now();
    if (parts_due == 0 || t < parts_due)
        return;
    parts_due = 0;
    for (struct stream *s = streams; s < streams + nstreams; s++) {
        if (s->len == 0)
            continue;
        double due = part_due(s);
        if (t >= due && goes_on(s))
            due = t + SILENCE / 2;
        if (t < due) {
            parts_due = parts_due == 0 || due < parts_due ? due : parts_due;
        } else if (!is_free(s->dest, s) || !is_free(s->file, s)) {
            parts_held = true;
        } else {
            emit_lines(s, s->part, s->len);
            s->len = 0;
            s->open = true;
            s->opened = t;
            if (s->file)
                drain(s->file);
        }
    }
}

static void stream_close(struct stream *s)
{
    emit_end(s);
    free(s->part);
    s->part = NULL;
    s->cap = 0;
    if (s->fd >= 0)
        close(s->fd); /* and leaves the epoll set */
    s->fd = -1;
    if (s->file)
        drain(s->file);
    if (divert_to)
        divert_to(s->rank, s->which, NULL, 0);
}

/* One read; false when there is nothing (more) to be had from this stream now. */
static bool stream_read(struct stream *s)
{
    static char buf[READ_BYTES];
    ssize_t n = read(s->fd, buf, sizeof buf);
    came += n > 0 ? (size_t)n : 0;
    if (n > 0)
        take(s, buf, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (n < 0 && !failed)
            failed = errno;
        stream_close(s);
    }
    if (n > 0 && s->file)
        drain(s->file);
    return n > 0;
}

static bool has_room(const struct dest *d)
{
    if (divert_to)
        return divert_room(d == &dests[1]);
    return queue_waits(&d->bytes) < ROOM;
}

/* A line without an end has just been passed on: its end may come before others' lines do. */
static bool is_reserved(const struct dest *d)
{
    return d->midline && d->owner && d->owner->open && now() < d->owner->opened + PATIENCE;
}

/* Read what is ready while there is room; true if anything came. */
static bool collect(struct dest *d)
{
    struct epoll_event ev[64];
    int n = epoll_wait(d->epoll, ev, 64, 0);
    bool any = false;
    size_t before = came;
    bool left = false;
    for (int i = 0; i < n && has_room(d); i++) {
        struct stream *s = ev[i].data.ptr;
        if (is_reserved(d) && d->owner != s)
            left = true;
        else
            any = (s->fd >= 0 && stream_read(s)) || any;
    }
    bool early = left || (any && came - before < (size_t)n * FEW_BYTES);
    d->rest = early ? now() + (left && !any ? SILENCE / 8 : GATHER) : 0;
    return any;
}

/* The reader is gone, or the disk is full: invariant 3.  What has a file besides goes on without it. */
static void lose(struct dest *d, int why)
{
    d->gone = true;
    queue_free(&d->bytes);
    if (why != EPIPE && !failed)
        failed = why;
    if (d->file) {
        char *text = xformat("mpiexec: writing to %s failed: %s\n", output_file_path(d->file), strerror(why));
        output_message(text);
        free(text);
    }
    for (int i = 0; i < nstreams; i++)
        if (streams[i].file == d && streams[i].dest != &dests[NOWHERE]) {
            streams[i].file = NULL;
        } else if (streams[i].dest == d || streams[i].file == d) {
            reader_gone = true;
            if (streams[i].fd >= 0)
                stream_close(&streams[i]);
        }
}

/* Write what the destination takes without blocking. */
static void drain(struct dest *d)
{
    while (queue_waits(&d->bytes) > 0) {
        struct pollfd p = { .fd = d->fd, .events = POLLOUT };
        if (!d->is_file && poll(&p, 1, 0) == 0)
            return;
        size_t n = queue_waits(&d->bytes);
        int fd = d->file ? output_file_fd(d->file) : d->fd;
        ssize_t k =
            fd < 0 ? -1 : write(fd, queue_first(&d->bytes), !d->is_file && n > PIPE_CHUNK ? PIPE_CHUNK : n);
        if (k > 0)
            queue_took(&d->bytes, (size_t)k);
        else if (k < 0 && errno == EAGAIN)
            return;
        else if (k < 0 && errno != EINTR)
            lose(d, errno);
    }
}

int output_polls(struct pollfd *p)
{
    int n = 0;
    for (int i = 0; i < NDESTS; i++) {
        struct dest *d = &dests[i];
        if (has_room(d) && now() >= d->rest)
            p[n++] = (struct pollfd){ .fd = d->epoll, .events = POLLIN };
        if (queue_waits(&d->bytes) > 0)
            p[n++] = (struct pollfd){ .fd = d->fd, .events = POLLOUT };
    }
    return n;
}

int output_ms(int ms)
{
    double due = parts_due;
    for (int i = 0; i < NDESTS; i++)
        if (dests[i].rest != 0 && (due == 0 || dests[i].rest < due))
            due = dests[i].rest;
    if (due == 0)
        return ms;
    int until = milliseconds(due - now()) + 1;
    return ms >= 0 && ms < until ? ms : until;
}

void output_move(void)
{
    pass_parts();
    for (int i = 0; i < NDESTS; i++) {
        if (now() >= dests[i].rest)
            collect(&dests[i]);
        drain(&dests[i]);
    }
}

void output_catch_up(void)
{
    for (int i = 0; i < NDESTS; i++)
        for (int n = 0; n < CATCH_UP && has_room(&dests[i]) && collect(&dests[i]); n++)
            drain(&dests[i]);
}

void output_message(const char *text)
{
    struct dest *d = same_file(1, 2) ? &dests[0] : &dests[1];
    emit(d, NULL, text, strlen(text));
    drain(d);
}

void output_close(void)
{
    for (int i = 0; i < nstreams; i++) {
        while (streams[i].fd >= 0 && stream_read(&streams[i]))
            ;
        if (streams[i].fd >= 0)
            stream_close(&streams[i]);
    }
    for (int i = 0; i < 2; i++)
        drain(&dests[i]);
    for (int i = 0; i < nstreams; i++) {
        int late = files[i].file ? output_file_close(files[i].file) : 0;
        if (late && !failed)
            failed = late;
        files[i].file = NULL;
        files[i].gone = true;
    }
}

/* ---- of other hosts ---- */

void output_take(int rank, int which, const char *data, size_t n)
{
    struct stream *s = &streams[2 * rank + which];
    if (n == 0)
        stream_close(s);
    else
        take(s, data, n);
    if (s->file)
        drain(s->file);
    drain(s->dest);
}

bool output_room(int which)
{
    return to[which]->gone || has_room(to[which]);
}

bool output_gone(int which)
{
    return to[which]->gone && !job->pattern[which];
}

void output_shut(int which)
{
    for (int i = which; i < nstreams; i += 2)
        if (streams[i].fd >= 0)
            stream_close(&streams[i]);
}

bool output_done(void)
{
    return queue_waits(&dests[0].bytes) == 0 && queue_waits(&dests[1].bytes) == 0;
}

/* A rank that writes to our own descriptors has seen it before us. */
static bool is_broken_pipe(int fd)
{
    struct stat st;
    struct pollfd p = { .fd = fd };
    return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) && poll(&p, 1, 0) > 0 &&
           (p.revents & (POLLERR | POLLHUP));
}

bool output_reader_gone(void)
{
    return reader_gone || (output_direct(job) && (is_broken_pipe(1) || is_broken_pipe(2)));
}

int output_failed(void)
{
    return failed;
}
