/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c: see channel.h. */
#define _GNU_SOURCE
#include "channel.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/err.h"
#include "words.h"

static struct {
    int fd, version;
    char *in;                /* the last answer, and what has come behind it */
    size_t cap, have, taken; /* bytes there is room for, in it, of the last answer */
} channel = { .fd = -1 };

static bool is_socket(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int version_offered(void)
{
    const char *said = getenv("PMI_VERSION");
    return said ? atoi(said) : getenv("SLURM_STEP_ID") ? 2 : 1;
}

/* A job of one rank needs nobody. */
bool pmi_channel_is_there(int version)
{
    return getenv("PMI_FD") != NULL && getenv("PMI_RANK") != NULL && getenv("PMI_SIZE") != NULL &&
           version == version_offered() &&
           (atoi(getenv("PMI_SIZE")) > 1 || is_socket(atoi(getenv("PMI_FD"))));
}

static int channel_fail(const char *what, int err)
{
    return ku_err_set(err, NULL, "the launcher (PMI_FD=%.10s, PMI-%d): %s: %s", getenv("PMI_FD"),
                      channel.version, what, strerror(err));
}

int pmi_channel_take(int version, struct pmi_facts *f)
{
    int fd = atoi(getenv("PMI_FD"));
    channel.version = version;
    if (!is_socket(fd))
        return ku_err_set(
            EBADF, NULL,
            "PMI_FD is %.10s, which is no socket (any more): this process was not started by the launcher "
            "itself; start an MPI program from an MPI program by \"mpiexec -n 1 program\"",
            getenv("PMI_FD"));
    f->rank = atoi(getenv("PMI_RANK"));
    f->size = atoi(getenv("PMI_SIZE"));
    if (f->size < 1 || f->rank < 0 || f->rank >= f->size)
        return ku_err_set(EINVAL, NULL,
                          "PMI_RANK is %.20s and PMI_SIZE %.20s; expected a rank and how many there are",
                          getenv("PMI_RANK"), getenv("PMI_SIZE"));
    f->node_of = calloc((size_t)f->size, sizeof *f->node_of);
    if (!f->node_of)
        return channel_fail("no memory for the ranks' nodes", ENOMEM);
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* what this process starts is not this rank */
    channel.fd = fd;
    return 0;
}

void pmi_channel_close(void)
{
    if (channel.fd >= 0)
        close(channel.fd);
    free(channel.in);
    channel.in = NULL;
    channel.cap = channel.have = channel.taken = 0;
    channel.fd = -1;
}

bool pmi_channel_is_open(void)
{
    return channel.fd >= 0;
}

int pmi_channel_say(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(channel.fd, bytes, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return channel_fail("sending failed", errno);
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

/* What was taken makes room. */
static void channel_begin(void)
{
    if (channel.taken > 0)
        memmove(channel.in, channel.in + channel.taken, channel.have - channel.taken);
    channel.have -= channel.taken;
    channel.taken = 0;
}

/* Read on, with room for `want` bytes, and a zero behind them. */
static int more(size_t want)
{
    if (want > PMI_FRAME_MOST + PMI_FRAME_HEAD)
        return channel_fail("an answer is too long", EMSGSIZE);
    if (want + 1 > channel.cap) {
        size_t cap = 2 * (want + 1);
        char *longer = realloc(channel.in, cap);
        if (!longer)
            return channel_fail("no memory for an answer", ENOMEM);
        channel.in = longer;
        channel.cap = cap;
    }
    ssize_t n;
    do
        n = read(channel.fd, channel.in + channel.have, channel.cap - 1 - channel.have);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return channel_fail("it is gone", n < 0 ? errno : EPIPE);
    channel.have += (size_t)n;
    return 0;
}

int pmi_channel_line(char **text)
{
    char *end;
    channel_begin();
    while (!(end = channel.have ? memchr(channel.in, '\n', channel.have) : NULL)) {
        int err = more(channel.have + 1);
        if (err)
            return err;
    }
    *end = 0;
    *text = channel.in;
    channel.taken = (size_t)(end - channel.in) + 1;
    return 0;
}

/* The text gets its zero by being moved over the head: what has come behind it stays. */
int pmi_channel_frame(char **text)
{
    channel_begin();
    for (size_t want = PMI_FRAME_HEAD; channel.have < want;) {
        int err = more(want);
        if (err)
            return err;
    }
    int32_t len = pmi_frame_length(channel.in);
    if (len < 0)
        return ku_err_set(EPROTO, NULL,
                          "the launcher (PMI-2) answers \"%.*s...\"; expected the length of a frame in six "
                          "characters",
                          PMI_FRAME_HEAD, channel.in);
    for (size_t want = PMI_FRAME_HEAD + (size_t)len; channel.have < want;) {
        int err = more(want);
        if (err)
            return err;
    }
    memmove(channel.in, channel.in + PMI_FRAME_HEAD, (size_t)len);
    channel.in[len] = 0;
    *text = channel.in;
    channel.taken = PMI_FRAME_HEAD + (size_t)len;
    return 0;
}
