/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_memory.c: memory that the processes of a node have in common, for the layer above: blocks of the
 * segment's heap, and waiting for a word in one of them.
 *
 * Who waits for a word looks at the devices meanwhile, and sleeps on its own word and on that one together; where
 * it cannot (it has to sleep in poll, or the kernel is too old) it sleeps for a millisecond at a time. */
#include "core.h"
#include "joint.h"

static int no_block(int *error_code, int64_t bytes)
{
    char why[sizeof ku_err_last()->text];
    snprintf(why, sizeof why, "%s", ku_err_last()->text);
    *error_code =
        ku_err_set(MPI_ERR_NO_MEM, NULL, "no %lld bytes of shared memory: %.200s", (long long)bytes, why);
    return 0;
}

static struct ku_heap *heap_of(struct MPID_JOINT *in)
{
    return in != NULL ? MPID_Joint_heap(in) : &MPID_core.heap;
}

uint64_t MPID_Shared_alloc(struct MPID_JOINT *in, int64_t bytes, int *error_code)
{
    struct ku_heap *h = heap_of(in);
    ku_block b = h != NULL ? ku_heap_alloc(h, bytes > 0 ? (uint64_t)bytes : 1) : 0;
    return b != 0 ? b : (uint64_t)no_block(error_code, bytes);
}

void *MPID_Shared_map(struct MPID_JOINT *in, uint64_t block, int *error_code)
{
    struct ku_heap *h = heap_of(in);
    void *at = h != NULL ? ku_heap_map(h, block) : NULL;
    if (at == NULL)
        no_block(error_code, 0);
    return at;
}

/* Of a block that has been mapped: the heap is there. */
void MPID_Shared_unmap(struct MPID_JOINT *in, uint64_t block)
{
    ku_heap_unmap(heap_of(in), block);
}

void MPID_Shared_free(struct MPID_JOINT *in, uint64_t block)
{
    ku_heap_free(heap_of(in), block);
}

bool MPID_Word_wait(_Atomic uint32_t *word, uint32_t is)
{
    struct ku_wait w = { 0 };
    int met = 0;
    int32_t lost = MPID_core.peers.losses; /* of other jobs, too */
    while (atomic_load_explicit(word, memory_order_acquire) == is && met == 0 &&
           lost == MPID_core.peers.losses)
        if (MPID_Progress() > 0) {
            ku_wait_reset(&w);
        } else {
            MPID_core.word = (struct core_word){ word, is };
            met = MPID_Wait_step(&w, NULL); /* also when a process has been lost */
            MPID_core.word = (struct core_word){ NULL, 0 };
        }
    return met == 0;
}

void MPID_Word_wake(_Atomic uint32_t *word)
{
    ku_wait_wake_all(word);
}

void MPID_Node_wake(int32_t grank)
{
    int32_t local = grank < MPID_core.job.size ? dev_local_of(&MPID_core.world, grank) : -1;
    if (grank >= MPID_core.job.size)
        MPID_Joint_wake(grank);
    if (local >= 0)
        ku_wait_wake(&ku_segment_rank(&MPID_core.job.segment, (uint32_t)local)->sleeping, true);
}

bool MPID_Show_stores(void)
{
    return ku_wait_show_all_stores(
        atomic_load_explicit(&MPID_core.job.segment.head->fence_all, memory_order_relaxed));
}

bool MPID_Lost(int32_t grank, int *error_code)
{
    bool lost = peer_gone(grank) || (grank < MPID_core.job.size &&
                                     atomic_load(&ku_segment_gone(&MPID_core.job.segment)[grank]) != 0);
    if (lost)
        *error_code = MPID_Err_gone(grank);
    return lost;
}
