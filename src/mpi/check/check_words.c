/* SPDX-License-Identifier: BSD-3-Clause */
/* check_words.c: see check_words.h. */
#include "config.h"
#include "check_words.h"
#include <stdlib.h>
#include "signatures.h"
#include "type.h"

const char *MPIR_Words_basic(uint8_t basic)
{
    const MPIR_Datatype *t = basic ? MPIR_Datatype_predefined(basic | MPID_SIGNATURE_BASE) : NULL;
    const char *name = t ? MPIR_Datatype_name(t) : NULL;
    return name ? name : "?";
}

void MPIR_Words_signature(FILE *out, const struct MPID_Signature *s)
{
    int i = 0, step = MPID_Signature_numbers(s->first[0]);
    if (s->n == 0 && !(s->flags & MPID_SIGNATURE_UNKNOWN)) {
        fputs("nothing", out);
        return;
    }
    if (s->flags & MPID_SIGNATURE_UNIFORM && step > 0) {
        fprintf(out, "%lld %s", (long long)(s->n / step), MPIR_Words_basic(s->first[0]));
        return;
    }
    for (; i < MPID_SIGNATURE_FIRST && s->first[i]; i += step > 0 ? step : 1) {
        fprintf(out, "%s%s", i == 0 ? "" : ", ", MPIR_Words_basic(s->first[i]));
        step = MPID_Signature_numbers(s->first[i]);
    }
    if (i < s->n)
        fputs(", ...", out);
}

void MPIR_Words_place(FILE *out, uint32_t module, uint32_t offset, uint64_t else_at)
{
    uint64_t here = MPIR_Check_place_at(module, offset);
    if (here)
        fprintf(out, MPID_PLACE, (unsigned long long)here);
    else
        fprintf(out, "0x%llx of its program", (unsigned long long)else_at);
}

bool MPIR_Words_begin(struct MPIR_Words *w)
{
    w->text = NULL;
    w->out = open_memstream(&w->text, &w->bytes);
    return w->out != NULL;
}

void MPIR_Words_tell(struct MPIR_Words *w, enum ku_fault_kind kind, const char *call, const char *argument,
                     uint64_t here, uint64_t there)
{
    if (fclose(w->out) == 0)
        MPIR_Check_tell(kind, call, argument, here, there, "%s", w->text);
    free(w->text);
}
