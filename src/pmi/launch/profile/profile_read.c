/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_read.c: see profile_report.h: the tables of ranks here, with their places, as bytes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pmi/launch/base/scratch.h"
#include "pmi/launch/frames/frame_pack.h"
#include "pmi/launch/hang/hang.h"
#include "pmi/launch/job/launch.h"
#include "pmi/launch/job/ranks.h"
#include "profile_report.h"
#include "util/clock.h"

static char *folder, *variable;

bool prof_begin(const struct launch *l)
{
    if (!l->profile.on)
        return false;
    const char *scratch = scratch_make();
    folder = scratch ? xformat("%s/profile", scratch) : NULL;
    if (!folder || mkdir(folder, 0700) != 0) {
        say("warning: there is no profile, as a folder for it cannot be made: %s", strerror(errno));
        free(folder);
        folder = NULL;
        return false;
    }
    variable = xformat("KEEL_PROFILE_FOLDER=%s", folder);
    return true;
}

const char *prof_environment(void)
{
    return variable;
}

static void put_sum(struct pack *p, const struct ku_profiled_sum *s)
{
    put_int(p, (int64_t)s->calls);
    put_int(p, (int64_t)s->ns);
    put_int(p, (int64_t)s->waited);
    put_int(p, (int64_t)s->late);
    put_int(p, (int64_t)s->bytes);
}

static void put_classes(struct pack *p, const struct ku_profiled *t)
{
    for (int i = 0; i < KU_PROFILED_CLASSES; i++) {
        put_int(p, (int64_t)t->sent[i]);
        put_sum(p, &t->by_class[i]);
    }
}

static void put_calls(struct pack *p, const struct ku_profiled *t)
{
    for (int i = 0; i < KU_PROFILED_CALLS; i++)
        if (t->call[i].sum.calls > 0) {
            put_text(p, t->call[i].name);
            put_sum(p, &t->call[i].sum);
        }
    put_text(p, NULL);
    for (int i = 0; i < KU_PROFILED_COMMS && t->comm[i].size > 0; i++) {
        const struct ku_profiled_comm *c = &t->comm[i];
        put_text(p, c->name);
        put_int(p, c->context);
        put_int(p, c->use);
        put_int(p, c->first);
        put_int(p, c->size);
        put_sum(p, &c->sum);
    }
    put_text(p, NULL);
}

static char *place_of(const struct ku_profiled *t, const struct ku_profiled_site *s)
{
    char path[sizeof t->module[0] + 1];
    if (s->module == 0 || s->module > KU_PROFILED_MODULES)
        return s->address > 1 ? xformat("0x%llx", (unsigned long long)s->address)
                              : xformat("a place that is not known");
    snprintf(path, sizeof path, "%.*s", (int)sizeof t->module[0], t->module[s->module - 1]);
    return hang_where_in(path, s->offset, s->linked);
}

static void put_sites(struct pack *p, const struct ku_profiled *t)
{
    for (int i = 0; i < KU_PROFILED_SITES; i++) {
        const struct ku_profiled_site *s = &t->site[i];
        if (!s->address || s->call >= KU_PROFILED_CALLS)
            continue;
        char *place = place_of(t, s);
        put_text(p, t->call[s->call].name);
        put_text(p, place);
        put_int(p, i);
        put_int(p, (int64_t)s->most);
        put_sum(p, &s->sum);
        free(place);
    }
    put_text(p, NULL);
}

static int64_t site_number(uint32_t site)
{
    return site <= KU_PROFILED_SITES ? (int64_t)site - 1 : -1;
}

/* Each row begins with its peer; -1: that was all. */
static void put_peers(struct pack *p, const struct ku_profiled *t)
{
    for (int i = 0; i < KU_PROFILED_WAITS; i++) {
        const struct ku_profiled_wait *w = &t->wait[i];
        if (!w->site || w->peer < 0)
            continue;
        put_int(p, w->peer);
        put_int(p, site_number(w->site));
        put_int(p, w->why);
        put_int(p, w->stream);
        put_int(p, (int64_t)w->n);
        put_int(p, (int64_t)w->ns);
        put_int(p, (int64_t)w->most);
    }
    put_int(p, -1);
    for (int i = 0; i < KU_PROFILED_PAIRS; i++) {
        const struct ku_profiled_pair *q = &t->pair[i];
        if (!q->site || q->peer < 0)
            continue;
        put_int(p, q->peer);
        put_int(p, site_number(q->site));
        put_int(p, q->stream);
        put_text(p,
                 q->device > 0 && q->device <= KU_PROFILED_DEVICES ? t->device[q->device - 1] : "not known");
        put_int(p, (int64_t)q->n);
        put_int(p, (int64_t)q->bytes);
    }
    put_int(p, -1);
}

/* Of a process that has not said so at its end. */
static uint64_t prof_memory(int pid)
{
    char path[64], line[256];
    unsigned long long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %llu", &kilobytes) == 1)
            break;
    if (f)
        fclose(f);
    return kilobytes << 10;
}

/* Calls are counted at their places, if these have found room.  All of them together are left in `rest`. */
static void prof_complete(struct ku_profiled *t)
{
    for (int i = 0; i < KU_PROFILED_SITES; i++)
        if (t->site[i].address && t->site[i].call < KU_PROFILED_CALLS)
            prof_add(&t->call[t->site[i].call].sum, &t->site[i].sum);
    for (int i = 0; i < KU_PROFILED_CALLS; i++)
        prof_add(&t->rest, &t->call[i].sum);
}

/* NULL: the rank has none, or not yet. */
static struct ku_profiled *prof_table(int rank)
{
    char *path = xformat("%s/" KU_PROFILED_RANK, folder, rank);
    struct ku_profiled *t = xalloc(1, sizeof *t);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? pread(fd, t, sizeof *t, 0) : -1;
    if (fd >= 0)
        close(fd);
    free(path);
    if (n == sizeof *t && t->version == KU_PROFILED_VERSION && t->size == sizeof *t) {
        prof_complete(t);
        return t;
    }
    free(t);
    return NULL;
}

bool prof_read(int rank, struct pack *p)
{
    struct ku_profiled *t = folder ? prof_table(rank) : NULL;
    if (!t)
        return false;
    uint64_t now = ku_clock_ns(), until = t->ended ? t->ended : crew.ranks[rank].pid > 0 ? now : t->last;
    put_int(p, t->ended != 0);
    put_int(p, until > t->began ? (int64_t)(until - t->began) : 0);
    put_int(p, t->entered && now > t->entered ? (int64_t)(now - t->entered) : 0);
    put_int(p, site_number(t->inside));
    uint64_t memory = t->ended ? 0 : prof_memory((int)t->pid);
    put_int(p, (int64_t)(memory > t->peak ? memory : t->peak));
    put_int(p, t->lost);
    put_sum(p, &t->rest);
    put_classes(p, t);
    put_calls(p, t);
    put_sites(p, t);
    put_peers(p, t);
    free(t);
    return true;
}
