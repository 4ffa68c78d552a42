/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c: see scratch.h. */
#define _GNU_SOURCE
#include "scratch.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util.h"

#define VARIABLE "KEEL_SCRATCH"
#define PREFIX "keel-pmix-"

extern char **environ;

static char top[PATH_MAX];  /* mpiexec's */
static char path[PATH_MAX]; /* in it: this process's own, and that of those that it forks */
static bool inner;          /* mpiexec is another */

void scratch_init(void)
{
    uint64_t number = 0;
    const char *outer = getenv(VARIABLE), *tmp = getenv("TMPDIR");
    const char *base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : tmp && *tmp == '/' ? tmp : "/tmp";
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid();
    inner = outer && *outer == '/';
    int n = inner ? snprintf(top, sizeof top, "%s", outer)
                  : snprintf(top, sizeof top, "%s/" PREFIX "%016" PRIx64, base, number);
    if (n >= (int)sizeof top ||
        snprintf(path, sizeof path, "%s/%016" PRIx64, top, number) >= (int)sizeof path)
        *path = 0;
}

char **scratch_environment(void)
{
    static char **list;
    size_t n = 0, kept = 0;
    if (list)
        return list;
    while (environ[n])
        n++;
    list = xalloc(n + 2, sizeof *list);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], VARIABLE "=", sizeof VARIABLE) != 0)
            list[kept++] = environ[i];
    list[kept] = xformat(VARIABLE "=%s", top);
    return list;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    remove(name);
    return 0;
}

static void remove_all(const char *folder)
{
    enum { DESCRIPTORS = 8 };
    nftw(folder, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Nobody is left who holds it, and it is ours. */
static bool is_stale(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_stale(void)
{
    char *base = xformat("%.*s", (int)(strrchr(top, '/') - top), top);
    DIR *dir = opendir(base);
    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0)
            continue;
        char *folder = xformat("%s/%s", base, e->d_name);
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && is_stale(fd))
            remove_all(folder);
        if (fd >= 0)
            close(fd);
        free(folder);
    }
    if (dir)
        closedir(dir);
    free(base);
}

void scratch_hold(void)
{
    static int held = -1;
    int before = held;
    held = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (held >= 0)
        flock(held, LOCK_SH);
    if (before >= 0)
        close(before);
}

/* Again, if somebody who takes it for stale was faster than scratch_hold. */
const char *scratch_make(void)
{
    enum { TRIES = 3 };
    static bool made; /* here, or by the process that has forked this one */
    if (made)
        return path;
    if (!*path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    if (!inner)
        remove_stale();
    for (int i = 0; i < TRIES; i++) {
        if (mkdir(top, 0700) != 0 && errno != EEXIST)
            return NULL;
        scratch_hold();
        if (mkdir(path, 0700) == 0) {
            made = true;
            return path;
        }
    }
    return NULL;
}

/* Whoever put something in meanwhile is about to die. */
void scratch_remove(void)
{
    enum { TRIES = 20 };
    const char *all = inner ? path : top;
    struct stat st;
    for (int i = 0; i < TRIES && *path && lstat(all, &st) == 0; i++)
        remove_all(all);
    if (inner)
        rmdir(top);
}
