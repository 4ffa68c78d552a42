/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_types.h: the check of datatypes against the types of memory; it begins and ends with the library. */
#ifndef MPIR_MEMORY_TYPES_H
#define MPIR_MEMORY_TYPES_H

void MPIR_Memory_types_begin(void);
void MPIR_Memory_types_end(void);

#endif
