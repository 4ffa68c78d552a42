/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c: see tune.h. */
#include "tune.h"
#include <stdlib.h>
#include <string.h>

struct range {
    int64_t least, most;
};

static struct rule {
    int kind;
    uint8_t row;
    struct range bytes, ranks;
} * rules;
static size_t nrules;

static bool same_word(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && !memcmp(word, name, len);
}

int MPIR_Coll_kind_of(const char *word, size_t len)
{
    for (int k = 0; k < COLL_TABLES; k++)
        if (same_word(word, len, MPIR_Coll_tables[k].name))
            return k;
    return -1;
}

uint8_t MPIR_Coll_row_of(int kind, const char *word, size_t len)
{
    for (uint8_t i = 0; kind >= 0 && MPIR_Coll_tables[kind].algs[i].name; i++)
        if (same_word(word, len, MPIR_Coll_tables[kind].algs[i].name))
            return (uint8_t)(i + 1);
    return kind >= 0 && same_word(word, len, "flat") ? COLL_FLAT : 0;
}

/* Digits, and a k, m or g for 1024 and its powers.  Moves *p on; false: there is no number. */
static bool tune_number(const char **p, const char *end, int64_t *n)
{
    const char *first = *p;
    for (*n = 0; *p < end && **p >= '0' && **p <= '9'; (*p)++)
        if (*n < (int64_t)1 << 50)
            *n = 10 * *n + (**p - '0');
    if (*p == first)
        return false;
    const char *unit = *p < end ? memchr("kmg", **p | 0x20, 3) : NULL;
    if (unit) {
        *n = *n >> (50 - 10 * (unit - "kmg")) ? INT64_MAX : *n << 10 * (unit - "kmg" + 1);
        (*p)++;
    }
    return true;
}

/* *, N, N-, -M or N-M from `p` to `end`. */
static bool range_of(const char *p, const char *end, struct range *r)
{
    *r = (struct range){ 0, INT64_MAX };
    if (p == end || (*p == '*' && p + 1 == end))
        return true;
    bool least = tune_number(&p, end, &r->least);
    if (p == end) {
        r->most = r->least;
        return least;
    }
    if (*p++ != '-')
        return false;
    if (p == end)
        return least;
    return tune_number(&p, end, &r->most) && p == end;
}

bool MPIR_Coll_tune_add(const char *item, size_t len)
{
    const char *end = item + len, *eq = memchr(item, '=', len), *bytes, *ranks;
    struct rule r;
    if (!eq || !(bytes = memchr(item, ':', (size_t)(eq - item))))
        return false;
    ranks = memchr(bytes + 1, ':', (size_t)(eq - bytes - 1));
    r.kind = MPIR_Coll_kind_of(item, (size_t)(bytes - item));
    r.row = MPIR_Coll_row_of(r.kind, eq + 1, (size_t)(end - eq - 1));
    if (!r.row || !range_of(bytes + 1, ranks ? ranks : eq, &r.bytes) ||
        !range_of(ranks ? ranks + 1 : eq, eq, &r.ranks))
        return false;
    struct rule *more = realloc(rules, (nrules + 1) * sizeof *rules);
    if (!more)
        return false;
    rules = more;
    rules[nrules++] = r;
    return true;
}

static bool within(struct range r, int64_t n)
{
    return n >= r.least && n <= r.most;
}

uint8_t MPIR_Coll_tuned(enum coll_kind kind, const struct coll_size *s)
{
    for (size_t i = 0; i < nrules; i++)
        if (rules[i].kind == (int)kind && within(rules[i].bytes, s->bytes) && within(rules[i].ranks, s->p))
            return rules[i].row;
    return 0;
}

static uint32_t mix(uint32_t h, int64_t v)
{
    h = (h ^ (uint32_t)v ^ (uint32_t)(v >> 32)) * 0x85ebca6bu;
    return h ^ h >> 15;
}

uint32_t MPIR_Coll_tune_hash(void)
{
    uint32_t h = (uint32_t)nrules;
    for (size_t i = 0; i < nrules; i++) {
        h = mix(mix(h, rules[i].kind), rules[i].row);
        h = mix(mix(h, rules[i].bytes.least), rules[i].bytes.most);
        h = mix(mix(h, rules[i].ranks.least), rules[i].ranks.most);
    }
    return nrules && !h ? 1 : h;
}
