/* scratch.c: see scratch.h. */
#define _GNU_SOURCE
#include "scratch.h"
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "launch.h"

#define VARIABLE "KEEL_SCRATCH"

extern char **environ;

static char path[PATH_MAX];
static const char *outer; /* the folder of mpiexec's, where this one is in that; NULL: it is not */

void scratch_init(void)
{
    uint64_t number = 0;
    const char *tmp = getenv("TMPDIR"), *base = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm"
                                                : tmp && *tmp == '/'                 ? tmp
                                                                                     : "/tmp";
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid();
    outer = getenv(VARIABLE);
    if (outer && *outer != '/')
        outer = NULL;
    if (snprintf(path, sizeof path, "%s/%s%016llx", outer ? outer : base, outer ? "" : "keel-pmix-",
                 (unsigned long long)number) >= (int)sizeof path)
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
    list[kept] = xformat(VARIABLE "=%s", path);
    return list;
}

const char *scratch_make(void)
{
    if (!*path)
        errno = ENAMETOOLONG;
    if (outer)
        mkdir(outer, 0700);
    return *path && mkdir(path, 0700) == 0 ? path : NULL;
}

static int remove_one(const char *name, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    remove(name);
    return 0;
}

/* Whoever put something in meanwhile is about to die. */
void scratch_remove(void)
{
    enum { DESCRIPTORS = 8, TRIES = 20 };
    struct stat st;
    for (int i = 0; i < TRIES && *path && lstat(path, &st) == 0; i++)
        nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (outer)
        rmdir(outer);
}
