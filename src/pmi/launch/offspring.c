/* offspring.c: see offspring.h: what is asked for. */
#include "offspring.h"
#include <stdlib.h>
#include <unistd.h>
#include "launch.h"

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
