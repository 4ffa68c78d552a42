/* SPDX-License-Identifier: BSD-3-Clause */
/* sign.c: making type signatures (see sign.h). */
#include "mpid/datatype/sign.h"

#include <stdlib.h>
#include "mpid/datatype/external.h"

/* A signature of few parts is spliced into its parent: structs of structs become one. */
enum { SPLICE_MAX = 8 };

struct MPID_SIGN *MPID_Sign_ref(const struct MPID_SIGN *s)
{
    struct MPID_SIGN *m = (struct MPID_SIGN *)s;
    if (m)
        atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void MPID_Sign_unref(const struct MPID_SIGN *s)
{
    struct MPID_SIGN *m = (struct MPID_SIGN *)s;
    if (m == NULL || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int64_t i = 0; i < m->n; i++)
        MPID_Sign_unref(m->part[i].sub);
    free(m);
}

static void sign_append(struct MPID_SIGNS *s, struct MPID_SIGN_PART part)
{
    struct MPID_SIGN_PART *last = s->n ? &s->v[s->n - 1] : NULL;
    if (last && last->basic == part.basic && last->sub == part.sub) {
        last->times += part.times;
        return;
    }
    if (s->n == s->cap) {
        int64_t cap = s->cap ? 2 * s->cap : 8;
        struct MPID_SIGN_PART *v = realloc(s->v, (size_t)cap * sizeof *v);
        if (v == NULL) {
            s->no_memory = true;
            return;
        }
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = part;
}

void MPID_Signs_add(struct MPID_SIGNS *s, const struct MPIR_DATATYPE *t, int64_t times)
{
    const struct MPID_SIGN *sub = t->sign;
    if (times == 0 || t->size == 0 || s->no_memory)
        return;
    if (t->basic) {
        int64_t one = MPID_External_native(t->basic);
        s->unknown |= one == 0;
        sign_append(s, (struct MPID_SIGN_PART){ one ? times * (t->size / one) : times, t->basic, NULL });
    } else if (sub == NULL) {
        s->unknown = true;
    } else if (sub->n == 1) {
        sign_append(
            s, (struct MPID_SIGN_PART){ times * sub->part[0].times, sub->part[0].basic, sub->part[0].sub });
    } else if (times == 1 && sub->n <= SPLICE_MAX) {
        for (int64_t i = 0; i < sub->n; i++)
            sign_append(s, sub->part[i]);
    } else {
        sign_append(s, (struct MPID_SIGN_PART){ times, 0, sub });
    }
}

/* Add a part's bytes to the whole's. */
static void sign_measure(struct MPID_SIGN *sign, const struct MPID_SIGN_PART *p)
{
    int64_t bytes = p->sub ? p->sub->bytes : MPID_External_native(p->basic);
    int64_t wire = p->sub ? p->sub->wire : MPID_External_wire(p->basic);
    sign->bytes += p->times * bytes;
    sign->sum = MPID_Sum_add(sign->sum, p);
    sign->wire = wire < 0 || sign->wire < 0 ? -1 : sign->wire + p->times * wire;
    if (p->sub && sign->depth <= p->sub->depth)
        sign->depth = p->sub->depth + 1;
}

struct MPID_SIGN *MPID_Signs_made(struct MPID_SIGNS *s)
{
    struct MPID_SIGN *sign = NULL;
    if (!s->unknown && !s->no_memory) {
        sign = calloc(1, sizeof *sign + (size_t)s->n * sizeof *sign->part);
        s->no_memory = sign == NULL;
    }
    if (sign) {
        sign->refs = 1;
        sign->n = s->n;
        for (int64_t i = 0; i < s->n; i++) {
            sign->part[i] = s->v[i];
            MPID_Sign_ref(s->v[i].sub);
            sign_measure(sign, &s->v[i]);
        }
    }
    free(s->v);
    s->v = NULL;
    if (sign && sign->depth > MPID_SIGN_DEPTH) {
        MPID_Sign_unref(sign);
        sign = NULL;
    }
    return sign;
}
