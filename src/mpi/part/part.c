/* SPDX-License-Identifier: BSD-3-Clause */
/* part.c: partitioned requests, made. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include "part.h"

static int check_size(int partitions, MPI_Count count, const MPIR_Datatype *type)
{
    int64_t bytes;
    if (partitions < 0)
        return MPIR_Err(MPI_ERR_COUNT, "partitions", "is %d; expected 0 or more", partitions);
    if (__builtin_mul_overflow(count, type->adi.size, &bytes) ||
        __builtin_mul_overflow(count, (int64_t)partitions, &bytes) ||
        __builtin_mul_overflow(bytes, type->adi.size, &bytes) || bytes >= (int64_t)(1ull << 62))
        return MPIR_Err(
            MPI_ERR_COUNT, "count",
            "is %lld; %d partitions of so many elements of %lld bytes are more than 2^62 - 1 bytes",
            (long long)count, partitions, (long long)type->adi.size);
    return 0;
}

int MPIR_Part_no_such(const struct part *p, int partition, const char *arg)
{
    if (p->n == 0)
        return MPIR_Err(MPI_ERR_ARG, arg, "is %d; the request has no partitions", partition);
    return MPIR_Err(MPI_ERR_ARG, arg, "is %d; expected 0 to %u", partition, (unsigned)p->n - 1);
}

/* Bytes of a part of this kind. */
static size_t size_of_part(bool sends, int partitions)
{
    return sends ? sizeof(struct part_send) + 3 * bits_words((uint32_t)partitions) * sizeof(uint64_t)
                 : sizeof(struct part_recv);
}

/* For the report on a job that hangs. */
static void part_describe(MPIR_Request *r, const struct part *p)
{
    r->buf = p->buf;
    r->len = p->n * p->count;
    r->tag = p->tag;
    r->rank = p->peer;
    r->peer = p->sends && p->peer != MPI_PROC_NULL ? MPIR_Comm_grank(p->comm, p->peer) : -1;
}

static void part_attach(MPIR_Request *r, struct part *p)
{
    p->closure.ops = p->sends ? &MPIR_Part_send_ops : &MPIR_Part_recv_ops;
    p->request = r;
    atomic_store_explicit(&p->init.is_complete, 1, memory_order_relaxed);
    atomic_store_explicit(&p->whole.is_complete, 1, memory_order_relaxed);
    atomic_store_explicit(&p->ack.is_complete, 1, memory_order_relaxed);
    r->handle_type = MPIR_PART;
    r->aux = p;
    r->datatype = &p->type->adi;
    MPIR_Object_ref(p->type);
    r->obj.flags |= MPIR_REQUEST_PERSISTENT;
    part_describe(r, p);
    MPIR_Request_rest(r);
}

static int part_make(bool sends, void *buf, int partitions, MPI_Count count, MPIR_Datatype *type, int peer,
                     int tag, MPIR_Comm *comm, MPIR_Request **request)
{
    int err = check_size(partitions, count, type);
    MPIR_Request *r = err ? NULL : MPIR_Request_alloc(comm);
    if (!r)
        return err ? err : MPI_ERR_NO_MEM;
    struct part *p = calloc(1, size_of_part(sends, partitions));
    if (!p) {
        MPIR_Request_release(r);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a request of %d partitions", partitions);
    }
    p->sends = sends;
    p->comm = comm;
    p->peer = peer;
    p->tag = tag;
    p->buf = buf;
    p->type = type;
    p->count = count;
    p->n = (uint32_t)partitions;
    p->bytes = partitions * count * type->adi.size;
    part_attach(r, p);
    if (sends)
        MPIR_Part_send_init(p);
    if (peer != MPI_PROC_NULL)
        MPIR_Part_quiet(p);
    *request = r;
    return 0;
}

int MPIR_Psend_init(const void *buf, int partitions, MPI_Count count, MPIR_Datatype *datatype, int dest,
                    int tag, MPIR_Comm *comm, MPIR_Info *info, MPIR_Request **request)
{
    (void)info; /* no key is known yet */
    return part_make(true, (void *)(uintptr_t)buf, partitions, count, datatype, dest, tag, comm, request);
}

int MPIR_Precv_init(void *buf, int partitions, MPI_Count count, MPIR_Datatype *datatype, int dest, int tag,
                    MPIR_Comm *comm, MPIR_Info *info, MPIR_Request **request)
{
    (void)info;
    return part_make(false, buf, partitions, count, datatype, dest, tag, comm, request);
}
