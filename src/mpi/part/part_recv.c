/* SPDX-License-Identifier: BSD-3-Clause */
/* part_recv.c: the receiving end of a channel: matched, and its pieces taken. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <string.h>
#include "drive.h"
#include "part.h"

/* ---- Matched ---- */

static bool make_room(struct part_recv *q)
{
    if (q->theirs == 1 || q->their_bytes == 0)
        return true;
    q->in = calloc(1, sizeof *q->in);
    if (q->in)
        q->in->arrived = calloc(bits_words(q->theirs), sizeof(uint64_t));
    if (q->in && q->in->arrived)
        return true;
    free(q->in);
    q->in = NULL;
    MPIR_Part_fail(&q->p, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory to note which of %u partitions have come",
                                   (unsigned)q->theirs));
    return false;
}

static void post_head(struct part_recv *q)
{
    part_irecv(&q->p, &q->in->message, sizeof q->in->message, PART_HEAD, &q->in->head);
}

/* INIT has come. */
static void match(struct part_recv *q)
{
    struct part *p = &q->p;
    if (p->init.errval) {
        MPIR_Part_fail_by(p, &p->init);
        return;
    }
    struct part_init first = part_init_le(p->first);
    p->channel = first.channel;
    q->theirs = first.partitions;
    q->their_bytes = first.bytes;
    q->too_long = q->their_bytes > p->bytes;
    q->matched = make_room(q);
    if (q->in && q->matched)
        post_head(q);
}

/* ---- What comes ---- */

static void acknowledge(struct part_recv *q)
{
    struct part *p = &q->p;
    if (!q->ack_due || !part_done(&p->ack))
        return;
    q->ack_due = false;
    p->ack_value = ku_le32(q->in->pieces);
    part_isend(p, &p->ack_value, sizeof p->ack_value, PART_ACK, &p->ack);
}

static void arrive(struct part_recv *q, uint32_t first, uint32_t count)
{
    bits_fill(q->in->arrived, first, first + count - 1, true);
    q->narrived += count;
}

/* Packed bytes [at, at + bytes) of the message, to where they belong. */
static void unpack(const struct part_recv *q, int64_t at, const char *data, int64_t bytes)
{
    const struct part *p = &q->p;
    if (!q->too_long)
        MPID_Layout_unpack(&p->type->adi, p->buf, p->n * p->count, at, data, bytes);
}

