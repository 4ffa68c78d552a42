/* SPDX-License-Identifier: BSD-3-Clause */
/* options_profile.c: -profile and what goes with it.  The mpiexec of a job that ranks spawn learns of it by
 * KEEL_PROFILE. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "options.h"

static void options_profile_add(struct profile *f, const char *name)
{
    f->file = xgrow(f->file, (size_t)f->nfiles + 1, sizeof *f->file);
    f->file[f->nfiles++] = name;
    f->on = true;
}

void do_profile(struct parse *p, char **v)
{
    bool named = v[0] && *v[0] && strcmp(v[0], "-") != 0;
    if (named && strchr(v[0], ','))
        refuse(p, "%s=%s: expected a name without commas", p->name, v[0]);
    else
        options_profile_add(&p->launch->profile, named ? options_absolute(v[0]) : "-");
}

void do_profile_every(struct parse *p, char **v)
{
    char *end;
    double every = strtod(v[0], &end);
    if (end == v[0] || *end || !(every > 0) || !isfinite(every))
        refuse(p, "%s %s: expected a number of seconds", p->name, v[0]);
    else
        p->launch->profile.every = every;
}

/* Of a spawned job: each has a page of its own. */
static char *options_profile_spawned(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    return strcmp(name, "-") == 0 ? xformat("-") : xformat("%.*s-%d%s", stem, name, getpid(), dot ? dot : "");
}

/* KEEL_PROFILE: names with commas. */
static void options_profile_inherited(struct launch *l)
{
    const char *names = getenv("KEEL_PROFILE");
    char *list = names ? xformat("%s", names) : NULL, *save = NULL;
    for (char *n = list ? strtok_r(list, ",", &save) : NULL; n; n = strtok_r(NULL, ",", &save))
        options_profile_add(&l->profile, l->spawned ? options_profile_spawned(n) : options_absolute(n));
    free(list);
}

void options_profile(struct parse *p)
{
    struct profile *f = &p->launch->profile;
    char *list = NULL;
    if (f->every > 0 && f->nfiles == 0)
        options_profile_add(f, "-");
    for (int i = 0; i < f->nfiles; i++) {
        char *more = xformat("%s%s%s", list ? list : "KEEL_PROFILE=", list ? "," : "", f->file[i]);
        free(list);
        list = more;
    }
    if (list)
        env_for_all(p, list);
    else
        options_profile_inherited(p->launch);
}
