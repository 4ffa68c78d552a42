/* SPDX-License-Identifier: BSD-3-Clause */
/* signatures.c: do the types of a message fit those of its receive (MPI 5.0, "Type Matching Rules")?
 *
 * With each message goes a note of its type signature (mpid_listen.h).  Where the message meets its receive, that
 * is compared with as many numbers of the receive's own.  Named types that have the same representation are taken
 * for one, as C, C++ and Fortran have several names for each; whoever sends or receives MPI_PACKED may mean
 * anything by it. */
#include "config.h"
#include "checks.h"
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "comm.h"
#include "object.h"
#include "request.h"
#include "signatures.h"
#include "tell.h"
#include "type.h"
#include "check_words.h"

/* ---- The procedures that send: their number goes with a note, the same in each process ---- */

static const char *const senders[] = { "?",
                                       "MPI_Send",
                                       "MPI_Bsend",
                                       "MPI_Ssend",
                                       "MPI_Rsend",
                                       "MPI_Isend",
                                       "MPI_Ibsend",
                                       "MPI_Issend",
                                       "MPI_Irsend",
                                       "MPI_Send_init",
                                       "MPI_Bsend_init",
                                       "MPI_Ssend_init",
                                       "MPI_Rsend_init",
                                       "MPI_Sendrecv",
                                       "MPI_Sendrecv_replace",
                                       "MPI_Isendrecv",
                                       "MPI_Isendrecv_replace" };
enum { SENDERS = sizeof senders / sizeof *senders, LARGE = 0x80000000 /* the one with MPI_Count */ };

static uint32_t number_of(const char *name)
{
    for (uint32_t i = 1; i < SENDERS; i++) {
        size_t n = strlen(senders[i]);
        if (strncmp(name, senders[i], n) == 0 && (!name[n] || strcmp(name + n, "_c") == 0))
            return i | (name[n] ? LARGE : 0);
    }
    return 0;
}

static void put_sender(FILE *out, uint32_t call)
{
    uint32_t i = call & ~(uint32_t)LARGE;
    fprintf(out, "%s%s", senders[i < SENDERS ? i : 0], call & LARGE ? "_c" : "");
}

static void put_place(FILE *out, const struct MPID_Note *note)
{
    MPIR_Words_place(out, note->module, note->offset, note->address);
}

char *MPIR_Check_sender(const struct MPID_Note *note)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    fputs(" (", out);
    put_sender(out, note->call);
    fputs(", ", out);
    put_place(out, note);
    fputs(")", out);
    return fclose(out) == 0 ? text : NULL;
}

/* ---- What a call says of a message ---- */

struct side {
    MPIR_Datatype *type;
    int64_t count;
    const char *call, *count_name, *type_name; /* also of its arguments */
    uint64_t caller;
};

/* The calls that this thread is in: one in another where a function of the program is called that calls MPI. */
enum { DEPTH = 8 };
static _Thread_local const struct MPID_Call *calls[DEPTH] __attribute__((tls_model("initial-exec")));
static _Thread_local int depth __attribute__((tls_model("initial-exec")));

static const struct MPID_Call *current(void)
{
    return depth > 0 && depth <= DEPTH ? calls[depth - 1] : NULL;
}

/* What is sent, or received. */
static bool side_of(const struct MPID_Call *call, bool sent, struct side *s)
{
    const struct MPID_Arg *args = call->procedure->args;
    for (int i = 0; i < call->procedure->nargs; i++) {
        const struct MPID_Arg *a = &args[i];
        bool fits = a->access == MPID_ARG_INOUT || (a->access == MPID_ARG_IN) == sent;
        if (a->what != MPID_ARG_BUFFER || !fits || a->count < 0 || a->datatype < 0 ||
            args[a->count].access != MPID_ARG_VALUE || args[a->datatype].access != MPID_ARG_VALUE)
            continue;
        s->type = MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(call, a->datatype, 0));
        s->count = MPIR_Call_host.integer(call, a->count, 0);
        s->call = call->procedure->name;
        s->count_name = args[a->count].name;
        s->type_name = args[a->datatype].name;
        s->caller = MPIR_Call_caller();
        return s->type != NULL;
    }
    return false;
}

