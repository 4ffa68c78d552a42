/* SPDX-License-Identifier: BSD-3-Clause */
/* check_words.h: what checks that compare types write of them, and of places in other processes. */
#ifndef MPIR_CHECK_WORDS_H
#define MPIR_CHECK_WORDS_H

#include <stdbool.h>
#include <stdio.h>
#include "mpid.h"
#include "tell.h"

/* "100 MPI_INT", "MPI_INT, MPI_DOUBLE, ...", "nothing" */
void MPIR_Words_signature(FILE *out, const struct MPID_Signature *s);
const char *MPIR_Words_basic(uint8_t basic);
/* A place that another process has named (signatures.h): one of this process; `else_at` where its program is
 * another. */
void MPIR_Words_place(FILE *out, uint32_t module, uint32_t offset, uint64_t else_at);

/* What is wrong is written to `out`, then told as MPIR_Check_tell does. */
struct MPIR_Words {
    FILE *out;
    char *text;
    size_t bytes;
};
bool MPIR_Words_begin(struct MPIR_Words *w); /* false: without memory */
void MPIR_Words_tell(struct MPIR_Words *w, enum ku_fault_kind kind, const char *call, const char *argument,
                     uint64_t here, uint64_t there);

#endif
