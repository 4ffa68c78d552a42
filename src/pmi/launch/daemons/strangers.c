/* SPDX-License-Identifier: BSD-3-Clause */
/* strangers.c: see strangers.h. */
#define _GNU_SOURCE
#include "strangers.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/ranks.h"
#include "pmi/launch/base/abi_detect.h"

static const double FIRST_SECONDS = 0.01, MOST_SECONDS = 60;
/* A look is short, however large the job is: ranks of one program tell the same. */
enum { RANKS_LOOKED_AT = 8, PROCESSES_LOOKED_AT = 32 };

static double due, pause_seconds;

void strangers_begin(void)
{
    pause_seconds = FIRST_SECONDS;
    due = crew.launch->size > 1 ? now() + pause_seconds : 0;
}

double strangers_due(void)
{
    return due;
}

static FILE *open_file(pid_t pid, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

/* The MPI library of others that the process has mapped; NULL: none, or ours is there, too.  To be freed. */
static char *anothers_library(pid_t pid)
{
    char line[PATH_MAX + 256], root[32], *found = NULL;
    bool ours = false;
    FILE *f = open_file(pid, "maps");
    snprintf(root, sizeof root, "/proc/%d/root", (int)pid);
    while (f && !ours && fgets(line, sizeof line, f)) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        enum needs_whose whose = path ? needs_whose(root, path) : NEEDS_NO_MPI;
        ours = whose == NEEDS_OURS;
        if (whose == NEEDS_ANOTHERS && !found)
            found = xformat("%s", path);
    }
    if (f)
        fclose(f);
    if (ours) {
        free(found);
        found = NULL;
    }
    return found;
}

static bool is_own(const char *entry)
{
    for (char **e = environ; *e; e++)
        if (strcmp(*e, entry) == 0)
            return true;
    return false;
}

/* Has another launcher started it, or another mpiexec of ours?  That one speaks with it.  What a launcher has told
 * this mpiexec is in the ranks' environment, too. */
static bool has_launcher(pid_t pid)
{
    static const char job_is[] = "KEEL_JOB=";
    static const char *const theirs[] = { "PMI_FD=", "PMI_PORT=", "PMIX_NAMESPACE=" };
    char *entry = NULL, job[32];
    size_t cap = 0;
    bool has = false;
    FILE *f = open_file(pid, "environ");
    snprintf(job, sizeof job, ":%llx:", (unsigned long long)crew.job_id);
    while (f && !has && getdelim(&entry, &cap, '\0', f) > 0) {
        for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
            has = has || (strncmp(entry, theirs[i], strlen(theirs[i])) == 0 && !is_own(entry));
        has = has || (strncmp(entry, job_is, sizeof job_is - 1) == 0 && !strstr(entry, job));
    }
    if (f)
        fclose(f);
    free(entry);
    return has;
}

/* The children that its first thread has started, behind those that are listed: a script's program. */
static int add_children(pid_t pid, pid_t *list, int n)
{
    char path[48];
    int child;
    snprintf(path, sizeof path, "task/%d/children", (int)pid);
    FILE *f = open_file(pid, path);
    while (f && n < PROCESSES_LOOKED_AT && fscanf(f, "%d", &child) == 1)
        list[n++] = child;
    if (f)
        fclose(f);
    return n;
}

static const char *name_of(pid_t pid)
{
    static char name[64];
    FILE *f = open_file(pid, "comm");
    if (!f || !fgets(name, sizeof name, f))
        snprintf(name, sizeof name, "process %d", (int)pid);
    if (f)
        fclose(f);
    name[strcspn(name, "\n")] = '\0';
    return name;
}

static void tell(int rank, pid_t pid, const char *library)
{
    char *text = xformat(
        "%s has loaded another MPI's library, %s, and not Keel's: each process may be rank 0 of 1; with "
        "--abi=always it gets Keel's library whatever changes its LD_LIBRARY_PATH, with -pmi1 (MPICH's "
        "kind) or -pmix (Open MPI) mpiexec serves that one",
        name_of(pid), library);
    struct pmi_record r = {
        .job_id = crew.job_id, .kind = PMI_MESSAGE, .rank = (uint32_t)rank, .len = (uint32_t)strlen(text)
    };
    crew.on_record(&r, text);
    free(text);
}

/* true: there is nothing more to look for. */
static bool look_at(int rank)
{
    pid_t list[PROCESSES_LOOKED_AT] = { crew.ranks[rank].pid };
    for (int i = 0, n = 1; i < n; i++) {
        char *library = anothers_library(list[i]);
        bool alone = library && !has_launcher(list[i]);
        if (alone)
            tell(rank, list[i], library);
        free(library);
        if (alone)
            return true;
        n = add_children(list[i], list, n);
    }
    return false;
}

static bool may_be_one(int rank)
{
    const struct crew_rank *r = &crew.ranks[rank];
    return r->pid != 0 && r->watched && crew_is_here(rank) &&
           atomic_load(
               &ku_segment_rank(&crew.segments[crew.launch->node_of[rank]], (uint32_t)r->local)->state) ==
               KU_RANK_STARTED;
}

void strangers_look(void)
{
    int left = 0;
    if (due == 0 || now() < due)
        return;
    for (int rank = 0; rank < crew.launch->size; rank++)
        if (may_be_one(rank) && left++ < RANKS_LOOKED_AT)
            crew.ranks[rank].watched = !look_at(rank);
    pause_seconds = 2 * pause_seconds < MOST_SECONDS ? 2 * pause_seconds : MOST_SECONDS;
    due = left > 0 ? now() + pause_seconds : 0;
}
