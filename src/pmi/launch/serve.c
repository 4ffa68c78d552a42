/* serve.c: see serve.h.  The process has a socket to each rank that is served.  What it learns of them goes where the daemon looks
 * anyway: that a rank has begun, or has ended properly, into its node's segment; an abort into the control pipe. */
#define _GNU_SOURCE
#include "serve.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include "crew.h"
#include "talk.h"

static int channel = -1; /* the daemon's end: ranks' sockets go through it */

/* ---- the process ---- */

static struct {
    int *fd; /* of each rank; -1: none */
    int events;
} served;

static struct ku_seg_rank *seg_rank(int rank)
{
    return ku_segment_rank(&crew.segments[crew.launch->node_of[rank]], (uint32_t)crew.ranks[rank].local);
}

static void tell(int rank, enum pmi_record_kind kind, int value, const char *text)
{
    struct {
        struct pmi_record head;
        char text[200];
    } r = { .head = { crew.job_id, (uint32_t)rank, kind, (uint32_t)value, 0 } };
    snprintf(r.text, sizeof r.text, "%s", text);
    r.head.len = (uint32_t)strlen(r.text);
    while (write(crew.control[1], &r, sizeof r.head + r.head.len) < 0 && errno == EINTR)
        ;
}

static void shut(int rank)
{
    close(served.fd[rank]);
    served.fd[rank] = -1;
}

/* Answers are short, and a rank reads each before it asks again: one that does not is no rank of any MPI's. */
static void on_send(int rank, const char *bytes, size_t len)
{
    if (served.fd[rank] >= 0 &&
        send(served.fd[rank], bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len)
        shut(rank);
}

static void on_event(int rank, enum talk_event event, int code)
{
    struct ku_seg_rank *r = seg_rank(rank);
    if (event == TALK_ABORT) {
        r->abort_code = code;
        atomic_store(&r->state, KU_RANK_ABORTED);
        tell(rank, PMI_ABORT, code, "");
    } else {
        atomic_store(&r->state, event == TALK_INIT ? KU_RANK_RUNNING : KU_RANK_FINALIZED);
    }
}

/* False: there is no more for now. */
static bool hear(int rank)
{
    char bytes[4096];
    ssize_t n = recv(served.fd[rank], bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (n > 0 && !talk_take(rank, bytes, (size_t)n)) {
        tell(rank, PMI_MESSAGE, 0, "what it says to its launcher (PMI_FD) is neither PMI-1 nor PMI-2");
        n = 0;
    }
    if (n <= 0 && served.fd[rank] >= 0)
        shut(rank);
    return n > 0 && served.fd[rank] >= 0;
}

/* This rank has ended: all that it has said is heard before the daemon is answered. */
static void settle(int from, int rank)
{
    while (served.fd[rank] >= 0 && hear(rank))
        ;
    send(from, &rank, sizeof rank, MSG_NOSIGNAL);
}

/* From the daemon: a rank and its socket; or a rank that has ended. */
static void take(int from)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    int rank = -1, fd;
    struct iovec v = { &rank, sizeof rank };
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR)
        return;
    if (n != sizeof rank || rank < 0 || rank >= crew.launch->size)
        _exit(0); /* the daemon is gone */
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_type != SCM_RIGHTS) {
        settle(from, rank);
        return;
    }
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)rank };
    served.fd[rank] = fd;
    if (epoll_ctl(served.events, EPOLL_CTL_ADD, fd, &e) != 0)
        shut(rank);
}

static void close_between(int from, int to)
{
#ifdef SYS_close_range
    if (from > to || syscall(SYS_close_range, from, to, 0) == 0)
        return;
#endif
    struct rlimit r = { 1 << 16, 0 };
    getrlimit(RLIMIT_NOFILE, &r);
    for (int fd = from; fd <= to && (rlim_t)fd < r.rlim_cur; fd++)
        close(fd);
}

/* Whoever waits for the end of what the daemon has open shall not wait for us; but for stderr. */
static void close_others(int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    close(0);
    close(1);
    close_between(3, low - 1);
    close_between(low + 1, high - 1);
    close_between(high + 1, INT_MAX);
}

static _Noreturn void serve(int from)
{
    const struct launch *l = crew.launch;
    struct talk_job job = {
        .size = l->size, .node_of = l->node_of, .id = crew.job_id, .send = on_send, .on = on_event
    };
    int32_t *section_of = xalloc((size_t)l->size, sizeof *section_of);
    served.fd = xalloc((size_t)l->size, sizeof *served.fd);
    for (int i = 0; i < l->size; i++) {
        served.fd[i] = -1;
        section_of[i] = (int32_t)(crew.ranks[i].app - l->apps);
    }
    job.section_of = section_of;
    job.universe = (int)crew.segments[l->node_of[0]].head->universe;
    talk_begin(&job);
    served.events = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = UINT32_MAX };
    if (served.events < 0 || epoll_ctl(served.events, EPOLL_CTL_ADD, from, &e) != 0)
        die("serving PMI failed: %s", strerror(errno));
    for (;;) {
        int n = epoll_wait(served.events, &e, 1, -1);
        if (n == 1 && e.data.u32 == UINT32_MAX)
            take(from);
        else if (n == 1 && served.fd[e.data.u32] >= 0)
            hear((int)e.data.u32);
    }
}

/* ---- the daemon's side ---- */

static void begin(void)
{
    int ends[2];
    pid_t daemon = getpid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        die("a socket to serve PMI failed: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        die("fork failed: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "keel-pmi");
        if (getppid() != daemon)
            _exit(EXIT_MPIEXEC);
        close_others(ends[1], crew.control[1]);
        serve(ends[1]);
    }
    close(ends[1]);
    channel = ends[0];
}

/* The process may have been stopped, or killed: its word is not waited for for ever. */
void serve_settle(int rank)
{
    struct timeval most = { .tv_sec = 2 };
    int answer = -1;
    if (channel < 0 || send(channel, &rank, sizeof rank, MSG_NOSIGNAL) != sizeof rank)
        return;
    setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    for (ssize_t n = 1; answer != rank && (n > 0 || (n < 0 && errno == EINTR));)
        n = recv(channel, &answer, sizeof answer, 0);
}

int serve_rank(int rank)
{
    int ends[2];
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {
        .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    struct iovec v = { &rank, sizeof rank };
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    if (channel < 0)
        begin();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        die("a socket for PMI_FD of rank %d failed: %s", rank, strerror(errno));
    memcpy(CMSG_DATA(&control.head), &ends[0], sizeof ends[0]);
    if (sendmsg(channel, &m, MSG_NOSIGNAL) != sizeof rank)
        die("the process that serves PMI does not take the socket of rank %d: %s", rank, strerror(errno));
    close(ends[0]);
    return crew_high_fd(ends[1]);
}
