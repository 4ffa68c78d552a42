/* SPDX-License-Identifier: BSD-3-Clause */
/* offspring.c: see offspring.h: what is asked for. */
#include "offspring.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"

struct offspring *offspring_new(int rank)
{
    struct offspring *o = xalloc(1, sizeof *o);
    *o = (struct offspring){ .rank = rank, .elder = -1, .out = -1, .err = -1 };
    return o;
}

bool offspring_add(struct offspring *o, const char *program, int maxprocs)
{
    if (o->n == OFFSPRING_MOST)
        return false;
    o->command = xgrow(o->command, (size_t)o->n + 1, sizeof *o->command);
    o->command[o->n++] =
        (struct offspring_command){ .program = xformat("%s", program), .maxprocs = maxprocs };
    return true;
}

/* Lists end with NULL. */
static bool append(char ***list, int *n, const char *text)
{
    if (*n >= OFFSPRING_MOST)
        return false;
    *list = xgrow(*list, (size_t)*n + 2, sizeof **list);
    (*list)[(*n)++] = xformat("%s", text);
    (*list)[*n] = NULL;
    return true;
}

bool offspring_word(struct offspring *o, const char *text)
{
    struct offspring_command *c = o->n ? &o->command[o->n - 1] : NULL;
    return c && append(&c->word, &c->nwords, text);
}

bool offspring_key(struct offspring *o, const char *key, const char *value)
{
    struct offspring_command *c = o->n ? &o->command[o->n - 1] : NULL;
    return c && append(&c->key, &c->nkeys, key) && append(&c->key, &c->nkeys, value);
}

bool offspring_put(struct offspring *o, const char *key, const char *value)
{
    return append(&o->put, &o->nput, key) && append(&o->put, &o->nput, value);
}

const char *offspring_value(const struct offspring_command *c, const char *key)
{
    for (int i = 0; i + 1 < c->nkeys; i += 2)
        if (strcmp(c->key[i], key) == 0)
            return c->key[i + 1];
    return NULL;
}

void offspring_forget(struct offspring *o, const char *key)
{
    for (struct offspring_command *c = o->command; c < o->command + o->n; c++) {
        int kept = 0;
        for (int i = 0; i + 1 < c->nkeys; i += 2) {
            bool goes = strcmp(c->key[i], key) == 0;
            for (int k = 0; k < 2 && goes; k++)
                free(c->key[i + k]);
            for (int k = 0; k < 2 && !goes; k++)
                c->key[kept++] = c->key[i + k];
        }
        if (c->key)
            c->key[kept] = NULL;
        c->nkeys = kept;
    }
}

void offspring_pack(struct pack *p, const struct offspring *o)
{
    put_u32(p, (uint32_t)o->n);
    for (const struct offspring_command *c = o->command; c < o->command + o->n; c++) {
        put_text(p, c->program);
        put_u32(p, (uint32_t)c->maxprocs);
        put_texts(p, c->word, c->nwords);
        put_texts(p, c->key, c->nkeys);
    }
}

static bool take_command(struct offspring *o, struct unpack *u)
{
    int nwords, nkeys;
    char *program = get_text(u);
    uint32_t maxprocs = get_u32(u);
    char **word = get_texts(u, &nwords), **key = get_texts(u, &nkeys);
    bool ok = !u->wrong && program && *program && maxprocs > 0 && maxprocs <= INT32_MAX && nkeys % 2 == 0 &&
              offspring_add(o, program, (int)maxprocs);
    for (int i = 0; i < nwords && ok; i++)
        ok = offspring_word(o, word[i]);
    for (int i = 0; i < nkeys && ok; i += 2)
        ok = offspring_key(o, key[i], key[i + 1]);
    for (char **w = word; *w; w++)
        free(*w);
    for (char **k = key; *k; k++)
        free(*k);
    free(word);
    free(key);
    free(program);
    return ok;
}

struct offspring *offspring_unpack(struct unpack *u, int rank)
{
    struct offspring *o = offspring_new(rank);
    uint32_t n = get_u32(u);
    bool ok = n > 0;
    for (uint32_t i = 0; i < n && ok; i++)
        ok = take_command(o, u);
    if (ok && u->at == u->end)
        return o;
    offspring_free(o);
    return NULL;
}

static void free_list(char **list, int n)
{
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
}

void offspring_free(struct offspring *o)
{
    for (int i = 0; i < o->n; i++) {
        free(o->command[i].program);
        free_list(o->command[i].word, o->command[i].nwords);
        free_list(o->command[i].key, o->command[i].nkeys);
    }
    free(o->command);
    free_list(o->put, o->nput);
    const int fds[] = { o->elder, o->out, o->err };
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(o);
}
