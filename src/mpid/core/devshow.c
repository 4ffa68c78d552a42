/* SPDX-License-Identifier: BSD-3-Clause */
/* Which devices a process uses, told once by rank 0 if KEEL_SHOW_DEVICES asks for it. */
#include "core.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/knob.h"

enum { MOST = 16 /* that are passed over and told of */ };

static char *passed[MOST];
static int npassed;

static bool shows(void)
{
    return MPID_core.job.rank == 0 && ku_knob_int("SHOW_DEVICES") != 0;
}

void MPID_Devset_passed(const char *name, const char *why, ...)
{
    va_list args;
    if (!shows() || npassed == MOST)
        return;
    char text[340];
    int n = snprintf(text, sizeof text, "%.30s: ", name);
    va_start(args, why);
    vsnprintf(text + n, sizeof text - (size_t)n, why, args);
    va_end(args);
    passed[npassed] = strdup(text);
    npassed += passed[npassed] != NULL;
}

static void show_part(const char *who, int32_t n, const struct core_dev *d)
{
    struct MPID_Device about;
    if (n <= 0 || d == NULL)
        return;
    MPID_Devset_about(d, &about);
    fprintf(stderr, "keel:   %d %s: %s (%.1f us, %u MB/s%s%s%s%s)\n", (int)n, who, d->ops.name,
            about.latency_ns / 1000.0, about.bandwidth_mbs, about.has_put ? ", put and get" : "",
            about.has_atomic ? ", updates" : "", about.through[0] ? "; " : "", about.through);
}

void MPID_Devset_show_other(int32_t grank, const struct core_dev *d, const struct core_dev *usual)
{
    if (shows())
        fprintf(stderr, "keel:   rank %d by %s: it has no %s, or at a higher cost\n", (int)grank, d->ops.name,
                usual->ops.name);
}

/* One that is open, and cheaper ones are for all that it reaches. */
static void show_idle(const struct core_dev *d)
{
    const struct core_dev *here = MPID_core.world.local_size > 1 ? MPID_Dev_best(true) : NULL;
    const struct core_dev *far =
        MPID_core.world.size > MPID_core.world.local_size ? MPID_Dev_best(false) : NULL;
    if (d != here && d != far && (d->caps.reach & ~DEV_REACH_SELF) != 0)
        fprintf(stderr, "keel:   %s is open, but costs more (%.1f us, %u MB/s)\n", d->ops.name,
                d->caps.latency_ns / 1000.0, d->caps.bandwidth_mbs);
}

void MPID_Devset_show(void)
{
    int32_t here = MPID_core.world.local_size - 1, far = MPID_core.world.size - MPID_core.world.local_size;
    if (!shows())
        return;
    fprintf(stderr, "keel: rank 0 reaches\n");
    if (here + far == 0)
        fprintf(stderr, "keel:   itself alone\n");
    show_part("of this node", here, MPID_Dev_best(true));
    show_part("elsewhere", far, MPID_Dev_best(false));
    for (int i = 0; i < MPID_core.ndevs; i++)
        show_idle(&MPID_core.devs[i]);
    for (int i = 0; i < npassed; i++) {
        fprintf(stderr, "keel:   not by %s\n", passed[i]);
        free(passed[i]);
    }
    npassed = 0;
}
