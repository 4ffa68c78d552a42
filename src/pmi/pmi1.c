/* pmi1.c: PMI-1, the protocol of MPICH's Hydra.
 *
 * PMI_FD is a socket to the launcher.  Each request is a line of words NAME=VALUE that begins with cmd=, and so is its answer. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "server.h"
#include "util/err.h"

enum { LINE = 4096, NAME_MOST = 512 };

static struct {
    int fd;
    char space[NAME_MOST]; /* the key-value space's name */
    char in[LINE];         /* the last answer, and what has come behind it */
    size_t have, line;     /* bytes in `in`; those of the answer, its line feed included */
} pmi = { .fd = -1 };

static bool is_socket(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* A job of one rank needs nobody. */
static bool is_there(void)
{
    return getenv("PMI_FD") != NULL && getenv("PMI_RANK") != NULL && getenv("PMI_SIZE") != NULL &&
           (atoi(getenv("PMI_SIZE")) > 1 || is_socket(atoi(getenv("PMI_FD"))));
}

static int fail(const char *what, int err)
{
    return ku_err_set(err, NULL, "the launcher (PMI_FD=%.10s, PMI-1): %s: %s", getenv("PMI_FD"), what,
                      strerror(err));
}

/* ---- Lines ---- */

static int say(const char *line, size_t len)
{
    while (len > 0) {
        ssize_t n = send(pmi.fd, line, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail("sending failed", errno);
        line += n;
        len -= (size_t)n;
    }
    return 0;
}

/* The next line, ended by a zero instead of its line feed. */
static int hear(void)
{
    memmove(pmi.in, pmi.in + pmi.line, pmi.have - pmi.line);
    pmi.have -= pmi.line;
    pmi.line = 0;
    for (;;) {
        char *end = memchr(pmi.in, '\n', pmi.have);
        if (end) {
            *end = 0;
            pmi.line = (size_t)(end - pmi.in) + 1;
            return 0;
        }
        if (pmi.have == sizeof pmi.in)
            return fail("an answer is too long", EMSGSIZE);
        ssize_t n = read(pmi.fd, pmi.in + pmi.have, sizeof pmi.in - pmi.have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail("it is gone", n < 0 ? errno : EPIPE);
        pmi.have += (size_t)n;
    }
}

/* The value of a word of the answer, which goes to the next space (that of `msg` and of values may hold '='); false: there is none. */
static bool word(const char *name, char *value, size_t cap)
{
    size_t n = strlen(name);
    for (const char *at = pmi.in; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            size_t len = strcspn(at + n + 1, " ");
            if (len >= cap)
                return false;
            memcpy(value, at + n + 1, len);
            value[len] = 0;
            return true;
        }
    return false;
}

static bool number(const char *name, int32_t *n)
{
    char text[16], *end;
    if (!word(name, text, sizeof text))
        return false;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < INT32_MIN || value > INT32_MAX)
        return false;
    *n = (int32_t)value;
    return true;
}

/* A request, and the answer that is expected. */
static int ask(const char *line, const char *answer)
{
    char cmd[64];
    int32_t rc = 0;
    int err = say(line, strlen(line));
    if (!err)
        err = hear();
    if (err)
        return err;
    if (!word("cmd", cmd, sizeof cmd) || strcmp(cmd, answer) != 0)
        return ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected cmd=%s", pmi.in,
                          answer);
    if (number("rc", &rc) && rc != 0)
        return ku_err_set(ENOENT, NULL, "the launcher (PMI-1) refuses \"%.60s\": \"%.100s\"", line, pmi.in);
    return 0;
}

/* ---- The server's functions ---- */

static int take_fd(void)
{
    struct stat st;
    pmi.fd = atoi(getenv("PMI_FD"));
    if (fstat(pmi.fd, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        pmi.fd = -1;
        return ku_err_set(
            EBADF, NULL,
            "PMI_FD is %.10s, which is no socket (any more): this process was not started by the launcher "
            "itself; start an MPI program from an MPI program by \"mpiexec -n 1 program\"",
            getenv("PMI_FD"));
    }
    fcntl(pmi.fd, F_SETFD, FD_CLOEXEC); /* what this process starts is not this rank */
    return 0;
}

static int learn(struct pmi_facts *f)
{
    char line[LINE], mapping[LINE] = "";
    int32_t values = 0;
    int err = ask("cmd=get_maxes\n", "maxes");
    if (err)
        return err;
    if (!number("vallen_max", &values) || values < 64)
        return ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected a vallen_max",
                          pmi.in);
    f->value_max = (size_t)values < LINE / 2 ? (size_t)values - 1 : LINE / 2;
    if (ask("cmd=get_appnum\n", "appnum") != 0 || !number("appnum", &f->appnum))
        f->appnum = -1;
    if (ask("cmd=get_universe_size\n", "universe_size") != 0 || !number("size", &f->universe))
        f->universe = -1;
    err = ask("cmd=get_my_kvsname\n", "my_kvsname");
    if (err)
        return err;
    if (!word("kvsname", pmi.space, sizeof pmi.space))
        return ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected a kvsname",
                          pmi.in);
    if (f->size == 1)
        return 0;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_process_mapping\n", pmi.space);
    err = ask(line, "get_result");
    if (!err && !word("value", mapping, sizeof mapping))
        err = ku_err_set(EPROTO, NULL, "the launcher (PMI-1) does not tell on which nodes the ranks are");
    return err ? err : pmi_mapping(mapping, f->node_of, f->size);
}

static int init(struct pmi_facts *f)
{
    int err = take_fd();
    f->rank = atoi(getenv("PMI_RANK"));
    f->size = atoi(getenv("PMI_SIZE"));
    if (!err && (f->size < 1 || f->rank < 0 || f->rank >= f->size))
        err = ku_err_set(EINVAL, NULL,
                         "PMI_RANK is %.20s and PMI_SIZE %.20s; expected a rank and how many there are",
                         getenv("PMI_RANK"), getenv("PMI_SIZE"));
    if (err)
        return err;
    f->node_of = calloc((size_t)f->size, sizeof *f->node_of);
    if (!f->node_of)
        return fail("no memory for the ranks' nodes", ENOMEM);
    err = ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init");
    if (!err)
        err = learn(f);
    if (!err) {
        ku_err_clear(); /* of what it need not tell */
        return 0;
    }
    free(f->node_of);
    f->node_of = NULL;
    return err;
}

static int put(const char *key, const char *value)
{
    char line[LINE];
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=%s value=%s\n", pmi.space, key, value);
    return ask(line, "put_result");
}

static int get(int32_t from, const char *key, char *value, size_t cap)
{
    char line[LINE];
    (void)from;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=%s\n", pmi.space, key);
    int err = ask(line, "get_result");
    if (!err && !word("value", value, cap))
        err = ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected a value", pmi.in);
    return err;
}

static int fence(void)
{
    return ask("cmd=barrier_in\n", "barrier_out");
}

static void end(int code, const char *text)
{
    char line[64];
    if (text && *text)
        fprintf(stderr, "%s\n", text);
    snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    if (pmi.fd >= 0)
        say(line, strlen(line));
}

static void fini(void)
{
    if (pmi.fd >= 0 && ask("cmd=finalize\n", "finalize_ack") == 0)
        close(pmi.fd);
    pmi.fd = -1;
}

const struct pmi_server pmi_1 = { "PMI-1", is_there, init, put, get, fence, end, fini };
