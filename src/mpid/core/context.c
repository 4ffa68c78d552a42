/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: a queue pair for each context id, made when first met: by CommInit, by a receive, or by a message that came
 * before either.  So messages for a communicator that this process has not made yet simply wait in its queue.
 *
 * Found in O(1): through comm->adi, the one looked up last, or a hash that grows with their number. */
#include "core.h"
#include <stdlib.h>

enum { CONTEXTS_FIRST = 64, CONTEXTS_AT_ONCE = MPID_CONTEXT_COLL + 1 /* others when they are first used */ };

static uint32_t slot_of(uint32_t id, uint32_t mask)
{
    return (id * 0x9e3779b1u >> 7) & mask;
}

struct context *MPID_Context_find(uint32_t id)
{
    struct context *c = MPID_core.last;
    if (c != NULL && c->id == id)
        return c;
    for (c = MPID_core.contexts[slot_of(id, MPID_core.context_mask)]; c != NULL && c->id != id;)
        c = c->chain;
    if (c != NULL)
        MPID_core.last = c;
    return c;
}

static void grow(void)
{
    uint32_t mask = MPID_core.context_mask * 2 + 1;
    struct context **table = calloc((size_t)mask + 1, sizeof *table);
    if (table == NULL)
        return;
    for (uint32_t i = 0; i <= MPID_core.context_mask; i++)
        for (struct context *c = MPID_core.contexts[i], *next; c != NULL; c = next) {
            next = c->chain;
            c->chain = table[slot_of(c->id, mask)];
            table[slot_of(c->id, mask)] = c;
        }
    free(MPID_core.contexts);
    MPID_core.contexts = table;
    MPID_core.context_mask = mask;
}

static struct context *allot(void)
{
    enum { ALIGN = _Alignof(struct context) };
    char *memory = calloc(1, sizeof(struct context) + ALIGN);
    if (memory == NULL)
        return NULL;
    struct context *c = (struct context *)(void *)(memory + (-(uintptr_t)memory & (ALIGN - 1)));
    c->memory = memory;
    return c;
}

struct context *MPID_Context_get(uint32_t id)
{
    struct context *c = MPID_Context_find(id), **slot;
    if (c != NULL)
        return c;
    c = allot();
    if (c == NULL) {
        ku_err_set(MPI_ERR_NO_MEM, "context_id", "is %u, new here, and there is no memory for its queues",
                   id);
        return NULL;
    }
    if (MPID_core.ncontexts > MPID_core.context_mask)
        grow();
    MPID_Fresh_init(c);
    c->id = c->refused_with = id;
    slot = &MPID_core.contexts[slot_of(id, MPID_core.context_mask)];
    c->chain = *slot;
    *slot = c;
    MPID_core.ncontexts++;
    return c;
}

void MPID_Contexts_each(void (*fn)(struct context *c, void *arg), void *arg)
{
    for (uint32_t i = 0; MPID_core.contexts != NULL && i <= MPID_core.context_mask; i++)
        for (struct context *c = MPID_core.contexts[i], *next; c != NULL; c = next) {
            next = c->chain;
            fn(c, arg);
        }
}

/* ---- Contexts of communicators that are no more, in which something has been refused: messages for such calls
 * may still come, and senders that wait.  The last ones are kept. ---- */

enum { ENDED_MOST = 64 };

static void ended_push(struct context *c)
{
    c->comm = NULL;
    c->ended = true;
    c->ended_next = NULL;
    *(MPID_core.ended_last != NULL ? &MPID_core.ended_last->ended_next : &MPID_core.ended_first) = c;
    MPID_core.ended_last = c;
    MPID_core.nended++;
}

static void ended_remove(struct context *c)
{
    struct context **at = &MPID_core.ended_first, *before = NULL;
    for (; *at != c; at = &before->ended_next)
        before = *at;
    *at = c->ended_next;
    if (MPID_core.ended_last == c)
        MPID_core.ended_last = before;
    MPID_core.nended--;
    c->ended = false;
}

