/* SPDX-License-Identifier: BSD-3-Clause */
/* util.c: memory, messages, time. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "tree.h"
#include "util.h"

/* One write a message: lines of ours are not torn apart. */
static void vsay(const char *fmt, va_list ap)
{
    char text[2048];
    int n = snprintf(text, sizeof text, "mpiexec: ");
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, fmt, ap);
    if (n > (int)sizeof text - 2)
        n = (int)sizeof text - 2;
    text[n++] = '\n';
    for (ssize_t done = 0, k; done < n && (k = write(2, text + done, (size_t)(n - done))) > 0;)
        done += k;
}

void say(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsay(fmt, ap);
    va_end(ap);
}

_Noreturn void die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsay(fmt, ap);
    va_end(ap);
    if (!tree_end())
        say("some processes of the job could not be ended");
    _exit(EXIT_MPIEXEC);
}

void *xgrow(void *p, size_t n, size_t size)
{
    void *q = size && n > SIZE_MAX / size ? NULL : realloc(p, n && size ? n * size : 1);
    if (!q)
        die("out of memory (%zu bytes)", n * size);
    return q;
}

void *xalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        die("out of memory (%zu bytes)", n * size);
    return p;
}

char *xformat(const char *fmt, ...)
{
    va_list ap;
    char *s = NULL;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        die("out of memory");
    return s;
}

const char *plural(long n)
{
    return n == 1 ? "" : "s";
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int milliseconds(double seconds)
{
    return seconds < 0 ? 0 : seconds > 1e6 ? 1000000000 : (int)(seconds * 1000);
}

int fd_from(int fd, int from)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, from);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Scripts use the low numbers for themselves. */
int high_fd(int fd)
{
    enum { HIGH_FD = 200 };
    return fd_from(fd, HIGH_FD);
}