/* Wait for the data of a piece: in place if its bounds are those of elements. */
static void post_data(struct part_recv *q, struct part_slot *slot)
{
    struct part *p = &q->p;
    const struct MPIR_DATATYPE *t = &p->type->adi;
    int64_t at = slot->at, bytes = slot->bytes;
    slot->kept = NULL;
    if (q->too_long)
        part_irecv(p, NULL, 0, PART_DATA, &slot->request);
    else if (t->as_bytes)
        part_irecv(p, p->buf + at, bytes, PART_DATA, &slot->request);
    else if (at % t->size == 0 && bytes % t->size == 0)
        MPIR_P2p_irecv(p->buf + at / t->size * t->extent, bytes / t->size, p->type, p->peer,
                       part_tag(p->channel, PART_DATA), p->comm, MPID_CONTEXT_PART, &slot->request);
    else if ((slot->kept = malloc((size_t)bytes)))
        part_irecv(p, slot->kept, bytes, PART_DATA, &slot->request);
    else {
        MPIR_Part_fail(
            p, MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %lld bytes of a message", (long long)bytes));
        part_irecv(p, NULL, 0, PART_DATA, &slot->request);
    }
}

/* A message that no sender of this library would send. */
static bool is_odd(const struct part_recv *q, struct part_head h, int64_t bytes, int64_t len)
{
    int64_t each = q->their_bytes / q->theirs;
    return len < (int64_t)sizeof h || h.count == 0 || h.first >= q->theirs || h.count > q->theirs - h.first ||
           bytes + q->in->split > h.count * each ||
           (len != (int64_t)sizeof h && len != (int64_t)sizeof h + bytes);
}

/* HEAD has come: note its piece, or take it if the data are in it. */
static void take_piece(struct part_recv *q)
{
    struct part_pieces *in = q->in;
    struct part_head h = part_head_le(in->message.head);
    int64_t bytes = (int64_t)(h.bytes & ~(PART_MORE | PART_ASKED)), len = in->head.s.count,
            at = h.first * (q->their_bytes / q->theirs) + in->split;
    bool more = h.bytes & PART_MORE;
    if (is_odd(q, h, bytes, len)) {
        MPIR_Part_fail(&q->p,
                       MPIR_Err(MPI_ERR_INTERN, NULL, "a piece of a partitioned message makes no sense"));
        return;
    }
    in->pieces++;
    in->split = more ? in->split + bytes : 0;
    if (!more)
        q->nannounced += h.count;
    if (len > (int64_t)sizeof h) {
        unpack(q, at, in->message.data, bytes);
        arrive(q, h.first, h.count);
        q->p.stamp = in->head.is_complete;
    } else {
        struct part_slot *slot = &in->slot[(in->slot_first + in->nslots++) % PART_SLOTS];
        slot->first = h.first;
        slot->count = h.count;
        slot->at = at;
        slot->bytes = bytes;
        slot->more = more;
        post_data(q, slot);
    }
    q->ack_due |= (h.bytes & PART_ASKED) != 0;
    acknowledge(q);
}

/* The first piece of a round says that it does not come as a whole. */
static bool withdraw_whole(struct part_recv *q)
{
    MPID_Cancel(&q->p.whole);
    q->cut = part_done(&q->p.whole) && q->p.whole.s.cancelled;
    return q->cut;
}

static bool take_heads(struct part_recv *q)
{
    struct part_pieces *in = q->in;
    bool moved = false;
    while (part_done(&in->head) && !q->p.err && q->nannounced < q->theirs && in->nslots < PART_SLOTS) {
        if (in->head.errval) {
            MPIR_Part_fail_by(&q->p, &in->head);
            break;
        }
        if (!q->cut && !withdraw_whole(q))
            break;
        moved = true;
        take_piece(q);
        post_head(q);
    }
    return moved;
}

static bool retire_data(struct part_recv *q)
{
    struct part_pieces *in = q->in;
    bool moved = false;
    while (in->nslots > 0 && part_done(&in->slot[in->slot_first].request)) {
        struct part_slot *slot = &in->slot[in->slot_first];
        if (slot->request.errval && !q->too_long)
            MPIR_Part_fail_by(&q->p, &slot->request);
        else if (slot->kept)
            unpack(q, slot->at, slot->kept, slot->bytes);
        if (!slot->more)
            arrive(q, slot->first, slot->count);
        q->p.stamp = slot->request.is_complete;
        free(slot->kept);
        in->slot_first = (in->slot_first + 1) % PART_SLOTS;
        in->nslots--;
        moved = true;
    }
    return moved;
}

/* ---- Rounds ---- */

static void post_whole(struct part_recv *q)
{
    struct part *p = &q->p;
    q->posted = true;
    MPIR_P2p_irecv(p->buf, q->too_long ? 0 : p->n * p->count, p->type, p->peer,
                   part_tag(p->channel, PART_WHOLE), p->comm, MPID_CONTEXT_WHOLE, &p->whole);
}

static void take_whole(struct part_recv *q)
{
    struct part *p = &q->p;
    q->whole = true;
    if (p->whole.errval && !(q->too_long && p->whole.errval == MPI_ERR_TRUNCATE))
        MPIR_Part_fail_by(p, &p->whole);
    p->stamp = p->whole.is_complete;
}

static bool part_recv_is_over(struct part_recv *q)
{
    if (q->p.err && q->posted && !q->cut)
        MPID_Cancel(&q->p.whole);
    if (q->in && q->in->nslots > 0)
        return false;
    return q->whole || (q->p.err && part_done(&q->p.whole)) || (q->cut && q->narrived == q->theirs);
}

static void part_recv_finish(struct part_recv *q)
{
    struct part *p = &q->p;
    if (q->too_long)
        MPIR_Part_fail(
            p, MPIR_Err(MPI_ERR_TRUNCATE, NULL,
                        "the partitions of the send from rank %d with tag %d have %lld bytes in all, those "
                        "of the receive have %lld; expected at least as many",
                        p->peer, p->tag, (long long)q->their_bytes, (long long)p->bytes));
    p->request->s.MPI_SOURCE = p->peer;
    p->request->s.MPI_TAG = p->tag;
    p->request->s.MPI_ERROR = 0;
    p->request->s.cancelled = 0;
    p->request->s.count = q->matched && !q->too_long ? q->their_bytes : p->bytes;
    MPIR_Part_complete(p);
}

bool MPIR_Part_recv_advance(struct part_recv *q)
{
    struct part *p = &q->p;
    bool moved = false;
    if (q->ack_due)
        acknowledge(q);
    if (!p->active)
        return false;
    if (!q->matched && !p->err) {
        if (!part_done(&p->init))
            return false;
        match(q);
        moved = true;
    }
    if (q->matched && !q->posted)
        post_whole(q);
    if (q->posted && !q->cut && !q->whole && part_done(&p->whole))
        take_whole(q);
    if (q->in && q->matched && !q->whole)
        for (bool more = true; more; moved |= more) {
            more = take_heads(q);
            more |= retire_data(q);
        }
    if (part_recv_is_over(q))
        part_recv_finish(q);
    return moved || !p->active;
}

static int part_recv_start(MPIR_Request *r)
{
    struct part_recv *q = r->aux;
    struct part *p = &q->p;
    if (p->peer == MPI_PROC_NULL) {
        MPIR_Status_proc_null(&r->s);
        atomic_store_explicit(&r->is_complete, 1, memory_order_release);
        return 0;
    }
    if (p->quiet)
        MPIR_Part_announce(p);
    if (q->cut)
        memset(q->in->arrived, 0, bits_words(q->theirs) * sizeof(uint64_t));
    if (p->copies)
        MPIR_Copies_move(p->copies, MPIR_COPY_IN, 0, -1);
    q->posted = q->cut = q->whole = false;
    q->nannounced = q->narrived = 0;
    p->err = 0;
    p->stamp = 0;
    p->active = true;
    MPIR_Part_list(p);
    if (MPIR_Part_enter()) {
        if (q->matched && !q->ack_due && !(q->in && part_done(&q->in->head)))
            post_whole(q);
        if (!q->posted || part_done(&p->whole))
            MPIR_Part_recv_advance(q);
        MPIR_Part_leave();
    }
    return 0;
}

void MPIR_Part_recv_free(struct part_recv *q)
{
    if (!q->in)
        return;
    if (!part_done(&q->in->head))
        MPID_Cancel(&q->in->head);
    free(q->in->arrived);
    free(q->in);
}

static void part_recv_poll_nothing(MPIR_Request *r)
{
    (void)r; /* whoever polls has looked at the devices before, which advances it */
}

/* The round may come as a whole: then it is over with that. */
static bool wait_soon(MPIR_Request *r)
{
    struct part_recv *q = r->aux;
    bool come;
    if (!q->posted || q->cut || q->p.err || !MPIR_Part_pause())
        return false;
    come = MPID_Recv_soon(&q->p.whole, 0);
    MPIR_Drive_resume();
    if (!come || !MPIR_Part_enter())
        return false;
    if (q->ack_due)
        acknowledge(q);
    take_whole(q);
    part_recv_finish(q);
    MPIR_Part_leave();
    return true;
}

static void part_recv_explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct part *)r->aux)->words;
}

