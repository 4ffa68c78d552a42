/* SPDX-License-Identifier: BSD-3-Clause */
/* drive.c: operations that go on by themselves (drive.h), advanced by the ADI after each look at the devices.
 *
 * Those that can say what they wait for sleep until it comes, so that a look at the devices costs the same however
 * many are in flight; only those that cannot are asked each time. */
#include "drive.h"
#include <stdbool.h>
#include <stddef.h>

static struct MPIR_Driven *first, **last = &first;
static bool inside;

/* How many have moved: who waits for one of them must look again.  What is added meanwhile, at the end, has its
 * turn, too. */
static int advance_all(void)
{
    int moved = 0;
    if (inside) /* what is advanced may look at the devices itself */
        return 0;
    inside = true;
    for (struct MPIR_Driven **link = &first; *link;) {
        struct MPIR_Driven *d = *link;
        enum MPIR_DRIVE what;
        if (MPID_Helping && !d->helped) {
            link = &d->next;
            continue;
        }
        *link = d->next; /* out, since it may be put in again while it runs, or be gone after that */
        if (!*link)
            last = link;
        what = d->advance(d);
        moved += what != MPIR_DRIVE_WAITS;
        if (what == MPIR_DRIVE_WAITS || what == MPIR_DRIVE_MOVED) {
            d->next = *link;
            *link = d;
            if (last == link)
                last = &d->next;
            link = &d->next;
        }
    }
    if (!first)
        MPID_Progress_also = NULL;
    inside = false;
    return moved;
}

void MPIR_Drive(struct MPIR_Driven *d)
{
    d->next = NULL;
    *last = d;
    last = &d->next;
    MPID_Progress_also = advance_all;
}

bool MPIR_Drive_pause(const struct MPIR_Driven *d)
{
    if (first != d || d->next)
        return false;
    MPID_Progress_also = NULL;
    return true;
}

bool MPIR_Drive_take(const struct MPIR_Driven *d)
{
    if (inside || !MPIR_Drive_pause(d))
        return false;
    first = NULL;
    last = &first;
    return true;
}

void MPIR_Drive_resume(void)
{
    MPID_Progress_also = first ? advance_all : NULL;
}

bool MPIR_Drive_watch(struct MPIR_Driven *d, struct MPIR_Watched *w)
{
    w->driven = d;
    return MPID_Request_watch(&w->request);
}

void MPIR_Drive_done(struct MPIR_HANDLE *request)
{
    MPIR_Drive(((struct MPIR_Watched *)request)->driven);
}

void MPIR_Drive_stop(void)
{
    MPID_Progress_also = NULL;
    first = NULL;
    last = &first;
}
