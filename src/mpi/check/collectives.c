/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c: do all ranks of a communicator make the same calls of collectives, with arguments that fit?
 *
 * When a rank begins such a call it sends notes of it (mpid_listen.h) to some others, and waits for none.  A note
 * names the communicator, and the call by how many collectives were called there before.  Where it comes it is compared
 * with that rank's own call; whichever is there first is kept for the other.  So a fault is told as soon as both ranks
 * have made their calls and one of them looks at what has come, also where the calls never end.
 *
 * Invariants
 *   1. A communicator is known by its context id and by how often that was used before.  What is kept of one goes when
 *      it is freed here; notes that come later are dropped, as it is among those that have gone.
 *   2. A call is kept until all that it expects has been said, a note until the call.  Of a right program both go.
 *   3. When two ranks have made different calls nothing more is told of that communicator here: what follows is out of
 *      step. */
#include "config.h"
#include "collectives.h"
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "checks.h"
#include "object.h"
#include "signatures.h"
#include "tell.h"

enum { COLL_BITS = 10, KEPT = 1 << 16 /* calls and notes, at most */, GONE = 1 << 10 };

/* A note that is kept. */
struct coll_note {
    struct coll_note *next;
    int to;
    int32_t source;
    struct MPIR_Said said;
    uint32_t module, offset;
};

/* A call, or notes that are there before it. */
struct coll_place {
    struct coll_place *next, *after, *before; /* of the bucket; of the communicator */
    struct coll_comm *of;
    uint32_t seq;
    struct MPIR_Coll_own *own;
    struct coll_note *first, **last;
};

struct coll_comm {
    struct coll_comm *next;
    uint32_t context, use; /* invariant 1 */
    const MPIR_Comm *comm; /* NULL: not used here yet */
    uint64_t handle;       /* of the communicator, window or file, */
    uint8_t kind;          /* and which of them it is (enum MPID_OBJECT_KIND) */
    uint32_t seq;          /* of the next call */
    bool astray;           /* invariant 3 */
    struct coll_place *places;
};

static struct coll_comm *coll_comms[1 << COLL_BITS];
static struct coll_place *coll_places[1 << COLL_BITS];
static int64_t coll_kept;
static struct {
    uint32_t context, use;
} coll_gone[GONE];
static bool coll_wanted;
static bool coll_blind; /* without memory to count its calls it says and tells nothing any more */

/* What goes with `what` in a note: to whom, and how often the context id was used. */
enum { TO_BITS = 2, USE_MASK = (1 << 14) - 1 };

/* ---- Communicators, and places in the order of their calls ---- */

static uint32_t coll_bucket(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> (64 - COLL_BITS));
}

static struct coll_comm **coll_comm_at(uint32_t context, uint32_t use)
{
    struct coll_comm **at = &coll_comms[coll_bucket((uint64_t)context << 16 | use)];
    while (*at && ((*at)->context != context || (*at)->use != use))
        at = &(*at)->next;
    return at;
}

static bool has_gone(uint32_t context, uint32_t use)
{
    uint32_t i = coll_bucket((uint64_t)context << 16 | use) % GONE;
    return coll_gone[i].context == context && coll_gone[i].use == use && context != 0;
}

/* NULL without memory. */
static struct coll_comm *coll_comm_get(uint32_t context, uint32_t use)
{
    struct coll_comm **at = coll_comm_at(context, use);
    if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->context = context;
        (*at)->use = use;
    }
    return *at;
}

static struct coll_place **coll_place_at(const struct coll_comm *of, uint32_t seq)
{
    struct coll_place **at =
        &coll_places[coll_bucket((uint64_t)of->context << 32 ^ (uint64_t)of->use << 50 ^ seq)];
    while (*at && ((*at)->of != of || (*at)->seq != seq))
        at = &(*at)->next;
    return at;
}

static struct coll_place *coll_place_get(struct coll_comm *of, uint32_t seq)
{
    struct coll_place **at = coll_place_at(of, seq), *p = *at;
    if (p || coll_kept >= KEPT || !(p = calloc(1, sizeof *p)))
        return p;
    coll_kept++;
    *p = (struct coll_place){ .next = *at, .after = of->places, .of = of, .seq = seq, .last = &p->first };
    if (p->after)
        p->after->before = p;
    of->places = p;
    return *at = p;
}

