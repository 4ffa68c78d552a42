/* comm.h: communicators. */
#ifndef MPIR_COMM_H
#define MPIR_COMM_H

#include "mpid.h"
#include "object.h"
#include "group.h"
#include "errhandler.h"

typedef struct MPIR_Comm {
    struct MPIR_COMMUNICATOR
        adi; /* rank, size, context_id, lrank_to_grank; adi.errhandler is a MPIR_Errhandler * */
    MPIR_Group *group;
    MPIR_Group *remote_group; /* intercommunicators only */
    char name[128];           /* MPI_MAX_OBJECT_NAME */
    uint32_t coll_seq;        /* collectives started: the tag of the next one's messages */
    void *attributes;         /* src/mpi/attr */
    void *bsend;              /* buffer attached to the communicator */
    void *coll;               /* src/mpi/coll's own state */
} MPIR_Comm;

extern MPIR_Comm MPIR_Comm_world, MPIR_Comm_self;

static inline int MPIR_Comm_rank_of(const MPIR_Comm *c)
{
    return c->adi.rank;
}
static inline uint32_t MPIR_Comm_context(const MPIR_Comm *c, int which) /* MPID_CONTEXT_* */
{
    return c->adi.context_id + (uint32_t)which;
}
static inline int32_t MPIR_Comm_grank(const MPIR_Comm *c, int32_t lrank)
{
    return c->adi.lrank_to_grank ? c->adi.lrank_to_grank[lrank] : lrank;
}

/* Set up MPI_COMM_WORLD and MPI_COMM_SELF (init chapter, after MPID_Init) and take them down. */
int MPIR_Comm_init_predefined(void);
void MPIR_Comm_fini_predefined(void);

/* Take and drop references; the last one frees. */
void MPIR_Comm_release(MPIR_Comm *c);

#endif
