/* shared.c: memory that the processes of a node have in common, for the layer above: blocks of the segment's heap, and waiting for a
 * word in one of them.
 *
 * Who waits for a word looks at the devices meanwhile, and sleeps on its own word and on that one together; where it cannot (it has
 * to sleep in poll, or the kernel is too old) it sleeps for a millisecond at a time. */
#include "core.h"

static int no_block(int *error_code, int64_t bytes)
{
    char why[sizeof ku_err_last()->text];
    snprintf(why, sizeof why, "%s", ku_err_last()->text);
    *error_code =
        ku_err_set(MPI_ERR_NO_MEM, NULL, "no %lld bytes of shared memory: %.200s", (long long)bytes, why);
    return 0;
}

uint64_t MPID_Shared_alloc(int64_t bytes, int *error_code)
{
    ku_block b = ku_heap_alloc(&MPID_core.heap, bytes > 0 ? (uint64_t)bytes : 1);
    return b != 0 ? b : (uint64_t)no_block(error_code, bytes);
}

void *MPID_Shared_map(uint64_t block, int *error_code)
{
    void *at = ku_heap_map(&MPID_core.heap, block);
    if (at == NULL)
        no_block(error_code, 0);
    return at;
}

void MPID_Shared_unmap(uint64_t block)
{
    ku_heap_unmap(&MPID_core.heap, block);
}

void MPID_Shared_free(uint64_t block)
{
    ku_heap_free(&MPID_core.heap, block);
}

bool MPID_Word_wait(_Atomic uint32_t *word, uint32_t is)
{
    struct ku_wait w = { 0 };
    int met = 0;
    while (atomic_load_explicit(word, memory_order_acquire) == is && met == 0)
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
    int32_t local = dev_local_of(&MPID_core.world, grank);
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
