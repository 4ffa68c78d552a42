/* feed.c: a file is opened once more for each rank, each with a position of its own.  Anything else is copied into a pipe a
 * rank by a process that stays in the terminal's foreground, as long as ranks read; what the slowest has not read yet
 * waits in memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "feed.h"

enum { READ_BYTES = 64 << 10 };

static int *ends; /* the ranks' */

/* ---- the copier ---- */

static struct {
    struct pollfd *poll; /* stdin, then the ranks' pipes; -1: closed */
    size_t *done;        /* what each pipe has taken of buf */
    int n, open;
    char *buf;
    size_t len, cap;
    bool end; /* of stdin */
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
    size_t least = copier.len;
    for (int i = 1; i <= copier.n; i++)
        if (copier.poll[i].fd >= 0 && copier.done[i] < least)
            least = copier.done[i];
    if (least < copier.len && least < copier.cap / 2)
        return;
    memmove(copier.buf, copier.buf + least, copier.len - least);
    copier.len -= least;
    for (int i = 1; i <= copier.n; i++)
        copier.done[i] -= copier.poll[i].fd >= 0 ? least : 0;
}

static void take(void)
{
    forget();
    if (copier.cap - copier.len < READ_BYTES)
        copier.buf = xgrow(copier.buf, copier.cap = 2 * copier.cap + READ_BYTES, 1);
    ssize_t n = read(0, copier.buf + copier.len, READ_BYTES);
    if (n > 0)
        copier.len += (size_t)n;
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        copier.end = true;
}

static void give(int i)
{
    ssize_t n = write(copier.poll[i].fd, copier.buf + copier.done[i], copier.len - copier.done[i]);
    if (n > 0)
        copier.done[i] += (size_t)n;
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        shut(i);
}

static _Noreturn void copy(void)
{
    while (copier.open > 0) {
        copier.poll[0] = (struct pollfd){ .fd = copier.end ? -1 : 0, .events = POLLIN };
        for (int i = 1; i <= copier.n; i++)
            copier.poll[i].events =
                copier.done[i] < copier.len ? POLLOUT : 0; /* a reader that leaves is told anyway */
        if (poll(copier.poll, (nfds_t)copier.n + 1, -1) < 0 && errno != EINTR && errno != EAGAIN)
            _exit(EXIT_MPIEXEC);
        for (int i = 1; i <= copier.n; i++)
            if (copier.poll[i].fd >= 0 && copier.poll[i].revents & (POLLERR | POLLNVAL))
                shut(i);
            else if (copier.poll[i].fd >= 0 && copier.poll[i].revents & POLLOUT &&
                     copier.done[i] < copier.len)
                give(i);
        if (copier.poll[0].revents)
            take();
        for (int i = 1; i <= copier.n && copier.end; i++)
            if (copier.poll[i].fd >= 0 && copier.done[i] == copier.len)
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

void feed_start(const struct launch *l, int front, int signals)
{
    pid_t daemon = getpid();
    ends = xalloc((size_t)l->size, sizeof *ends);
    copier.poll = xalloc((size_t)l->size + 1, sizeof *copier.poll);
    copier.done = xalloc((size_t)l->size + 1, sizeof *copier.done);
    for (int i = 0; i < l->size; i++) {
        int fds[2];
        if ((ends[i] = open_again()) >= 0)
            continue;
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
    return ends[rank];
}
