/* SPDX-License-Identifier: BSD-3-Clause */
/* keel.c: the wire to our own mpiexec (described in pmi.h). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/err.h"
#include "pmi_wire.h"

/* KEEL_JOB and KEEL_RANK, taken apart. */
struct ticket {
    int pid, segment_fd, control_fd, appnum;
    uint64_t job_id;
    int rank;
};

static int control_fd = -1; /* our own duplicate */
/* What pmi_keel_init has read: an instance of several in a process (instances.h) has an environment that others
 * change. */
static struct ticket own;
static bool has_own;

/* Has the variable another value than this one, of n bytes?  Then another launcher has been here since. */
static bool is_another(const char *name, const char *value, size_t n)
{
    const char *is = getenv(name);
    return is != NULL && (strlen(is) != n || strncmp(is, value, n) != 0);
}

/* A rank of ours may start another launcher (mpiexec -n 2 sh -c 'mpiexec.hydra -n 2 ./program'): what that one
 * starts is of its job, though our variables are still there.  KEEL_WIRES says with which values of others'
 * variables our rank has begun. */
bool pmi_keel_is_there(void)
{
    const char *had = getenv("KEEL_WIRES"), *space = had != NULL ? strchr(had, ' ') : NULL;
    if (getenv("KEEL_JOB") == NULL)
        return false;
    return space == NULL || (!is_another("PMI_FD", had, (size_t)(space - had)) &&
                             !is_another("PMIX_NAMESPACE", space + 1, strlen(space + 1)));
}

/* The number at *p, of digits of the base, which `end` follows; *p goes on behind that.  (libc's parsers would
 * bring pages of theirs into every rank.) */
static bool take_number(const char **p, unsigned base, char end, uint64_t *n)
{
    const char *at = *p;
    *n = 0;
    for (;; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                                                    : base;
        if (digit >= base || *n > (UINT64_MAX - digit) / base)
            break;
        *n = *n * base + digit;
    }
    if (at == *p || *at != end)
        return false;
    *p = at + 1;
    return true;
}

static bool take_int(const char **p, char end, int *n)
{
    uint64_t value;
    bool is = take_number(p, 10, end, &value) && value <= INT_MAX;
    *n = is ? (int)value : 0;
    return is;
}

static int read_ticket(struct ticket *t)
{
    const char *job = getenv("KEEL_JOB"), *rank = getenv("KEEL_RANK"), *at = job;
    int version = 0;
    if (!take_int(&at, ':', &version) || !take_int(&at, ':', &t->pid) ||
        !take_int(&at, ':', &t->segment_fd) || !take_int(&at, ':', &t->control_fd) ||
        !take_number(&at, 16, ':', &t->job_id) || !take_int(&at, 0, &t->appnum))
        return ku_err_set(EINVAL, NULL, "KEEL_JOB is \"%.80s\"; expected what mpiexec sets", job);
    if (version != KU_SEG_VERSION)
        return ku_err_set(EINVAL, NULL,
                          "mpiexec speaks version %d of the job's protocol, this library version %d: "
                          "use the mpiexec installed with the library",
                          version, KU_SEG_VERSION);
    const char *digits = rank;
    if (!rank || !take_int(&digits, 0, &t->rank))
        return ku_err_set(EINVAL, NULL, "KEEL_RANK is %s; expected this process's rank, as mpiexec sets it",
                          rank ? rank : "not set");
    return 0;
}

static bool ticket_of(struct ticket *t)
{
    if (has_own)
        *t = own;
    return has_own || read_ticket(t) == 0;
}

/* Open the launcher's descriptor `fd` anew; for when ours was closed on the way, or is something else by now.
 */
static int reopen(const struct ticket *t, int fd, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", t->pid, fd);
    return open(path, flags | O_CLOEXEC);
}

static int attach_fd(struct ku_segment *s, const struct ticket *t, int fd)
{
    if (fd < 0)
        return errno;
    int err = ku_segment_attach(s, fd);
    if (!err && s->head->job_id != t->job_id) {
        ku_segment_detach(s);
        return ku_err_set(EINVAL, NULL, "shared memory: descriptor %d is another job's segment",
                          t->segment_fd);
    }
    if (err)
        close(fd);
    return err;
}

/* We have what we need: programs that this one starts get none of the launcher's descriptors. */
static void close_on_exec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int attach(struct ku_segment *s, const struct ticket *t)
{
    if (attach_fd(s, t, fcntl(t->segment_fd, F_DUPFD_CLOEXEC, 3)) == 0) {
        close_on_exec(t->segment_fd);
        return 0;
    }
    struct ku_err first = *ku_err_last();
    ku_err_clear();
    int err = attach_fd(s, t, reopen(t, t->segment_fd, O_RDWR));
    if (!err)
        return 0;
    if (ku_err_last()->code == 0)
        ku_err_set(err, NULL,
                   "%s%s/proc/%d/fd/%d: %s (descriptor %d was closed between mpiexec and this program?)",
                   first.code ? first.text : "", first.code ? "; " : "", t->pid, t->segment_fd, strerror(err),
                   t->segment_fd);
    return err;
}

