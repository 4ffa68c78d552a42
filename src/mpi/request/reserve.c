/* SPDX-License-Identifier: BSD-3-Clause */
/* reserve.c: see reserve.h. */
#include "config.h"
#include "reserve.h"
#include <pthread.h>
#include <stdlib.h>
#include "env.h"

_Thread_local struct MPIR_Reserve *MPIR_reserve;

static pthread_key_t key;
static bool has_key;

/* A thread ends.  (After MPI has ended there is no lock to be had, and nobody who would miss them.) */
static void reserve_give_back(void *reserve)
{
    struct MPIR_Reserve *s = reserve;
    MPIR_reserve = NULL;
    if (s->n > 0 && MPIR_ENV(threaded)) {
        MPID_Thread_enter();
        for (; s->n > 0; s->n--)
            ku_slab_free(&MPIR_slab[MPIR_KIND_REQUEST], s->request[s->n - 1]);
        MPID_Thread_leave();
    }
    free(s);
}

__attribute__((constructor)) static void make_key(void)
{
    has_key = pthread_key_create(&key, reserve_give_back) == 0;
}

/* The library may be unloaded before its threads end. */
__attribute__((destructor)) static void end_key(void)
{
    if (has_key)
        pthread_key_delete(key);
}

static struct MPIR_Reserve *mine(void)
{
    struct MPIR_Reserve *s = MPIR_reserve ? MPIR_reserve : has_key ? calloc(1, sizeof *s) : NULL;
    if (s && !MPIR_reserve && pthread_setspecific(key, s) != 0) {
        free(s);
        s = NULL;
    }
    return MPIR_reserve = s;
}

void MPIR_Reserve_fill(void)
{
    struct MPIR_Reserve *s = mine();
    if (!s || s->n > 0)
        return;
    for (; s->n < MPIR_RESERVE; s->n++) {
        MPIR_Request *r = MPIR_Object_alloc(MPIR_KIND_REQUEST);
        if (!r)
            return;                         /* it is told when one is needed */
        r->obj.flags = KEEL_OBJ_PREDEFINED; /* not one of the program's (leaks.c) */
        s->request[s->n] = r;
    }
}
