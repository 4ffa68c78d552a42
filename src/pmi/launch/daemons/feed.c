/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c: a file is opened once more for each rank, each with a position of its own.  Anything else is copied into
 * a pipe a rank by a process that stays in the terminal's foreground.  Invariants of that:
 *   1. stdin is read when a rank has taken all that was read before, so as fast as the fastest rank does, and no
 *      faster.
 *   2. What the slowest has not taken waits in a store without a name: in memory up to KEEP_BYTES, then in a file.
 *   3. Where there is no room for that, the fast wait for the slow. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "feed.h"

enum { READ_BYTES = 64 << 10, KEEP_BYTES = 16 << 20, HOLE_BYTES = 1 << 20 };

static int *ends; /* the ranks' */

/* ---- the copier ---- */

static struct {
    struct pollfd *poll; /* stdin, then the ranks' pipes; -1: closed */
    off_t *done;         /* what each pipe has taken of the store */
    int n, open;
    int store;
    bool on_disk, told;
    off_t begin, end;  /* of what is there; holes come before */
    char *held;        /* [READ_BYTES]: read, but not in the store yet */
    size_t off, nheld; /* held[off .. nheld) */
    bool input_ended;
} copier;

static void shut(int i)
{
    close(copier.poll[i].fd);
    copier.poll[i].fd = -1;
    copier.open--;
}

/* Forget what every pipe has taken. */
static void forget(void)
{
    off_t least = copier.end;
    for (int i = 1; i <= copier.n; i++)
        if (copier.poll[i].fd >= 0 && copier.done[i] < least)
            least = copier.done[i];
    if (least == copier.end && least > 0 && ftruncate(copier.store, 0) == 0) {
        copier.begin = copier.end = 0;
        for (int i = 1; i <= copier.n; i++)
            copier.done[i] = 0;
    } else if (least - copier.begin >= HOLE_BYTES) {
        fallocate(copier.store, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, copier.begin,
                  least - copier.begin);
        copier.begin = least;
    }
}

/* Copy what is left in the store to `fd`, at the same place. */
static bool move_to(int fd)
{
    char buf[READ_BYTES];
    for (off_t at = copier.begin; at < copier.end;) {
        ssize_t n = pread(copier.store, buf, sizeof buf, at);
        if (n <= 0 || pwrite(fd, buf, (size_t)n, at) != n)
            return false;
        at += n;
    }
    return true;
}

static bool go_to_disk(void)
{
    const char *dirs[] = { getenv("TMPDIR"), "/tmp", "/var/tmp" };
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs && !copier.on_disk; i++) {
        int fd = dirs[i] ? open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
        if (fd >= 0 && move_to(fd)) {
            close(copier.store);
            copier.store = fd;
            copier.on_disk = true;
        } else if (fd >= 0) {
            close(fd);
        }
    }
    return copier.on_disk;
}

/* Invariants 2 and 3: what does not fit stays held. */
static void put_by(void)
{
    ssize_t n = -1;
    size_t len = copier.nheld - copier.off;
    if (copier.on_disk || copier.end - copier.begin + (off_t)len <= KEEP_BYTES || go_to_disk())
        n = pwrite(copier.store, copier.held + copier.off, len, copier.end);
    if (n > 0) {
        copier.off += (size_t)n;
        copier.end += n;
        if (copier.off == copier.nheld)
            copier.off = copier.nheld = 0;
    } else if (!copier.told) {
        copier.told = true;
        say("note: -stdin all: there is no room in TMPDIR for what the slowest rank has not read; the others "
            "wait for it");
    }
}

