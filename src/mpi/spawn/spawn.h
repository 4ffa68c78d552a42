/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.h: what the files of this folder share. */
#ifndef SPAWN_SPAWN_H
#define SPAWN_SPAWN_H

void MPIR_Names_end(void);   /* take back what is still published */
void MPIR_Spawned_end(void); /* forget the jobs that were spawned */

#endif