/* The request that it makes, takes, or starts; 0: none. */
static uint64_t request_of(const struct MPID_Call *call)
{
    for (int i = 0; i < call->procedure->nargs; i++) {
        const struct MPID_Arg *a = &call->procedure->args[i];
        if (a->what == MPID_ARG_HANDLE && a->object == MPID_OBJECT_REQUEST && a->access != MPID_ARG_VALUE)
            return MPIR_Call_host.handle(call, i, 0);
    }
    return 0;
}

/* Is the message one of the program, in that call? */
static bool is_of(const struct MPID_Call *call, uint32_t context)
{
    const MPIR_Comm *comm = MPIR_Call_comm(call);
    if (!comm) { /* MPI_Mrecv */
        const MPIR_Request *r = MPIR_Object_of(MPIR_KIND_REQUEST, request_of(call));
        comm = r ? (const MPIR_Comm *)r->comm : NULL;
    }
    return comm && MPIR_Comm_context(comm, MPID_CONTEXT_PT2PT) == context;
}

/* ---- What is known of requests: of persistent ones as long as they live, of a receive until it is complete ---- */

struct known {
    struct known *next;
    uint64_t id; /* as struct MPID_Transfer has it */
    struct side side;
    uint64_t request; /* of a persistent one: the handle; 0: it is none */
    uint32_t context;
    int32_t tag, peer;
    struct known *next_persistent; /* in the other table */
};
enum { BITS = 10 };
static struct known *first_known[1 << BITS]; /* the table until it grows */
static struct known **known = first_known;
static uint32_t known_bits = BITS;
static int64_t nknown;
static struct known *persistent[1 << BITS]; /* by their handles */

static struct known **known_bucket(struct known **of, uint32_t bits, uint64_t id)
{
    return &of[id * 0x9e3779b97f4a7c15u >> (64 - bits)];
}