static int cancel(MPIR_Request *r)
{
    (void)r;
    return MPIR_Err(MPI_ERR_REQUEST, "request", "is of a partitioned receive, which cannot be cancelled");
}

static int may_go(const MPIR_Request *r)
{
    if (!MPIR_Request_is_active(r))
        return 0;
    return MPIR_Err(
        MPI_ERR_REQUEST, "request",
        "is of a partitioned receive that has been started; expected one that is completed first");
}

const struct MPIR_Request_ops MPIR_Part_recv_ops = { .poll = part_recv_poll_nothing,
                                                     .wait_soon = wait_soon,
                                                     .free = MPIR_Part_close,
                                                     .explain = part_recv_explain,
                                                     .cancel = cancel,
                                                     .start = part_recv_start,
                                                     .may_go = may_go,
                                                     .copies = MPIR_Part_copies };

void MPIR_Part_recv_announce(struct part *p)
{
    MPIR_P2p_irecv(&p->first, sizeof p->first, NULL, p->peer, p->tag, p->comm, MPID_CONTEXT_PART, &p->init);
}

/* ---- MPI_Parrived ---- */

/* Have all bytes of this partition come?  If the send is shorter than the receive they never do in
 * its last ones, which are complete with the whole operation. */
static bool has_arrived(const struct part_recv *q, uint32_t partition)
{
    const struct part *p = &q->p;
    int64_t mine = p->bytes / p->n, theirs = q->theirs ? q->their_bytes / q->theirs : 0;
    if (!p->active)
        return true;
    if (!q->cut || q->too_long)
        return false;
    if ((partition + 1) * mine > q->their_bytes)
        return false;
    uint32_t low = (uint32_t)(partition * mine / theirs),
             high = (uint32_t)(((partition + 1) * mine - 1) / theirs);
    return bits_find(q->in->arrived, low, high, false) > high;
}

int MPIR_Parrived(MPIR_Request *request, int partition, int *flag)
{
    bool part = request && request->handle_type == MPIR_PART;
    *flag = 1;
    if (!request)
        return 0;
    if (!part || MPIR_Request_ops_of(request) != &MPIR_Part_recv_ops)
        return MPIR_Err(MPI_ERR_REQUEST, "request", "is of %s; expected one of MPI_Precv_init",
                        part ? "a partitioned send" : "an operation that is not partitioned");
    struct part_recv *q = request->aux;
    if (partition < 0 || (uint32_t)partition >= q->p.n)
        return MPIR_Part_no_such(&q->p, partition, "partition");
    *flag = has_arrived(q, (uint32_t)partition);
    if (!*flag) {
        MPID_DeviceCheck(MPID_NOTBLOCKING);
        *flag = has_arrived(q, (uint32_t)partition);
    }
    if (q->p.copies && *flag && q->p.active)
        MPIR_Part_copy(&q->p, MPIR_COPY_OUT, (uint32_t)partition, (uint32_t)partition);
    return 0;
}
