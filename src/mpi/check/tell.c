/* SPDX-License-Identifier: BSD-3-Clause */
/* tell.c: see tell.h.
 *
 * How often a fault was met is told at its 2nd, 4th, 8th, ... time, and at the end: so a rank that crashes has
 * told of at least half. */
#include "config.h"
#include "tell.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "env.h"
#include "mpid.h"
#include "util/knob.h"
#include "util/lock.h"

enum { FAULTS = 1024 /* that are told apart */ };
static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);

static struct fault {
    enum ku_fault_kind kind;
    const char *call;
    uint64_t here, there;
    int64_t times, told;
    uint32_t number;
} * faults;
static int nfaults;
static uint32_t numbers; /* of this process, also of the time before the last MPI_Finalize */
static struct ku_fault_choice choice;

bool MPIR_Check_wants(enum ku_fault_kind kind)
{
    return choice.kind[kind];
}

bool MPIR_Check_strict(void)
{
    return choice.strict;
}

static void tell_times(struct fault *f)
{
    MPID_Fault_times(f->number, f->times);
    f->told = f->times;
}

/* The fault, counted; NULL: it was told before, or there are too many. */
static struct fault *tell_meet(enum ku_fault_kind kind, const char *call, uint64_t here, uint64_t there)
{
    struct fault *f = faults;
    while (f < faults + nfaults &&
           (f->kind != kind || f->here != here || f->there != there || strcmp(f->call, call) != 0))
        f++;
    if (f < faults + nfaults) {
        if (++f->times == 2 * f->told)
            tell_times(f);
        return NULL;
    }
    if (nfaults == FAULTS || (!faults && !(faults = calloc(FAULTS, sizeof *faults))))
        return NULL;
    faults[nfaults] = (struct fault){ kind, strdup(call), here, there, 1, 1, ++numbers };
    return faults[nfaults].call ? &faults[nfaults++] : NULL;
}

static void tell_fault(const struct ku_fault *f)
{
    struct ku_fault told = *f;
    if (!choice.kind[f->kind])
        return;
    ku_lock(&lock);
    const struct fault *met = tell_meet(f->kind, f->call, f->here, f->there);
    if (met) {
        told.number = met->number;
        MPID_Message_fault(&told);
    }
    ku_unlock(&lock);
}

void MPIR_Check_tell(enum ku_fault_kind kind, const char *call, const char *argument, uint64_t here,
                     uint64_t there, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;
    if (!choice.kind[kind])
        return;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    tell_fault(&(struct ku_fault){
        .kind = kind, .call = call, .argument = argument, .here = here, .there = there, .text = text });
    free(text);
}

void MPIR_Check_note(enum ku_fault_kind kind, const char *call, const char *argument, uint64_t here,
                     const char *text)
{
    tell_fault(&(struct ku_fault){
        .kind = kind, .call = call, .argument = argument, .here = here, .said = true, .text = text });
}

bool MPIR_Check_tell_begin(void)
{
    const char *list = ku_knob_str("CHECK");
    size_t len = 0;
    if (!list || strcmp(list, "0") == 0)
        return false;
    const char *bad = ku_fault_choose(list, &choice, &len);
    if (bad && MPID_MyWorldRank == 0) {
        char text[160];
        snprintf(text, sizeof text,
                 "KEEL_CHECK has \"%.*s\", which is passed over; expected error, warning, note, strict, or "
                 "names of kinds of faults",
                 (int)len, bad);
        MPID_Message(text);
    }
    return true;
}

void MPIR_Check_tell_end(void)
{
    ku_lock(&lock);
    for (struct fault *f = faults; f < faults + nfaults; f++) {
        if (f->times != f->told)
            tell_times(f);
        free((char *)f->call);
    }
    free(faults);
    faults = NULL;
    nfaults = 0;
    choice = (struct ku_fault_choice){ 0 };
    ku_unlock(&lock);
}
