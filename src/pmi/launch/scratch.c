/* scratch.c: see scratch.h. */
#define _GNU_SOURCE
#include "scratch.h"
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
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
                  : snprintf(top, sizeof top, "%s/keel-pmix-%016" PRIx64, base, number);
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

const char *scratch_make(void)
{
    if (!*path) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return (mkdir(top, 0700) == 0 || errno == EEXIST) && mkdir(path, 0700) == 0 ? path : NULL;
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
    const char *all = inner ? path : top;
    struct stat st;
    for (int i = 0; i < TRIES && *path && lstat(all, &st) == 0; i++)
        nftw(all, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (inner)
        rmdir(top);
}
