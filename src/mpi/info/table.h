/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h: pairs and changes without checks or lock, for the files of this folder. */
#ifndef INFO_TABLE_H
#define INFO_TABLE_H

#include <stdint.h>
#include <stdio.h>
#include "info.h"

struct MPIR_Info_pair {
    struct MPIR_Info_pair *next; /* in the bucket */
    char *value;
    uint32_t hash;
    char key[];
};

/* Set a key; false without memory. */
bool MPIR_Info_put(MPIR_Info *info, const char *key, const char *value);
/* Remove all. */
void MPIR_Info_clear(MPIR_Info *info);

#endif