/* Is our descriptor still the launcher's pipe?  The segment says, or /proc; where neither can tell, being a pipe
 * is enough. */
static bool is_control(const struct ticket *t, const struct ku_seg_head *h)
{
    char path[64];
    struct stat ours, theirs;
    if (fstat(t->control_fd, &ours) != 0 || !S_ISFIFO(ours.st_mode))
        return false;
    if (h && h->control_ino)
        return h->control_ino == ours.st_ino;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", t->pid, t->control_fd);
    return stat(path, &theirs) != 0 || (ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev);
}

/* `h`: of our segment; NULL: not mapped. */
static int open_control(const struct ticket *t, const struct ku_seg_head *h)
{
    if (control_fd < 0 && is_control(t, h)) {
        control_fd = fcntl(t->control_fd, F_DUPFD_CLOEXEC, 3);
        close_on_exec(t->control_fd);
    }
    if (control_fd < 0)
        control_fd = reopen(t, t->control_fd, O_WRONLY | O_NONBLOCK);
    if (control_fd < 0)
        return ku_err_set(errno, NULL,
                          "the way back to mpiexec (descriptor %d, /proc/%d/fd/%d) cannot be opened: %s",
                          t->control_fd, t->pid, t->control_fd, strerror(errno));
    return 0;
}

/* Does the job go on without ranks that fail (mpiexec -with-ft)?  Its launcher is to know then of whom that is true. */
static bool survives(void)
{
    const char *is = getenv("KEEL_SURVIVE");
    return is != NULL && *is != '0';
}

int pmi_keel_init(struct pmi_job *job)
{
    struct ticket t;
    int err = read_ticket(&t);
    if (!err)
        err = attach(&job->segment, &t);
    if (err)
        return err;
    own = t;
    has_own = true;
    const struct ku_seg_head *h = job->segment.head;
    job->wire = "keel";
    job->rank = t.rank;
    job->size = (int32_t)h->size;
    job->appnum = t.appnum;
    job->universe_size = (int32_t)(h->universe > h->size ? h->universe : h->size);
    err = pmi_find_seat(job);
    if (!err)
        err = open_control(&t, h);
    if (!err)
        err = pmi_take_seat(job);
    if (err)
        pmi_fini(job);
    else if (h->nnodes > 1 && survives())
        pmi_keel_send(PMI_RUNS, job->epoch, NULL, 0);
    while (!err && atomic_load(&job->segment.head->held))
        usleep(10000); /* until the debugger that started mpiexec lets us go */
    return err;
}

bool pmi_keel_send(enum pmi_record_kind kind, uint32_t value, const void *bytes, size_t len)
{
    struct ticket t;
    if (!pmi_keel_is_there() || !ticket_of(&t) || (control_fd < 0 && open_control(&t, NULL) != 0))
        return false;
    char buf[PIPE_BUF];
    if (len > sizeof buf - sizeof(struct pmi_record))
        len = sizeof buf - sizeof(struct pmi_record);
    struct pmi_record r = {
        .job_id = t.job_id, .rank = (uint32_t)t.rank, .kind = kind, .value = value, .len = (uint32_t)len
    };
    memcpy(buf, &r, sizeof r);
    if (len > 0)
        memcpy(buf + sizeof r, bytes, len);
    /* A launcher that is gone must not kill us here: its end reaches us by another way. */
    struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
    sigaction(SIGPIPE, &ignore, &old);
    ssize_t n;
    while ((n = write(control_fd, buf, sizeof r + len)) < 0 && (errno == EINTR || errno == EAGAIN))
        if (errno == EAGAIN)
            usleep(1000);
    sigaction(SIGPIPE, &old, NULL);
    return n == (ssize_t)(sizeof r + len);
}

bool pmi_keel_can_send(const struct ku_seg_head *h)
{
    enum { PATIENCE_MS = 100 };
    struct stat st;
    struct pollfd p = { .fd = control_fd, .events = POLLOUT };
    return control_fd >= 0 && fstat(control_fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
           (!h->control_ino || h->control_ino == st.st_ino) && poll(&p, 1, PATIENCE_MS) == 1 &&
           p.revents == POLLOUT;
}

int pmi_keel_daemon(void)
{
    struct ticket t;
    return pmi_keel_is_there() && ticket_of(&t) ? t.pid : 0;
}

bool pmi_keel_spawner(uint64_t *job, int *rank)
{
    struct ticket t;
    if (!pmi_keel_is_there() || !ticket_of(&t))
        return false;
    *job = t.job_id;
    *rank = t.rank;
    return true;
}

void pmi_keel_lost(void (*lost)(int node))
{
    struct ticket t;
    struct ku_segment s = { .fd = -1 };
    if (!pmi_keel_is_there() || !ticket_of(&t) || attach(&s, &t) != 0)
        return;
    for (uint32_t rank = 0; rank < s.head->size; rank++)
        if (atomic_load(&ku_segment_gone(&s)[rank]) == KU_GONE_WITH_HOST)
            lost(ku_segment_node_of(&s, (int32_t)rank));
    ku_segment_detach(&s);
}

void pmi_keel_fini(void)
{
    has_own = false;
    if (control_fd >= 0)
        close(control_fd);
    control_fd = -1;
}
