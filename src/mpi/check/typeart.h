/* SPDX-License-Identifier: BSD-3-Clause */
/* typeart.h: what memory is of, where the program was compiled with TypeART, whose runtime knows the type of each
 * allocation.  The runtime is looked for by name; nothing of it is needed to build Keel. */
#ifndef MPIR_TYPEART_H
#define MPIR_TYPEART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An allocation: `count` elements of a type. */
struct MPIR_Typeart_block {
    const char *base;
    int type;
    size_t count, size; /* size: of an element */
};

/* What lies at a byte of an element. */
struct MPIR_Typeart_leaf {
    int type; /* a basic one */
    char is;  /* 'i': an integer, 'f': a floating number, 'l': a truth, 'P': an address; '?': not known */
    size_t size, offset; /* of a number; of the byte in the basic type */
    size_t rest;         /* bytes from here of the same */
    bool padding;        /* it is between members */
};

bool MPIR_Typeart_begin(void); /* false: there is no such runtime in the process */
/* False: it does not know the address. */
bool MPIR_Typeart_block_at(const void *at, struct MPIR_Typeart_block *b);
/* False: nothing is known of the type. */
bool MPIR_Typeart_leaf_at(const struct MPIR_Typeart_block *b, size_t offset, struct MPIR_Typeart_leaf *leaf);
const char *MPIR_Typeart_name(int type); /* never NULL */
/* Where it was allocated, as MPID_Caller tells it; 0: not known. */
uint64_t MPIR_Typeart_allocated(const struct MPIR_Typeart_block *b);

#endif