static struct known **signature_find(uint64_t id)
{
    struct known **at = known_bucket(known, known_bits, id);
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

/* Without memory it stays as it is. */
static void known_grow(void)
{
    uint32_t bits = known_bits + 2;
    struct known **more = calloc((size_t)1 << bits, sizeof *more);
    if (!more)
        return;
    for (uint32_t i = 0; i < 1u << known_bits; i++)
        for (struct known *k = known[i], *next; k; k = next) {
            struct known **at = known_bucket(more, bits, k->id);
            next = k->next;
            k->next = *at;
            *at = k;
        }
    if (known != first_known)
        free(known);
    known = more;
    known_bits = bits;
}

static struct known **persistent_at(uint64_t handle)
{
    struct known **at = known_bucket(persistent, BITS, handle);
    while (*at && (*at)->request != handle)
        at = &(*at)->next_persistent;
    return at;
}

static void persistent_add(struct known *k, uint64_t handle)
{
    struct known **at = known_bucket(persistent, BITS, handle);
    k->request = handle;
    k->next_persistent = *at;
    *at = k;
}

static void signature_forget(struct known **at)
{
    struct known *k = *at;
    if (!k)
        return;
    *at = k->next;
    nknown--;
    if (k->request) {
        struct known **same = persistent_at(k->request);
        *same = k->next_persistent;
    }
    MPIR_Datatype_release(k->side.type);
    free(k);
}

static struct known *signature_remember(uint64_t id, const struct side *s)
{
    struct known **at = signature_find(id), *k;
    signature_forget(at);
    if (!(k = malloc(sizeof *k)))
        return NULL;
    if (++nknown > 1 << known_bits) {
        known_grow();
        at = signature_find(id);
    }
    *k = (struct known){ .next = *at, .id = id, .side = *s };
    MPIR_Object_ref(s->type);
    *at = k;
    return k;
}

/* ---- Telling ---- */

static void put_whose(FILE *out, const struct MPID_Match *m)
{
    if (m->peer >= 0 && m->peer < MPID_MyWorldSize)
        fprintf(out, "rank %d", m->peer);
    else
        fprintf(out, "rank %d of the communicator", m->source);
}

/* ": 100 MPI_INT by MPI_Send, prog.c:9 (main)" */
static void put_sent(FILE *out, const struct MPID_Note *note, const struct MPID_Signature *sent)
{
    fputs(": ", out);
    MPIR_Words_signature(out, sent);
    fputs(" by ", out);
    put_sender(out, note->call);
    fputs(", ", out);
    put_place(out, note);
}

static struct MPID_Signature signature_in(const struct MPID_Note *note)
{
    struct MPID_Signature s = { .digest = note->digest, .n = note->numbers, .flags = note->flags };
    memcpy(s.first, note->first, sizeof s.first);
    return s;
}

static void tell_differ(const struct MPID_Match *m, const struct side *r, const struct MPID_Signature *sent,
                        const struct MPID_Signature *mine)
{
    int at = MPID_Signature_differ(sent->first, mine->first);
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    FILE *out = w.out;
    fputs("receives ", out);
    if (at >= 0) {
        fprintf(out, "%s (element %d)", MPIR_Words_basic(mine->first[at]), at);
        fputs(" where ", out);
        put_whose(out, m);
        fprintf(out, " sends %s", MPIR_Words_basic(sent->first[at]));
    } else {
        MPIR_Words_signature(out, mine);
        fputs(" where ", out);
        put_whose(out, m);
        fputs(" sends other types", out);
    }
    put_sent(out, m->note, sent);
    MPIR_Words_tell(&w, KU_FAULT_TYPES, r->call, r->type_name, r->caller,
                    MPIR_Check_place_at(m->note->module, m->note->offset));
}

static void tell_long(const struct MPID_Match *m, const struct side *r, const struct MPID_Signature *sent,
                      int64_t room)
{
    struct MPID_Signature mine;
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    FILE *out = w.out;
    MPID_Signature_of(&r->type->adi, r->count, INT64_MAX, &mine);
    fprintf(out, "receives at most %lld bytes (", (long long)room);
    if (room > 0)
        MPIR_Words_signature(out, &mine);
    else
        fputs("nothing", out);
    fputs(") where ", out);
    put_whose(out, m);
    fprintf(out, " sends %lld", (long long)m->bytes);
    put_sent(out, m->note, sent);
    MPIR_Words_tell(&w, KU_FAULT_TOO_LONG, r->call, r->count_name, r->caller,
                    MPIR_Check_place_at(m->note->module, m->note->offset));
}

/* ---- Listening ---- */

static void signature_entered(void *self, const struct MPID_Call *call)
{
    (void)self;
    if (call->depth < DEPTH)
        calls[call->depth] = call;
    depth = call->depth + 1;
}

/* A persistent request is made. */
static void signature_made(const struct MPID_Call *call)
{
    const char *name = call->procedure->name, *init = strstr(name, "_init");
    struct side s;
    uint64_t handle = init ? request_of(call) : 0;
    const MPIR_Request *r = handle >= MPIR_PREDEFINED_MAX ? MPIR_Object_of(MPIR_KIND_REQUEST, handle) : NULL;
    bool receives = strncmp(name, "MPI_Recv_init", 13) == 0;
    if (!r || !(receives || number_of(name)) || !side_of(call, !receives, &s))
        return;
    struct known *k = signature_remember((uintptr_t)r, &s);
    if (!k)
        return;
    persistent_add(k, handle);
    k->context = r->context_id;
    k->tag = r->tag;
    k->peer = r->peer;
}

static void signature_left(void *self, const struct MPID_Call *call, int error)
{
    (void)self;
    depth = call->depth;
    if (!error)
        signature_made(call);
}

static void signature_freed(void *self, const struct MPID_Object *object)
{
    (void)self;
    struct known **at = object->kind == MPID_OBJECT_REQUEST ? persistent_at(object->handle) : NULL;
    if (at && *at)
        signature_forget(signature_find((*at)->id));
}

/* A buffered one sends with a request of the library: the only one like it among those that the call starts. */
static const struct side *started(const struct MPID_Call *call, const struct MPID_Transfer *t)
{
    const struct known *is = NULL;
    for (int a = 0; a < call->procedure->nargs; a++) {
        const struct MPID_Arg *arg = &call->procedure->args[a];
        if (arg->what != MPID_ARG_HANDLE || arg->object != MPID_OBJECT_REQUEST)
            continue;
        for (int64_t i = 0, n = MPIR_Call_host.length(call, a); i < n; i++) {
            const void *r = MPIR_Object_of(MPIR_KIND_REQUEST, MPIR_Call_host.handle(call, a, i));
            const struct known *k = r ? *signature_find((uintptr_t)r) : NULL;
            if (!k || k->context != t->context || k->tag != t->tag ||
                strncmp(k->side.call, "MPI_Bsend_init", 14) != 0)
                continue;
            if (is && (is->side.type != k->side.type || is->side.count != k->side.count))
                return NULL;
            is = k;
        }
    }
    return is ? &is->side : NULL;
}

static int signature_note(void *self, const struct MPID_Transfer *t, struct MPID_Note *n)
{
    const struct MPID_Call *call = current();
    const struct known *k = *signature_find(t->id);
    struct side now;
    const struct side *s = k ? &k->side : NULL;
    (void)self;
    if (!s && call && strncmp(call->procedure->name, "MPI_Start", 9) == 0)
        s = started(call, t);
    else if (!s && call && number_of(call->procedure->name) && is_of(call, t->context) &&
             side_of(call, true, &now))
        s = &now;
    if (!s)
        return 0;
    struct MPID_Signature sig;
    MPID_Signature_of(&s->type->adi, s->count, INT64_MAX, &sig);
    n->digest = sig.digest;
    n->numbers = sig.n;
    n->flags = (uint16_t)sig.flags;
    memcpy(n->first, sig.first, sizeof n->first);
    n->call = number_of(s->call);
    n->address = s->caller;
    MPIR_Check_place_of(s->caller, &n->module, &n->offset);
    return 1;
}

static void signature_begun(void *self, const struct MPID_Transfer *t)
{
    const struct MPID_Call *call = current();
    struct side s;
    (void)self;
    if (t->peer >= 0 || *signature_find(t->id) || !call || !is_of(call, t->context) ||
        !side_of(call, false, &s))
        return;
    signature_remember(t->id, &s);
}

static void signature_completed(void *self, const struct MPID_Transfer *t)
{
    struct known **at = signature_find(t->id);
    (void)self;
    if (*at && !(*at)->request)
        signature_forget(at);
}

static void signature_matched(void *self, const struct MPID_Match *m)
{
    const struct known *k = m->note ? *signature_find(m->transfer) : NULL;
    int64_t room;
    (void)self;
    if (!k || m->note->numbers == 0 || m->note->flags & MPID_SIGNATURE_UNKNOWN)
        return;
    struct MPID_Signature sent = signature_in(m->note), mine;
    if (__builtin_mul_overflow(k->side.count, k->side.type->adi.size, &room))
        room = INT64_MAX;
    if (m->bytes > room) {
        tell_long(m, &k->side, &sent, room);
        return;
    }
    MPID_Signature_of(&k->side.type->adi, k->side.count, sent.n, &mine);
    if ((sent.flags | mine.flags) & (MPID_SIGNATURE_PACKED | MPID_SIGNATURE_UNKNOWN))
        return;
    if (mine.n != sent.n || mine.digest != sent.digest)
        tell_differ(m, &k->side, &sent, &mine);
}

static const struct MPID_Listener listener = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof listener,
                                               .call_entered = signature_entered,
                                               .call_left = signature_left,
                                               .object_freed = signature_freed,
                                               .transfer_begun = signature_begun,
                                               .transfer_completed = signature_completed,
                                               .matched = signature_matched,
                                               .note = signature_note };

static bool wanted;

void MPIR_Signatures_begin(void)
{
    wanted = (MPIR_Check_wants(KU_FAULT_TYPES) || MPIR_Check_wants(KU_FAULT_TOO_LONG) ||
              MPIR_Check_wants(KU_FAULT_LEAK_MESSAGE)) &&
             MPID_Listener_add(&listener) == 0;
}

void MPIR_Signatures_end(void)
{
    if (wanted)
        MPID_Listener_remove(&listener);
    wanted = false;
    for (uint32_t i = 0; i < 1u << known_bits; i++)
        while (known[i])
            signature_forget(&known[i]);
    if (known != first_known)
        free(known);
    known = first_known;
    known_bits = BITS;
}