static void take(void)
{
    ssize_t n = read(0, copier.held, READ_BYTES);
    if (n > 0)
        copier.nheld = (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        copier.input_ended = true;
}

static void give(int i)
{
    char buf[READ_BYTES];
    off_t left = copier.end - copier.done[i];
    ssize_t n = pread(copier.store, buf, left < READ_BYTES ? (size_t)left : READ_BYTES, copier.done[i]);
    if (n > 0)
        n = write(copier.poll[i].fd, buf, (size_t)n);
    if (n > 0)
        copier.done[i] += n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        shut(i);
}

/* Invariant 1. */
static bool somebody_waits(void)
{
    for (int i = 1; i <= copier.n; i++)
        if (copier.poll[i].fd >= 0 && copier.done[i] == copier.end)
            return true;
    return false;
}

static void wait_for_events(void)
{
    bool reads = !copier.input_ended && copier.nheld == 0 && somebody_waits();
    copier.poll[0] = (struct pollfd){ .fd = reads ? 0 : -1, .events = POLLIN };
    for (int i = 1; i <= copier.n; i++)
        copier.poll[i].events =
            copier.done[i] < copier.end ? POLLOUT : 0; /* a reader that leaves is told anyway */
    if (poll(copier.poll, (nfds_t)copier.n + 1, -1) < 0) {
        if (errno != EINTR && errno != EAGAIN)
            _exit(EXIT_MPIEXEC);
        for (int i = 0; i <= copier.n; i++)
            copier.poll[i].revents = 0;
    }
}

static _Noreturn void copy(void)
{
    copier.held = xalloc(READ_BYTES, 1);
    copier.store = memfd_create("keel-stdin", MFD_CLOEXEC);
    if (copier.store < 0 && !go_to_disk())
        _exit(EXIT_MPIEXEC);
    while (copier.open > 0) {
        wait_for_events();
        for (int i = 1; i <= copier.n; i++)
            if (copier.poll[i].fd >= 0 && copier.poll[i].revents & (POLLERR | POLLNVAL))
                shut(i);
            else if (copier.poll[i].fd >= 0 && copier.poll[i].revents & POLLOUT &&
                     copier.done[i] < copier.end)
                give(i);
        forget();
        if (copier.poll[0].revents)
            take();
        if (copier.nheld)
            put_by();
        for (int i = 1; i <= copier.n && copier.input_ended && copier.nheld == 0; i++)
            if (copier.poll[i].fd >= 0 && copier.done[i] == copier.end)
                shut(i);
    }
    _exit(0);
}

/* ---- the daemon's side ---- */

/* A second opening of stdin, if that is a file. */
static int open_again(void)
{
    struct stat st;
    off_t at = lseek(0, 0, SEEK_CUR);
    if (fstat(0, &st) != 0 || !S_ISREG(st.st_mode) || at < 0)
        return -1;
    int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && lseek(fd, at, SEEK_SET) != at) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Is this rank fed?  One alone that reads stdin has it itself, if it is here. */
static bool is_fed(const struct launch *l, int rank)
{
    return l->stdin_rank == STDIN_ALL || (l->remote && rank == l->stdin_rank && l->node_of[rank] != l->here);
}

void feed_start(const struct launch *l, int front, int signals)
{
    pid_t daemon = getpid();
    ends = xalloc((size_t)l->size, sizeof *ends);
    copier.poll = xalloc((size_t)l->size + 1, sizeof *copier.poll);
    copier.done = xalloc((size_t)l->size + 1, sizeof *copier.done);
    for (int i = 0; i < l->size; i++) {
        int fds[2];
        if (!is_fed(l, i) || (ends[i] = open_again()) >= 0) {
            ends[i] = is_fed(l, i) ? ends[i] : -1;
            continue;
        }
        if (pipe2(fds, O_CLOEXEC) != 0 || fcntl(fds[1], F_SETFL, O_NONBLOCK) != 0)
            die("a pipe for the stdin of rank %d failed: %s", i, strerror(errno));
        ends[i] = fds[0];
        copier.poll[++copier.n].fd = fds[1];
    }
    copier.open = copier.n;
    pid_t pid = copier.n ? fork() : 1;
    if (pid < 0)
        die("fork failed: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, l->front_pgid);
        sigprocmask(SIG_SETMASK, &l->sigmask, NULL);
        close(front);
        close(signals);
        for (int i = 0; i < l->size; i++)
            if (ends[i] >= 0)
                close(ends[i]);
        if (getppid() == daemon)
            copy();
        _exit(EXIT_MPIEXEC);
    }
    for (int i = 1; i <= copier.n; i++)
        close(copier.poll[i].fd);
    free(copier.poll);
    free(copier.done);
}

int feed_take(int rank)
{
    return ends ? ends[rank] : -1;
}
