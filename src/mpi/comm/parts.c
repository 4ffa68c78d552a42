/* SPDX-License-Identifier: BSD-3-Clause */
/* parts.c: communicators of some members of another one that no program sees, made without blocking: first all
 * agree on their contexts, then that each has been able to use them. */
#include "agree.h"
#include "mpi_err.h"
#include "make.h"
#include <stdlib.h>

struct MPIR_Parts {
    struct context_vote vote;
    struct agree confirm;
    bool confirms;
    MPIR_Comm *comm, *part[MPIR_PARTS];
};

static void parts_release(struct MPIR_Parts *m)
{
    for (int i = 0; i < MPIR_PARTS; i++)
        if (m->part[i])
            MPIR_Comm_release(m->part[i]);
}

/* There is no memory to wait for the others later: tell them now, which blocks until they have come. */
static struct MPIR_Parts *parts_refuse(const struct party *p)
{
    struct context_vote v;
    struct context_ask ask = { .err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for communicators of parts"),
                               .ids = MPIR_PARTS };
    MPIR_Context_agree(&v, p, &ask);
    return NULL;
}

struct MPIR_Parts *MPIR_Parts_begin(MPIR_Comm *comm, int tag, MPIR_Group *const groups[MPIR_PARTS], int err)
{
    struct party p = MPIR_Agree_party(comm, MPID_CONTEXT_COLL, tag);
    struct MPIR_Parts *m = calloc(1, sizeof *m);
    if (!m)
        return parts_refuse(&p);
    m->comm = comm;
    for (int i = 0; i < MPIR_PARTS && !err; i++)
        if (groups[i])
            err = MPIR_Comm_prepare(comm, groups[i], NULL, &m->part[i]);
    struct context_ask ask = { .err = err, .ids = MPIR_PARTS };
    MPIR_Context_begin(&m->vote, &p, &ask);
    return m;
}

/* They have their contexts; can all members use theirs? */
static void parts_start(struct MPIR_Parts *m)
{
    int err = 0;
    for (int i = 0; i < MPIR_PARTS && !err; i++)
        if (m->part[i]) {
            m->part[i]->no_handle = true;
            err = MPIR_Comm_start(m->comm, m->part[i], &m->vote.context[i]);
        }
    struct party p = m->vote.agree.party;
    m->confirm.value[AGREE_ERROR] = agree_error(&p, err);
    MPIR_Agree_begin(&m->confirm, &p, AGREE_FIRST);
    m->confirms = true;
}

bool MPIR_Parts_step(struct MPIR_Parts *m, MPIR_Comm *parts[MPIR_PARTS], int *err)
{
    if (!m->confirms) {
        if (!MPIR_Context_step(&m->vote))
            return false;
        if (!m->vote.err)
            parts_start(m);
    }
    if (m->confirms && !MPIR_Agree_step(&m->confirm))
        return false;
    *err = m->vote.err ? m->vote.err : MPIR_Agree_result(&m->confirm);
    if (*err)
        parts_release(m);
    for (int i = 0; i < MPIR_PARTS; i++)
        parts[i] = *err ? NULL : m->part[i];
    free(m);
    return true;
}