/* What still waits in a context that ends will never be asked for. */
static void clear(struct context *c)
{
    while (c->unexp.head != NULL) {
        struct umsg *m = c->unexp.head;
        MPID_Unexp_remove(&c->unexp, m);
        MPID_Umsg_free(m);
    }
    MPID_Unexp_fini(&c->unexp);
    MPID_Posted_fini(&c->posted);
    MPID_Fresh_fini(c);
}

static void unlink_free(struct context *c)
{
    clear(c);
    MPID_Refusals_free(c);
    struct context **p = &MPID_core.contexts[slot_of(c->id, MPID_core.context_mask)];
    while (*p != c)
        p = &(*p)->chain;
    *p = c->chain;
    MPID_core.ncontexts--;
    if (MPID_core.last == c)
        MPID_core.last = NULL;
    free(c->memory);
}

static void end(struct context *c)
{
    if (!MPID_Refused_some(c)) {
        unlink_free(c);
        return;
    }
    clear(c);
    ended_push(c);
    if (MPID_core.nended > ENDED_MOST) {
        c = MPID_core.ended_first;
        ended_remove(c);
        unlink_free(c);
    }
}

struct context *MPID_Context_late(struct MPIR_COMMUNICATOR *comm, uint32_t which)
{
    struct comm_adi *a = comm->adi;
    struct context *c = MPID_Context_get(comm->context_id + which);
    if (c != NULL && unlikely(c->ended)) { /* all ids have been used since, and it is used again */
        ended_remove(c);
        MPID_Refusals_free(c);
        c->refused_with = c->id;
    }
    if (c != NULL)
        c->comm = comm;
    return a->context[which] = c;
}

int MPID_CommInit(struct MPIR_COMMUNICATOR *oldcomm, struct MPIR_COMMUNICATOR *newcomm)
{
    struct comm_adi *a = calloc(1, sizeof *a);
    (void)oldcomm;
    if (a == NULL)
        return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for a communicator's queues");
    newcomm->adi = a;
    for (uint32_t i = 0; i < CONTEXTS_AT_ONCE; i++)
        if (MPID_Context_late(newcomm, i) == NULL) {
            MPID_CommFree(newcomm);
            return MPI_ERR_NO_MEM;
        }
    return 0;
}

/* Messages may wait in a context that has not been used here. */
static void drop_context(struct MPIR_COMMUNICATOR *comm, uint32_t which)
{
    struct context *c = ((struct comm_adi *)comm->adi)->context[which];
    if (c == NULL)
        c = MPID_Context_find(comm->context_id + which);
    if (c != NULL)
        end(c);
}

int MPID_CommFree(struct MPIR_COMMUNICATOR *comm)
{
    struct comm_adi *a = comm->adi;
    if (a == NULL)
        return 0;
    if (MPID_core.up)
        MPID_Team_drop(&a->team);
    for (uint32_t i = 0; MPID_core.up && i < MPID_CONTEXT_IDS; i++)
        drop_context(comm, i);
    free(a);
    comm->adi = NULL;
    return 0;
}

bool MPID_Context_in_use(uint32_t context_id)
{
    const struct context *c = MPID_Context_find(context_id);
    return c != NULL && c->comm != NULL;
}

int MPID_Contexts_init(void)
{
    MPID_core.contexts = calloc(CONTEXTS_FIRST, sizeof *MPID_core.contexts);
    MPID_core.context_mask = CONTEXTS_FIRST - 1;
    MPID_core.ncontexts = 0;
    return MPID_core.contexts != NULL
               ? 0
               : ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the table of contexts");
}

static void free_one(struct context *c, void *arg)
{
    (void)arg;
    clear(c);
    MPID_Refusals_free(c);
    free(c->memory);
}

void MPID_Contexts_fini(void)
{
    MPID_Contexts_each(free_one, NULL);
    free(MPID_core.contexts);
    MPID_core.contexts = NULL;
    MPID_core.last = MPID_core.ended_first = MPID_core.ended_last = NULL;
    MPID_core.nended = 0;
}
