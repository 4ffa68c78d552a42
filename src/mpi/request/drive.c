/* drive.c: operations that go on by themselves (drive.h), advanced by the ADI after each look at the devices. */
#include "drive.h"
#include <stdbool.h>
#include <stddef.h>
#include "mpid.h"

static struct MPIR_Driven *first, **last = &first;
static bool inside;

/* How many have moved: who waits for one of them must look again. */
static int advance_all(void)
{
    int moved = 0;
    if (inside) /* what is advanced may look at the devices itself */
        return 0;
    inside = true;
    for (struct MPIR_Driven **link = &first; *link;) {
        struct MPIR_Driven *d = *link, *next = d->next;
        enum MPIR_DRIVE what = d->advance(d);
        moved += what != MPIR_DRIVE_WAITS;
        if (what != MPIR_DRIVE_DONE) {
            link = &d->next;
            continue;
        }
        *link = next;
        if (!next)
            last = link;
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

void MPIR_Drive_stop(void)
{
    MPID_Progress_also = NULL;
    first = NULL;
    last = &first;
}
