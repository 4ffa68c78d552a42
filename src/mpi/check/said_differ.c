/* SPDX-License-Identifier: BSD-3-Clause */
/* said_differ.c: what is told where a rank has said another thing of a collective than what is expected
 * (collectives.h). */
#include "config.h"
#include "collectives.h"
#include <string.h>
#include "op.h"
#include "signatures.h"
#include "check_words.h"

/* Both sides of what is compared. */
struct said_both {
    const struct MPIR_Coll_own *own;
    const MPIR_Comm *comm;
    const struct MPIR_Said *said;
    const char *on;
    int to;
    int32_t source;
    uint32_t module, offset;
};

/* ---- Words ---- */

static void said_whose(FILE *out, const struct said_both *b)
{
    const MPIR_Comm *group = b->comm->local && b->to == SAID_TO_NEXT ? b->comm->local : b->comm;
    int32_t grank = MPIR_Comm_grank(group, b->source);
    if (grank >= 0 && grank < MPID_MyWorldSize)
        fprintf(out, "rank %d", (int)grank);
    else
        fprintf(out, "rank %d of the communicator", (int)b->source);
}

static void said_call(FILE *out, const struct said_both *b)
{
    char name[48];
    MPIR_Coll_call_name(b->said->number, b->said->large, name);
    fprintf(out, "%s, ", name);
    MPIR_Words_place(out, b->module, b->offset, b->offset);
}

static void said_tell(struct MPIR_Words *w, const struct said_both *b, enum ku_fault_kind kind,
                      const char *argument)
{
    MPIR_Words_tell(w, kind, b->own->call, argument, b->own->caller,
                    MPIR_Check_place_at(b->module, b->offset));
}

static void said_root(FILE *out, int32_t root)
{
    if (root == MPI_ROOT || root == MPI_PROC_NULL)
        fputs(root == MPI_ROOT ? "MPI_ROOT" : "MPI_PROC_NULL", out);
    else
        fprintf(out, "%d", (int)root);
}

static const char *said_op(uint8_t op)
{
    const MPIR_Op *predefined = op != SAID_OP_OF_PROGRAM ? MPIR_Op_predefined(op) : NULL;
    return predefined ? predefined->name : "an operation of the program";
}

/* "receives 5 MPI_INT", "has ..." */
static void put_data(FILE *out, uint8_t how, const struct MPID_Signature *data)
{
    fputs(how & SAID_SENDS ? "sends " : how & SAID_RECEIVES ? "receives " : "has ", out);
    MPIR_Words_signature(out, data);
}

/* ---- What differs ---- */

static void tell_calls(const struct said_both *b, uint32_t seq)
{
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    fprintf(w.out, "is its collective %u on %s, where ", (unsigned)seq + 1, b->on);
    said_whose(w.out, b);
    fputs(" calls ", w.out);
    said_call(w.out, b);
    said_tell(&w, b, KU_FAULT_COLL_ORDER, NULL);
}

/* Of an intercommunicator one group has MPI_ROOT at one rank and MPI_PROC_NULL at the others; the other one has the
 * root's rank. */
static bool roots_fit(const struct said_both *b)
{
    int32_t mine = b->own->is.root, its = b->said->root;
    if (!b->comm->local)
        return mine == its;
    if (b->to == SAID_TO_NEXT)
        return mine < 0 || its < 0 ? mine < 0 && its < 0 && !(mine == MPI_ROOT && its == MPI_ROOT)
                                   : mine == its;
    if (mine < 0 && its < 0)
        return mine == MPI_PROC_NULL && its == MPI_PROC_NULL;
    if (mine >= 0 && its >= 0)
        return false;
    return mine < 0 ? (mine == MPI_ROOT) == (its == b->comm->adi.rank)
                    : (its == MPI_ROOT) == (mine == b->source);
}

static void tell_roots(const struct said_both *b)
{
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    fputs("is ", w.out);
    said_root(w.out, b->own->is.root);
    fputs(" where ", w.out);
    said_whose(w.out, b);
    fputs(" has ", w.out);
    said_root(w.out, b->said->root);
    fputs(": ", w.out);
    said_call(w.out, b);
    said_tell(&w, b, KU_FAULT_COLL_ROOT, "root");
}

