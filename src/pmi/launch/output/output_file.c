/* SPDX-License-Identifier: BSD-3-Clause */
/* output_file.c: see output_file.h.  At most `room` files are open; the others are opened again when something is to be
 * written.  Each is opened with O_APPEND, so two names of one file do no harm. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"
#include "output_file.h"

/* ---- patterns ---- */

static const char letters[] = "rRhpgtTs%";

char pattern_bad(const char *pattern)
{
    for (const char *p = pattern; (p = strchr(p, '%')) && p[1]; p += 2)
        if (!strchr(letters, p[1]))
            return p[1];
    return 0;
}

bool pattern_has(const char *pattern, const char *which)
{
    for (const char *p = pattern; (p = strchr(p, '%')) && p[1]; p += 2)
        if (strchr(which, p[1]))
            return true;
    return false;
}

static int digits(int n)
{
    int k = 1;
    while (n >= 10) {
        n /= 10;
        k++;
    }
    return k;
}

/* What a letter stands for.  There is one process group and one proxy: their numbers are 0. */
static void expand_letter(char *text, size_t cap, char letter, const struct pattern_values *v)
{
    time_t t = time(NULL);
    struct tm tm;
    switch (letter) {
    case 'r':
        snprintf(text, cap, "%d", v->rank);
        break;
    case 'R':
        snprintf(text, cap, "%0*d", digits(v->size - 1), v->rank);
        break;
    case 'h':
        snprintf(text, cap, "%s", v->host);
        break;
    case 't':
        snprintf(text, cap, "%lld", (long long)t);
        break;
    case 'T':
        if (!localtime_r(&t, &tm) || strftime(text, cap, "%a %b %e %H:%M:%S %Y", &tm) == 0)
            *text = '\0';
        break;
    case 's':
        snprintf(text, cap, "%s", v->which ? "stderr" : "stdout");
        break;
    default:
        snprintf(text, cap, "%c", letter == '%' ? '%' : '0');
    }
}

size_t pattern_expand(char *text, size_t cap, const char *pattern, const struct pattern_values *v)
{
    size_t n = 0;
    for (const char *p = pattern; *p && n + 1 < cap; p++) {
        if (*p == '%' && p[1]) {
            expand_letter(text + n, cap - n, *++p, v);
            n += strlen(text + n);
        } else {
            text[n++] = *p;
        }
    }
    text[n] = '\0';
    return n;
}

/* ---- files ---- */

enum { SPARE_FDS = 64, LEAST_OPEN = 8 };

struct output_file {
    int fd;                          /* -1: closed for now */
    int late;                        /* errno of a close that failed */
    struct output_file *next, *prev; /* of those that are open: a ring, the one used longest ago first */
    char path[];
};

static struct output_file *ring;
static long nopen;

static long room;

void output_file_leave(int nranks)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur > 1 << 24)
        r.rlim_cur = 1 << 24;
    room = (long)r.rlim_cur - 2L * nranks - SPARE_FDS;
    if (room < LEAST_OPEN)
        room = LEAST_OPEN;
}

static void ring_remove(struct output_file *f)
{
    f->prev->next = f->next;
    f->next->prev = f->prev;
    if (ring == f)
        ring = f->next == f ? NULL : f->next;
    nopen--;
}

static void ring_append(struct output_file *f)
{
    if (!ring)
        ring = f->next = f->prev = f;
    f->next = ring;
    f->prev = ring->prev;
    ring->prev->next = f;
    ring->prev = f;
    nopen++;
}

static void shut(struct output_file *f)
{
    if (close(f->fd) != 0 && errno != EINTR)
        f->late = errno;
    f->fd = -1;
    ring_remove(f);
}

static int open_again(struct output_file *f, int flags)
{
    while (nopen >= room)
        shut(ring);
    /* O_NONBLOCK: a pipe without a reader would hold us; it is refused. */
    f->fd = open(f->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0666);
    if (f->fd < 0)
        return -1;
    fcntl(f->fd, F_SETFL, O_APPEND);
    ring_append(f);
    return f->fd;
}

int output_file_fd(struct output_file *f)
{
    if (f->fd < 0)
        return open_again(f, 0);
    ring_remove(f);
    ring_append(f);
    return f->fd;
}

/* Every folder on the way. */
static int make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        int r = mkdir(path, 0777);
        *p = '/';
        if (r != 0 && errno != EEXIST && errno != EISDIR)
            return -1;
    }
    return 0;
}

struct output_file *output_file_create(const char *path)
{
    struct output_file *f = xalloc(1, sizeof *f + strlen(path) + 1);
    struct stat st;
    f->fd = -1;
    strcpy(f->path, path);
    if (make_folders(f->path) == 0 && open_again(f, O_CREAT | O_TRUNC) >= 0 && fstat(f->fd, &st) == 0) {
        if (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode))
            return f;
        errno = ENOTSUP; /* a pipe may take no more, and this process must not wait */
    }
    int why = errno;
    if (f->fd >= 0)
        shut(f);
    free(f);
    errno = why;
    return NULL;
}

const char *output_file_path(const struct output_file *f)
{
    return f->path;
}

int output_file_close(struct output_file *f)
{
    if (f->fd >= 0)
        shut(f);
    int late = f->late;
    free(f);
    return late;
}
