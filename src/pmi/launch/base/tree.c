/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c: the descendants of this process, by /proc, and ending them.
 *
 * This process is a subreaper: whoever loses its parent becomes our child.  So waitpid's ECHILD means that
 * there is no descendant left, and killing all we see, again and again, ends also those that fork meanwhile.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "util.h"
#include "scratch.h"
#include "tree.h"

struct proc {
    pid_t pid, ppid, pgid;
    bool ours;
};

/* "pid (name) state ppid pgid ...": the name may hold anything, also ')'. */
static bool read_proc(int proc_fd, const char *pid, struct proc *p)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "%.20s/stat", pid);
    int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    char *end = strrchr(text, ')');
    p->pid = atoi(pid);
    p->ours = false;
    return end && sscanf(end + 1, " %*c %d %d", &p->ppid, &p->pgid) == 2;
}

/* All processes; NULL if /proc cannot be read or memory is short. */
static struct proc *list_all(size_t *n)
{
    DIR *dir = opendir("/proc");
    if (!dir)
        return NULL;
    struct proc *all = NULL;
    size_t cap = 0;
    *n = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9')
            continue;
        if (*n == cap) {
            struct proc *more = realloc(all, (cap = cap ? 2 * cap : 256) * sizeof *all);
            if (!more)
                break;
            all = more;
        }
        if (read_proc(dirfd(dir), e->d_name, &all[*n]))
            ++*n;
    }
    closedir(dir);
    return all;
}

static int by_pid(const void *a, const void *b)
{
    pid_t x = ((const struct proc *)a)->pid, y = ((const struct proc *)b)->pid;
    return (x > y) - (x < y);
}

static pid_t *released;
static int nreleased;

void tree_release(pid_t pid)
{
    if (pid == 0) {
        nreleased = 0;
        return;
    }
    released = xgrow(released, (size_t)nreleased + 1, sizeof *released);
    released[nreleased++] = pid;
}

static bool is_released(pid_t pid)
{
    for (int i = 0; i < nreleased; i++)
        if (released[i] == pid)
            return true;
    return false;
}

/* Mark all whose ancestors lead to us. Parents usually have the lower pid: mostly two passes. */
static void mark(struct proc *all, size_t n)
{
    pid_t me = getpid();
    qsort(all, n, sizeof *all, by_pid);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            struct proc key = { .pid = all[i].ppid };
            struct proc *up = all[i].ours ? NULL : bsearch(&key, all, n, sizeof *all, by_pid);
            if (!all[i].ours && !is_released(all[i].pid) && (all[i].ppid == me || (up && up->ours)))
                more = all[i].ours = true;
        }
    }
}

static pid_t *spared;
static int nspared;

void tree_spare(pid_t group)
{
    spared = xgrow(spared, (size_t)nspared + 1, sizeof *spared);
    spared[nspared++] = group;
}

static bool is_spared(pid_t group)
{
    for (int i = 0; i < nspared; i++)
        if (spared[i] == group)
            return true;
    return false;
}

int tree_signal(int sig, pid_t but)
{
    size_t n;
    struct proc *all = list_all(&n);
    int sent = 0;
    if (!all)
        return -1;
    mark(all, n);
    for (size_t i = 0; i < n; i++)
        if (all[i].ours && !(but && all[i].pgid == but) && !is_spared(all[i].pgid) &&
            kill(all[i].pid, sig) == 0)
            sent++;
    free(all);
    return sent;
}

bool tree_end(void)
{
    struct timespec pause = { .tv_nsec = 500000 };
    nspared = nreleased = 0;
    for (double until = now() + 10; now() < until;) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD) {
            scratch_remove();
            return true;
        }
        tree_signal(SIGKILL, 0);
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 20000000)
            pause.tv_nsec *= 2;
    }
    scratch_remove();
    return false;
}
