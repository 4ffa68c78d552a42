/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi_wire.h: the wires of src/pmi, for its own files. */
#ifndef PMI_WIRE_H
#define PMI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include "pmi.h"

/* The environment has KEEL_JOB. */
bool pmi_keel_is_there(void);

/* Join through the keel wire; as pmi_init. */
int pmi_keel_init(struct pmi_job *job);

/* Send one record to the launcher; false if there is none, or it is gone.  Works before pmi_keel_init. */
bool pmi_keel_send(enum pmi_record_kind kind, uint32_t value, const void *bytes, size_t len);
/* Would a record go into the launcher's pipe, and at once?  For handlers of signals. */
bool pmi_keel_can_send(const struct ku_seg_head *h);
void pmi_keel_fini(void);
/* The parent of the ranks of the job that this process is started in; 0: in none. */
int pmi_keel_daemon(void);
/* That job, and which of its ranks has started this process; false: none. */
bool pmi_keel_spawner(uint64_t *job, int *rank);

/* Tell of each rank of that job that is lost with its host on which node it was. */
void pmi_keel_lost(void (*lost)(int node));

/* kvs.c: a job that a launcher with a protocol of others has started (server.h). */
bool pmi_kvs_is_there(void);
int pmi_kvs_init(struct pmi_job *job);
/* All ranks call it; afterwards all can ask for this card.  Of a job of another wire, nothing is to be done. */
int pmi_kvs_card(const struct pmi_job *job, const void *bytes, uint32_t len);
/* Get a far rank's card for this node. */
void pmi_kvs_ask(const struct pmi_job *job, struct ku_heap *heap, int32_t rank);
/* Tell the ranks of this node which of them have died.  Of a job of another wire, its launcher does that. */
void pmi_kvs_look(const struct pmi_job *job);
/* False: the job is of another wire. */
bool pmi_kvs_abort(int code, const char *text);
void pmi_kvs_finalized(void);
void pmi_kvs_fini(void);

/* Where job->rank is in the mapped segment: job->local_rank, local_size.  0, or an errno value with a text. */
int pmi_find_seat(struct pmi_job *job);
/* Begin an epoch there. */
int pmi_take_seat(struct pmi_job *job);

/* A job of this process alone; as pmi_init. */
int pmi_singleton_init(struct pmi_job *job);

/* Was this process started as one of several by a launcher that no wire can talk to?  Then ku_err_set with
 * the text. */
int pmi_foreign_check(void);

#endif