static void coll_place_drop(struct coll_place *p)
{
    struct coll_place **at = coll_place_at(p->of, p->seq);
    *at = p->next;
    if (p->after)
        p->after->before = p->before;
    if (p->before)
        p->before->after = p->after;
    else
        p->of->places = p->after;
    for (struct coll_note *n = p->first, *next; n; n = next) {
        next = n->next;
        free(n);
        coll_kept--;
    }
    free(p->own);
    free(p);
    coll_kept--;
}

static void coll_comm_drop(struct coll_comm **at)
{
    struct coll_comm *c = *at;
    while (c->places)
        coll_place_drop(c->places);
    *at = c->next;
    free(c);
}

/* ---- Comparing ---- */

static const char *coll_on(const struct coll_comm *c)
{
    if (c->kind != MPID_OBJECT_COMM)
        return c->kind == MPID_OBJECT_WIN ? "the window" : "the file";
    return c->comm->name[0] ? c->comm->name : "the communicator";
}

/* True: the call has heard all. */
static bool coll_hear(struct coll_place *p, int to, int32_t source, const struct MPIR_Said *said,
                      uint32_t module, uint32_t offset)
{
    struct coll_comm *c = p->of;
    if (!c->astray && !coll_blind &&
        !MPIR_Coll_compare(p->own, c->comm, coll_on(c), p->seq, to, source, said, module, offset))
        c->astray = true;
    return --p->own->left <= 0;
}

static void coll_keep(struct coll_place *p, const struct coll_note *note)
{
    struct coll_note *n = coll_kept < KEPT ? malloc(sizeof *n) : NULL;
    if (!n)
        return;
    *n = *note;
    n->next = NULL;
    *p->last = n;
    p->last = &n->next;
    coll_kept++;
}

/* Packed into the numbers that a note has (mpid_listen.h).  Of data between neighbors there is no root. */
enum { NUMBER_BITS = 10, HOW_SHIFT = NUMBER_BITS + 8, LARGE_SHIFT = 30, NTH_SHIFT = 31 };
_Static_assert(SAID_HOW < 1 << (LARGE_SHIFT - HOW_SHIFT), "it fits");

static void coll_pack(struct MPID_Note *n, const struct MPIR_Said *s)
{
    n->digest = s->data.digest;
    n->numbers = s->data.n;
    n->flags = (uint16_t)s->data.flags;
    memcpy(n->first, s->data.first, sizeof n->first);
    n->address = (uint64_t)(uint32_t)(s->nth ? s->nth : s->root) << 32 | s->counts;
    n->call = s->number | (uint32_t)s->op << NUMBER_BITS | (uint32_t)s->how << HOW_SHIFT |
              (s->large ? 1u << LARGE_SHIFT : 0) | (s->nth ? 1u << NTH_SHIFT : 0);
}

static struct MPIR_Said coll_unpack(const struct MPID_Note *n)
{
    bool nth = n->call >> NTH_SHIFT;
    int32_t which = (int32_t)(n->address >> 32);
    struct MPIR_Said s = { .number = n->call & ((1 << NUMBER_BITS) - 1),
                           .op = (uint8_t)(n->call >> NUMBER_BITS),
                           .how = n->call >> HOW_SHIFT & SAID_HOW,
                           .large = n->call >> LARGE_SHIFT & 1,
                           .root = nth ? 0 : which,
                           .nth = nth ? which : 0,
                           .counts = (uint32_t)n->address,
                           .data = { .digest = n->digest, .n = n->numbers, .flags = n->flags } };
    memcpy(s.data.first, n->first, sizeof n->first);
    return s;
}

static void coll_noted(void *self, const struct MPID_Noted *noted)
{
    const struct MPID_Note *n = noted->note;
    struct coll_note note = { .to = n->what & ((1 << TO_BITS) - 1),
                              .source = noted->source,
                              .said = coll_unpack(n),
                              .module = n->module,
                              .offset = n->offset };
    uint32_t use = n->what >> TO_BITS, seq = (uint32_t)noted->tag;
    (void)self;
    struct coll_comm *c = has_gone(noted->context, use) ? NULL : coll_comm_get(noted->context, use);
    bool called = c && c->comm && (int32_t)(seq - c->seq) < 0;
    struct coll_place *p = c && called ? *coll_place_at(c, seq) : c ? coll_place_get(c, seq) : NULL;
    if (!p)
        return; /* of what nothing is kept any more */
    if (!p->own)
        coll_keep(p, &note);
    else if (coll_hear(p, note.to, note.source, &note.said, note.module, note.offset))
        coll_place_drop(p);
}