static void tell_ops(const struct said_both *b)
{
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    fprintf(w.out, "is %s where ", said_op(b->own->is.op));
    said_whose(w.out, b);
    fprintf(w.out, " has %s: ", said_op(b->said->op));
    said_call(w.out, b);
    said_tell(&w, b, KU_FAULT_COLL_OP, "op");
}

static void tell_in_place(const struct said_both *b)
{
    struct MPIR_Words w;
    bool mine = b->own->is.how & SAID_IN_PLACE;
    if (!MPIR_Words_begin(&w))
        return;
    fprintf(w.out, "is %sMPI_IN_PLACE, and that of ", mine ? "" : "not ");
    said_whose(w.out, b);
    fprintf(w.out, " is%s: ", mine ? " not" : "");
    said_call(w.out, b);
    said_tell(&w, b, KU_FAULT_COLL_IN_PLACE, "sendbuf");
}

static void tell_counts(const struct said_both *b)
{
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    fputs("are not those of ", w.out);
    said_whose(w.out, b);
    fputs(": ", w.out);
    said_call(w.out, b);
    said_tell(&w, b, KU_FAULT_COLL_DATA, "recvcounts");
}

static bool data_fit(const struct MPID_Signature *a, const struct MPID_Signature *b)
{
    return (a->flags | b->flags) & (MPID_SIGNATURE_PACKED | MPID_SIGNATURE_UNKNOWN) ||
           (a->n == b->n && a->digest == b->digest);
}

static void tell_data(const struct said_both *b, const struct MPIR_Expected *e)
{
    const struct MPID_Signature *mine = &e->data, *its = &b->said->data;
    bool other_types = MPID_Signature_differ(mine->first, its->first) >= 0 || mine->n == its->n;
    struct MPIR_Words w;
    if (!MPIR_Words_begin(&w))
        return;
    put_data(w.out, e->how, mine);
    fputs(" where ", w.out);
    said_whose(w.out, b);
    fputs(" ", w.out);
    put_data(w.out, b->said->how, its);
    if (mine->n == its->n && memcmp(mine->first, its->first, sizeof mine->first) == 0)
        fputs(", of other types", w.out);
    fputs(": ", w.out);
    said_call(w.out, b);
    said_tell(&w, b, KU_FAULT_COLL_DATA, other_types ? e->type_name : e->count_name);
}

static const struct MPIR_Expected *expected_of(const struct MPIR_Coll_own *own, int to, int32_t source,
                                               int32_t nth)
{
    for (const struct MPIR_Expected *e = own->expected; e < own->expected + own->n; e++)
        if (e->to == to && e->source == source && e->nth == nth)
            return e;
    return NULL;
}

bool MPIR_Coll_compare(const struct MPIR_Coll_own *own, const MPIR_Comm *comm, const char *on, uint32_t seq,
                       int to, int32_t source, const struct MPIR_Said *said, uint32_t module, uint32_t offset)
{
    const struct said_both b = { own, comm, said, on, to, source, module, offset };
    const struct MPIR_Expected *e = expected_of(own, to, source, said->nth);
    if (own->is.number != said->number) {
        tell_calls(&b, seq);
        return false;
    }
    if (!e)
        return true;
    if (own->rooted && to != SAID_TO_PARTNER && !roots_fit(&b)) {
        tell_roots(&b);
        return true;
    }
    if (to != SAID_TO_PARTNER && own->is.op && said->op && own->is.op != said->op)
        tell_ops(&b);
    if (to == SAID_TO_NEXT && own->all_in_place && (own->is.how ^ said->how) & SAID_IN_PLACE)
        tell_in_place(&b);
    if (e->how & said->how & SAID_DATA && !data_fit(&e->data, &said->data))
        tell_data(&b, e);
    else if (to == SAID_TO_NEXT && own->is.counts && said->counts && own->is.counts != said->counts)
        tell_counts(&b);
    return true;
}
