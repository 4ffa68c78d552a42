/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_pack.c: see frame_pack.h. */
#include <stdlib.h>
#include <string.h>
#include "pmi/launch/base/util.h"
#include "frame_pack.h"
#include "util/le.h"

void put_bytes(struct pack *p, const void *bytes, size_t n)
{
    if (p->len + n > p->cap) {
        p->cap = 2 * (p->len + n);
        p->bytes = xgrow(p->bytes, p->cap, 1);
    }
    if (n > 0)
        memcpy(p->bytes + p->len, bytes, n);
    p->len += n;
}

void put_int(struct pack *p, int64_t n)
{
    uint64_t le = ku_le64((uint64_t)n);
    put_bytes(p, &le, sizeof le);
}

void put_u32(struct pack *p, uint32_t n)
{
    uint32_t le = ku_le32(n);
    put_bytes(p, &le, sizeof le);
}

void put_double(struct pack *p, double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_int(p, bits);
}

void put_text(struct pack *p, const char *text)
{
    put_int(p, text ? (int64_t)strlen(text) : -1);
    if (text)
        put_bytes(p, text, strlen(text));
}

void put_texts(struct pack *p, char *const *text, int n)
{
    put_int(p, n);
    for (int i = 0; i < n; i++)
        put_text(p, text[i]);
}

void get_bytes(struct unpack *u, void *bytes, size_t n)
{
    u->wrong = u->wrong || (size_t)(u->end - u->at) < n;
    if (u->wrong || n == 0) {
        memset(bytes, 0, n);
        return;
    }
    memcpy(bytes, u->at, n);
    u->at += n;
}

int64_t get_int(struct unpack *u)
{
    uint64_t le;
    get_bytes(u, &le, sizeof le);
    return (int64_t)ku_le64(le);
}

uint32_t get_u32(struct unpack *u)
{
    uint32_t le;
    get_bytes(u, &le, sizeof le);
    return ku_le32(le);
}

double get_double(struct unpack *u)
{
    int64_t bits = get_int(u);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

int get_range(struct unpack *u, int min, int max)
{
    int64_t n = get_int(u);
    if (n >= min && n <= max)
        return (int)n;
    u->wrong = true;
    return min;
}

char *get_text(struct unpack *u)
{
    int64_t n = get_int(u);
    if (n < 0 || u->wrong)
        return NULL;
    if (n > u->end - u->at) {
        u->wrong = true;
        return NULL;
    }
    char *text = xalloc((size_t)n + 1, 1);
    get_bytes(u, text, (size_t)n);
    return text;
}

char **get_texts(struct unpack *u, int *n)
{
    *n = get_range(u, 0, (int)((u->end - u->at) / (int)sizeof(int64_t)));
    char **list = xalloc((size_t)*n + 1, sizeof *list);
    for (int i = 0; i < *n; i++) {
        list[i] = get_text(u);
        u->wrong = u->wrong || !list[i];
    }
    while (u->wrong && *n > 0) {
        free(list[--*n]);
        list[*n] = NULL;
    }
    return list;
}