/* ---- Calls ---- */

struct coll_saying {
    const struct coll_comm *c;
    struct MPID_Note note;
    uint32_t seq;
};

static void coll_say(void *arg, int to, int32_t rank, const struct MPIR_Said *said)
{
    struct coll_saying *s = arg;
    const MPIR_Comm *comm = s->c->comm;
    const MPIR_Comm *group = to == SAID_TO_NEXT && comm->local ? comm->local : comm;
    coll_pack(&s->note, said);
    s->note.what = (uint16_t)(to | s->c->use << TO_BITS);
    MPID_Note_alone(MPIR_Comm_grank(group, rank),
                    &(const struct MPID_Noted){ s->c->context, comm->adi.rank, (int32_t)s->seq, &s->note });
}

static void coll_entered(void *self, const struct MPID_Call *call)
{
    uint64_t handle;
    uint8_t kind;
    const MPIR_Comm *comm = MPIR_Coll_comm_of(call, &handle, &kind);
    struct coll_comm *c = comm ? coll_comm_get(comm->adi.context_id, comm->context_use & USE_MASK) : NULL;
    (void)self;
    coll_blind |= (comm && !c) || MPIR_Call_untold;
    if (!c || coll_blind)
        return;
    c->comm = comm;
    c->handle = handle;
    c->kind = kind;
    struct coll_saying s = { .c = c, .seq = c->seq++ };
    struct MPIR_Coll_own *own = MPIR_Coll_own_of(call, comm, s.seq);
    struct coll_place *p = own ? coll_place_get(c, s.seq) : NULL;
    if (!p) {
        free(own);
        return;
    }
    p->own = own;
    MPIR_Check_place_of(own->caller, &s.note.module, &s.note.offset);
    bool all = own->left <= 0;
    for (struct coll_note *n = p->first; n && !all; n = n->next)
        all = coll_hear(p, n->to, n->source, &n->said, n->module, n->offset);
    if (all)
        coll_place_drop(p);
    MPIR_Coll_say(call, comm, s.seq, coll_say, &s);
}

static void coll_freed(void *self, const struct MPID_Object *object)
{
    (void)self;
    if (object->kind != MPID_OBJECT_COMM && object->kind != MPID_OBJECT_WIN &&
        object->kind != MPID_OBJECT_FILE)
        return;
    for (int i = 0; i < 1 << COLL_BITS; i++)
        for (struct coll_comm **at = &coll_comms[i]; *at; at = &(*at)->next)
            if ((*at)->comm && (*at)->kind == object->kind && (*at)->handle == object->handle) {
                uint32_t g = coll_bucket((uint64_t)(*at)->context << 16 | (*at)->use) % GONE;
                coll_gone[g].context = (*at)->context;
                coll_gone[g].use = (*at)->use;
                coll_comm_drop(at);
                return;
            }
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = coll_entered,
                                               .object_freed = coll_freed,
                                               .noted = coll_noted };

/* What another rank has said may have come, and tells more than the error that its call has led to. */
void MPIR_Check_before_end(const char *call)
{
    if (coll_wanted && MPIR_Coll_known(call))
        MPID_DeviceCheck(MPID_NOTBLOCKING);
}

void MPIR_Collectives_begin(void)
{
    coll_wanted = (MPIR_Check_wants(KU_FAULT_COLL_ORDER) || MPIR_Check_wants(KU_FAULT_COLL_ROOT) ||
                   MPIR_Check_wants(KU_FAULT_COLL_OP) || MPIR_Check_wants(KU_FAULT_COLL_IN_PLACE) ||
                   MPIR_Check_wants(KU_FAULT_COLL_DATA)) &&
                  MPID_Listener_add(&listener) == 0;
}

void MPIR_Collectives_end(void)
{
    if (coll_wanted)
        MPID_Listener_remove(&listener);
    coll_wanted = coll_blind = false;
    for (int i = 0; i < 1 << COLL_BITS; i++)
        while (coll_comms[i])
            coll_comm_drop(&coll_comms[i]);
    memset(coll_gone, 0, sizeof coll_gone);
}
