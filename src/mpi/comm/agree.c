/* agree.c: the maximum of a few numbers over some processes: up a wide tree, and down again. */
#include "comm.h"
#include "err.h"
#include "p2p.h"

enum {
    RADIX = 16, /* few levels: when ranks share cores, each level costs a turn of the scheduler */
    MAX_WORDS = 24
};

struct party {
    MPIR_Comm *comm;
    MPIR_Group *group;
    int which, tag, words, err;
};

static int32_t local_rank(const struct party *p, int64_t i)
{
    int32_t at = (int32_t)i;
    return p->group ? MPIR_Group_rank_of(p->comm->group, MPIR_Group_grank(p->group, at)) : at;
}

static void note(struct party *p, int err)
{
    if (err && !p->err)
        p->err = err;
}

static void send_to(struct party *p, int64_t i, const uint32_t *values)
{
    note(p, MPIR_P2p_send(values, p->words, MPIR_Datatype_predefined(KEEL_MPI_UINT32_T), local_rank(p, i),
                          p->tag, p->comm, p->which));
}

static void recv_from(struct party *p, int64_t i, uint32_t *values)
{
    note(p, MPIR_P2p_recv(values, p->words, MPIR_Datatype_predefined(KEEL_MPI_UINT32_T), local_rank(p, i),
                          p->tag, p->comm, p->which, NULL));
}

int MPIR_Agree_max(MPIR_Comm *comm, MPIR_Group *group, int which, int tag, uint32_t *values, int words)
{
    struct party p = { comm, group, which, tag, words, 0 };
    int64_t n = group ? group->size : comm->adi.size, me = group ? group->rank : comm->adi.rank;
    int64_t first = me * RADIX + 1, end = first + RADIX < n ? first + RADIX : n;
    uint32_t other[MAX_WORDS] = { 0 };
    for (int64_t i = first; i < end; i++) {
        recv_from(&p, i, other);
        for (int w = 0; w < words; w++)
            values[w] = other[w] > values[w] ? other[w] : values[w];
    }
    if (me > 0) {
        send_to(&p, (me - 1) / RADIX, values);
        recv_from(&p, (me - 1) / RADIX, values);
    }
    for (int64_t i = first; i < end; i++)
        send_to(&p, i, values);
    return p.err;
}
