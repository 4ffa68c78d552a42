/* output.c: see output.h for the invariants. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launch.h"
#include "output.h"

enum {
    READ_BYTES = 64 << 10,
    ROOM = 256 << 10,     /* bytes that may wait for a destination */
    LINE_BYTES = 1 << 20, /* a longer line is passed on in pieces */
    CATCH_UP = 100,       /* rounds of reading before a message: ranks may write without end */
    PIPE_CHUNK = 4096     /* POLLOUT of a pipe promises that this much does not block */
};

struct stream {
    int fd, rank;
    struct dest *dest;
    char *part; /* a line that has no end yet */
    size_t len, cap;
};

struct dest {
    int fd, epoll; /* epoll: the streams that come here */
    bool gone, is_file, midline;
    const struct stream *owner; /* of the open line */
    char *buf;
    size_t off, len, cap; /* buf[off .. len) waits */
};

static struct dest dests[2];
static struct dest *to[2]; /* where the ranks' stdout and stderr go; equal if both are one file */
static struct stream *streams;
static int nstreams;
static bool tagging, reader_gone;
static int failed;

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void dest_init(struct dest *d, int fd)
{
    struct stat st;
    *d = (struct dest){ .fd = fd, .epoll = epoll_create1(EPOLL_CLOEXEC) };
    if (d->epoll < 0)
        die("epoll_create1 failed: %s", strerror(errno));
    d->is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

void output_init(int nranks, bool tag, bool merge)
{
    tagging = tag;
    streams = xalloc(2 * (size_t)nranks, sizeof *streams);
    nstreams = 2 * nranks;
    for (int i = 0; i < nstreams; i++)
        streams[i].fd = -1;
    for (int i = 0; i < 2; i++)
        dest_init(&dests[i], i + 1);
    to[0] = &dests[0];
    to[1] = merge || same_file(1, 2) ? &dests[0] : &dests[1];
}

void output_add(int rank, int which, int fd)
{
    struct stream *s = &streams[2 * rank + which];
    *s = (struct stream){ .fd = fd, .rank = rank, .dest = to[which] };
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = s };
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || epoll_ctl(s->dest->epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
        die("watching the output of rank %d failed: %s", rank, strerror(errno));
}

static void append(struct dest *d, const char *data, size_t n)
{
    if (d->gone || n == 0)
        return;
    if (d->off == d->len)
        d->off = d->len = 0;
    if (d->len + n > d->cap) {
        d->cap = 2 * (d->len + n);
        d->buf = xgrow(d->buf, d->cap, 1);
    }
    memcpy(d->buf + d->len, data, n);
    d->len += n;
}

/* Pass on bytes of one writer; invariant 1. */
static void emit(struct dest *d, const struct stream *who, const char *data, size_t n)
{
    if (n == 0)
        return;
    if (d->midline && d->owner != who)
        append(d, "\n", 1);
    append(d, data, n);
    d->owner = who;
    d->midline = data[n - 1] != '\n';
}

static void emit_lines(struct stream *s, const char *data, size_t n)
{
    if (!tagging) {
        emit(s->dest, s, data, n);
        return;
    }
    char tag[32];
    size_t taglen = (size_t)snprintf(tag, sizeof tag, "[%d] ", s->rank);
    while (n > 0) {
        const char *end = memchr(data, '\n', n);
        size_t len = end ? (size_t)(end - data) + 1 : n;
        if (!(s->dest->midline && s->dest->owner == s))
            emit(s->dest, s, tag, taglen);
        emit(s->dest, s, data, len);
        data += len;
        n -= len;
    }
}

static void keep_part(struct stream *s, const char *data, size_t n)
{
    if (s->len + n > s->cap) {
        s->cap = 2 * (s->len + n);
        s->part = xgrow(s->part, s->cap, 1);
    }
    memcpy(s->part + s->len, data, n);
    s->len += n;
    if (s->len > LINE_BYTES) {
        emit_lines(s, s->part, s->len);
        s->len = 0;
    }
}

static void take(struct stream *s, const char *data, size_t n)
{
    const char *end = memrchr(data, '\n', n);
    size_t whole = end ? (size_t)(end - data) + 1 : 0;
    if (whole) {
        emit_lines(s, s->part, s->len);
        emit_lines(s, data, whole);
        s->len = 0;
    }
    if (n > whole)
        keep_part(s, data + whole, n - whole);
}

static void stream_close(struct stream *s)
{
    emit_lines(s, s->part, s->len);
    if (s->len && tagging)
        emit(s->dest, s, "\n", 1);
    free(s->part);
    s->part = NULL;
    s->len = s->cap = 0;
    close(s->fd); /* and leaves the epoll set */
    s->fd = -1;
}

/* One read; false when there is nothing (more) to be had from this stream now. */
static bool stream_read(struct stream *s)
{
    static char buf[READ_BYTES];
    ssize_t n = read(s->fd, buf, sizeof buf);
    if (n > 0)
        take(s, buf, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (n < 0 && !failed)
            failed = errno;
        stream_close(s);
    }
    return n > 0;
}

static bool has_room(const struct dest *d)
{
    return d->len - d->off < ROOM;
}

/* Read what is ready while there is room; true if anything came. */
static bool collect(struct dest *d)
{
    struct epoll_event ev[64];
    int n = epoll_wait(d->epoll, ev, 64, 0);
    bool any = false;
    for (int i = 0; i < n && has_room(d); i++) {
        struct stream *s = ev[i].data.ptr;
        any = (s->fd >= 0 && stream_read(s)) || any;
    }
    return any;
}

/* The reader is gone, or the disk is full: invariant 3. */
static void lose(struct dest *d, int why)
{
    d->gone = true;
    d->off = d->len = 0;
    reader_gone = true;
    if (why != EPIPE && !failed)
        failed = why;
    for (int i = 0; i < nstreams; i++)
        if (streams[i].fd >= 0 && streams[i].dest == d)
            stream_close(&streams[i]);
}

/* Write what the destination takes without blocking. */
static void drain(struct dest *d)
{
    while (d->off < d->len) {
        struct pollfd p = { .fd = d->fd, .events = POLLOUT };
        if (!d->is_file && poll(&p, 1, 0) == 0)
            return;
        size_t n = d->len - d->off;
        ssize_t k = write(d->fd, d->buf + d->off, !d->is_file && n > PIPE_CHUNK ? PIPE_CHUNK : n);
        if (k > 0)
            d->off += (size_t)k;
        else if (k < 0 && errno == EAGAIN)
            return;
        else if (k < 0 && errno != EINTR)
            lose(d, errno);
    }
}

int output_polls(struct pollfd *p)
{
    int n = 0;
    for (int i = 0; i < 2; i++) {
        struct dest *d = &dests[i];
        if (has_room(d))
            p[n++] = (struct pollfd){ .fd = d->epoll, .events = POLLIN };
        if (d->off < d->len)
            p[n++] = (struct pollfd){ .fd = d->fd, .events = POLLOUT };
    }
    return n;
}

void output_move(void)
{
    for (int i = 0; i < 2; i++) {
        collect(&dests[i]);
        drain(&dests[i]);
    }
}

void output_catch_up(void)
{
    for (int i = 0; i < 2; i++)
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
}

bool output_done(void)
{
    return dests[0].off == dests[0].len && dests[1].off == dests[1].len;
}

bool output_reader_gone(void)
{
    return reader_gone;
}

int output_failed(void)
{
    return failed;
}
