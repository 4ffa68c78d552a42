/* SPDX-License-Identifier: BSD-3-Clause */
#include "own.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct block {
    struct block *next;
    void **slot;
    max_align_t memory[];
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

/* What runs after this one at the thread's end may call for memory again. */
static void own_give_back(void *first)
{
    for (struct block *b = first, *next; b; b = next) {
        next = b->next;
        *b->slot = NULL;
        free(b);
    }
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, own_give_back) == 0;
}

/* The library may be unloaded before the threads end. */
__attribute__((destructor)) static void delete_key(void)
{
    if (has_key)
        pthread_key_delete(key);
    has_key = false;
}

void *ku_own(void **slot, size_t size, void *spare)
{
    pthread_once(&once, make_key);
    struct block *b = has_key ? calloc(1, sizeof *b + size) : NULL;
    if (!b)
        return spare;
    b->next = pthread_getspecific(key);
    b->slot = slot;
    if (pthread_setspecific(key, b)) {
        free(b);
        return spare;
    }
    return *slot = b->memory;
}
