/* SPDX-License-Identifier: BSD-3-Clause */
/* signatures.h: the check of the types of messages and of their receives; it begins and ends with the library. */
#ifndef MPIR_SIGNATURES_H
#define MPIR_SIGNATURES_H

#include <stdint.h>
#include <stdio.h>

void MPIR_Signatures_begin(void);
void MPIR_Signatures_end(void);

/* check_places.c: places that another process can find again, whatever address its program has there.
 *
 * The digest of the program or library at the address, and the place in that; 0, 0: not known. */
void MPIR_Check_place_of(uint64_t address, uint32_t *module, uint32_t *offset);
/* The address here, if that program or library is loaded here, too; 0: it is not. */
uint64_t MPIR_Check_place_at(uint32_t module, uint32_t offset);

#endif
