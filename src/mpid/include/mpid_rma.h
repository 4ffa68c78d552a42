/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_rma.h: memory of other processes, and memory that processes of a node share (mpid.h). */
#ifndef KEEL_MPID_RMA_H
#define KEEL_MPID_RMA_H

#include "mpid_base.h"

struct MPID_JOINT; /* mpid_others.h */

/* ---- Memory of other processes (extension) --------------------------------------------------- */

/* Memory of other processes.  A process registers memory and gives its key to others by whatever message; they
 * open the key and then put, get and update.  Where the device can, it does so without a call in the process that
 * owns the memory; else that executes packets, whenever it is in a call of this interface.
 *
 * Operations are asynchronous, of any length, and any number of them may be under way.  None is ordered with
 * another, nor with messages.  Each counts in a completion: put is complete when the memory at `from` may be
 * written again, get and atomic when the data are there.  MPID_Mem_flush is complete when all puts to that process
 * that were begun before are done in its memory.  (An atomic that is complete is.) What the process refuses that
 * executes packets (the memory is not registered any more, or the key was made up) fails with MPI_ERR_RMA_RANGE:
 * get and atomic themselves, put by the next flush. Operations with a process that is lost fail with
 * MPID_Gone_class(). */
typedef struct MPID_MEMORY *MPID_Memory; /* of this process */
typedef struct MPID_REMOTE *MPID_Remote; /* of a process, by its key */
enum { MPID_KEY_MAX = 2400 };
struct MPID_COMPLETION {
    int64_t pending; /* operations that are not complete */
    int32_t error;   /* class of the first that failed since the caller has set it to 0 */
    int32_t rank;    /* in the job: whose memory that was */
    /* Called when pending falls to 0, within whatever call; may begin operations, and not wait.  NULL: nobody is. */
    void (*done)(struct MPID_COMPLETION *completion);
    void *own; /* the caller's */
};
/* Register len > 0 bytes.  NULL: *error_code says why. */
MPID_Memory MPID_Mem_register(void *base, int64_t len, int *error_code);
/* Operations of others on it must have ended: it waits only until nothing reads it any more. */
void MPID_Mem_unregister(MPID_Memory memory);
/* The key: writes at most cap bytes, returns how many there are, at most MPID_KEY_MAX. */
int64_t MPID_Mem_key(MPID_Memory memory, void *key, int64_t cap);
/* grank: whose memory it is, by this process's numbers: a key that another job's process has made tells its rank
 * there. */
MPID_Remote MPID_Mem_open(int32_t grank, const void *key, int64_t len, int *error_code);
void MPID_Mem_close(MPID_Remote remote); /* operations on it have ended */
/* What the device does itself of operations on that memory, as far as it has not refused one: bits; 0: all goes by
 * packets. */
enum MPID_MEM_WAY {
    MPID_MEM_DEVICE = 1,  /* put and get, */
    MPID_MEM_UNAIDED = 2, /* while the target is in no call */
    MPID_MEM_ATOMIC = 4   /* some atomics, too */
};
int MPID_Mem_way(MPID_Remote remote);
/* The same of whatever memory of a rank in the job (0 also if it cannot be reached), and, -1, of any rank on
 * another node. */
int MPID_Mem_way_to(int rank);
/* Where this process may load and store by itself, until the remote is closed; NULL: it cannot. */
void *MPID_Mem_share(MPID_Remote remote);
void MPID_Put(MPID_Remote remote, int64_t offset, const void *from, int64_t len,
              struct MPID_COMPLETION *completion, int *error_code);
void MPID_Get(MPID_Remote remote, int64_t offset, void *to, int64_t len, struct MPID_COMPLETION *completion,
              int *error_code);
/* Update the element at `offset`, aligned to its size in the memory there, as one step in the sight of all such
 * updates of it by whatever process, and of keel_atomic.  The operand and what is compared with are read in the
 * call; `result` (may be NULL) gets the old value. */
void MPID_Atomic(MPID_Remote remote, int64_t offset, enum keel_atomic_op op, enum keel_atomic_type type,
                 const void *operand, const void *compare, void *result, struct MPID_COMPLETION *completion,
                 int *error_code);
void MPID_Mem_flush(MPID_Remote remote, struct MPID_COMPLETION *completion, int *error_code);
/* Until nothing is pending; the error is that of the completion. */
void MPID_Mem_wait(struct MPID_COMPLETION *completion, int *error_code);

/* Memory that the processes of a node share: zeroed blocks whose names (0: none) mean the same in all of them.
 * Who was told a name maps the block, and unmaps it when it is done; then one of them frees it.  `in`: the joint
 * segment in which the block is (MPID_Joint_of); NULL: it is of this job. */
uint64_t MPID_Shared_alloc(struct MPID_JOINT *in, int64_t bytes, int *error_code);
void *MPID_Shared_map(struct MPID_JOINT *in, uint64_t block,
                      int *error_code); /* NULL: *error_code says why */
void MPID_Shared_unmap(struct MPID_JOINT *in, uint64_t block);
void MPID_Shared_free(struct MPID_JOINT *in, uint64_t block);
/* Block until *word, in such a block, is no longer `is`; drives the devices meanwhile.  Whoever changes the word
 * wakes with MPID_Word_wake, unless it knows that nobody waits.  False: something else has happened, perhaps a
 * process is lost. */
bool MPID_Word_wait(_Atomic uint32_t *word, uint32_t is);
void MPID_Word_wake(_Atomic uint32_t *word);
/* A process of this node that sleeps in a blocking call looks again. */
void MPID_Node_wake(int32_t grank);
/* A fence in all processes of the node at once: each has made visible what it stored before, and loads nothing
 * from before.  False: the system cannot do that, and nothing was done. */
bool MPID_Show_stores(void);
/* Is the process lost, or has it ended (MPID_Ended)?  Then *error_code says so. */
bool MPID_Lost(int32_t grank, int *error_code);

#endif
