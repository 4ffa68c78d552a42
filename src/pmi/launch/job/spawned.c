/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned.c: see spawned.h. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include "ranks.h"
#include "spawned.h"

static struct spawned {
    pid_t pid; /* of its mpiexec, which is this process's child by now */
    bool free, born;
} * jobs; /* [crew.jobs] */

void spawned_add(pid_t pid)
{
    jobs = xgrow(jobs, (size_t)crew.jobs + 1, sizeof *jobs);
    jobs[crew.jobs++] = (struct spawned){ .pid = pid };
    if (crew.on_jobs)
        crew.on_jobs();
}

void spawned_born(pid_t pid)
{
    for (int i = 0; i < crew.jobs; i++)
        jobs[i].born |= jobs[i].pid == pid;
}

void spawned_free(pid_t pid)
{
    for (int i = 0; i < crew.jobs; i++)
        if (jobs[i].pid == pid && !jobs[i].free) {
            jobs[i].free = true;
            crew.free_jobs++;
            tree_release(pid);
        }
}

int spawned_pids(pid_t *pid, int most)
{
    int n = 0;
    for (int i = 0; i < crew.jobs; i++)
        if (!jobs[i].free && n++ < most)
            pid[n - 1] = jobs[i].pid;
    return n;
}

bool spawned_ended(pid_t pid, int status)
{
    int i = 0, code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    while (i < crew.jobs && jobs[i].pid != pid)
        i++;
    if (i == crew.jobs)
        return false;
    bool born = jobs[i].born; /* else the program has been told that it could not be started, and may go on */
    bool lost = WIFSIGNALED(status) && !jobs[i].free;
    int *first = lost ? &crew.ends.lost_code : &crew.ends.code;
    if (!*first && born)
        *first = code;
    crew.ends.lives |= !lost && !jobs[i].free;
    crew.free_jobs -= jobs[i].free;
    jobs[i] = jobs[--crew.jobs];
    if (crew.on_jobs)
        crew.on_jobs();
    return true;
}
