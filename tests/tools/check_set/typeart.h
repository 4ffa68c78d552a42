/* SPDX-License-Identifier: BSD-3-Clause */
/* typeart.h: a stand-in for TypeART's runtime, whose table of allocations a test fills. */
#ifndef SET_TYPEART_H
#define SET_TYPEART_H

#include <stddef.h>

enum {
    TYPE_POINTER = 1,
    TYPE_BOOL = 5,
    TYPE_CHAR = 6,
    TYPE_INT32 = 13,
    TYPE_INT64 = 14,
    TYPE_UINT32 = 18,
    TYPE_FLOAT = 23,
    TYPE_DOUBLE = 24,
    TYPE_COMPLEX = 27,   /* of two double */
    TYPE_PARTICLE = 256, /* struct particle */
    TYPE_PAIR,           /* struct pair */
    TYPE_NEST            /* struct nest */
};

struct particle {
    double at[3];
    int id;
    float mass;
};
struct pair {
    int i;
    double d; /* there is a gap before */
};
struct nest {
    struct pair p[2];
    char name[8];
};

/* `count` elements of the type are allocated at this address; 0: they are freed. */
void typeart_set(const void *address, int type, size_t count);

#endif
