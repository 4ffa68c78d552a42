/* SPDX-License-Identifier: BSD-3-Clause */
/* serve.c: see serve.h. */
#define _GNU_SOURCE
#include "serve.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/frames/packets.h"
#include "pmi/launch/base/scratch.h"
#include "servant.h"

static const double SETTLE_SECONDS = 2, ENVIRON_SECONDS = 60, END_SECONDS = 1;

static struct {
    bool begun, holds;
    pid_t pid;
    struct packets to; /* the servant */
} serve;

static void begin(void)
{
    int ends[2];
    pid_t daemon = getpid();
    if (serve.begun)
        return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        die("a socket to serve PMI failed: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        die("fork failed: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != daemon)
            _exit(EXIT_MPIEXEC);
        servant_main(ends[1]);
    }
    close(ends[1]);
    serve.pid = pid;
    packets_open(&serve.to, ends[0]);
    serve.begun = true;
}

static void pass_on(const struct packet *k)
{
    if (k->what == PACKET_TO && crew.on_parcel)
        crew.on_parcel(k->value, k->bytes, k->len);
}

/* The answer of one of these kinds for this rank, to be freed; NULL: the servant is gone, or has been stopped. */
static struct packet *wait_for(enum packet_what what, enum packet_what or, int rank, double seconds)
{
    for (double until = now() + seconds; serve.to.fd >= 0;) {
        struct packet *k = packets_next(&serve.to);
        if (k && (k->what == (int)what || k->what == (int) or) && k->value == rank)
            return k;
        struct pollfd p;
        int left = milliseconds(until - now());
        if (k)
            pass_on(k);
        else if (left == 0 || serve_polls(&p) == 0 || (poll(&p, 1, left) < 0 && errno != EINTR))
            return NULL;
        free(k);
        packets_flush(&serve.to);
    }
    return NULL;
}

/* If it ended by itself it has said why. */
bool serve_reaped(pid_t pid, int status, bool told)
{
    if (!serve.begun || pid != serve.pid)
        return false;
    if (WIFSIGNALED(status) && !told)
        say("keel-pmi (process %d), which serves the ranks PMI or PMIx, was killed by signal %d; those that "
            "need it fail",
            pid, WTERMSIG(status));
    return true;
}

void serve_settle(int rank)
{
    if (!serve.begun || serve.to.fd < 0)
        return;
    packets_send(&serve.to, PACKET_SETTLE, rank, NULL, 0, -1);
    free(wait_for(PACKET_SETTLED, PACKET_SETTLED, rank, SETTLE_SECONDS));
}

void serve_end(void)
{
    if (!serve.begun || serve.to.fd < 0)
        return;
    packets_close(&serve.to);
    for (double until = now() + END_SECONDS; waitpid(serve.pid, NULL, WNOHANG) == 0 && now() < until;)
        usleep(500);
}

int serve_rank(int rank)
{
    int ends[2];
    begin();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        die("a socket for PMI_FD of rank %d failed: %s", rank, strerror(errno));
    packets_send(&serve.to, PACKET_SOCKET, rank, NULL, 0, ends[0]);
    if (serve.to.fd < 0)
        die("the process that serves PMI does not take the socket of rank %d", rank);
    return high_fd(ends[1]);
}

char **serve_environment(int rank, char **why)
{
    begin();
    packets_send(&serve.to, PACKET_ENVIRON, rank, NULL, 0, -1);
    struct packet *k = wait_for(PACKET_SET, PACKET_REFUSED, rank, ENVIRON_SECONDS);
    char **list = NULL;
    int n = 0;
    *why = NULL;
    if (!k)
        *why = xformat("the process that serves it has ended, or does not answer");
    else if (k->what == PACKET_REFUSED)
        *why = xformat("%.*s", (int)k->len, k->bytes);
    else if (!serve.holds)
        scratch_hold();
    serve.holds = serve.holds || !*why;
    for (size_t at = 0; !*why && at < k->len; at += strlen(k->bytes + at) + 1) {
        list = xgrow(list, (size_t)n + 2, sizeof *list);
        list[n++] = xformat("%s", k->bytes + at);
        list[n] = NULL;
    }
    free(k);
    return list;
}

void serve_parcel(int from, const void *bytes, size_t len)
{
    begin();
    packets_send(&serve.to, PACKET_FROM, from, bytes, len, -1);
}

int serve_polls(struct pollfd *p)
{
    if (!serve.begun || serve.to.fd < 0)
        return 0;
    *p = (struct pollfd){ .fd = serve.to.fd,
                          .events = (short)(POLLIN | (packets_wait(&serve.to) ? POLLOUT : 0)) };
    return 1;
}

void serve_move(void)
{
    if (!serve.begun)
        return;
    packets_flush(&serve.to);
    for (struct packet *k; (k = packets_next(&serve.to)) != NULL; free(k))
        pass_on(k);
}
