/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_pairs.c: the layouts of pairs of a value and an int, as the C compiler lays out the struct.  In memory
 * the data ends with the int; between the two there may be a gap (short).  Static: their reference counts never
 * reach 0. */
#include <stddef.h>
#include "mpid.h"
#include "mpid/datatype/layout.h"

#define PAIR(NAME, VALUE) \
    struct struct_##NAME { \
        VALUE value; \
        int index; \
    }; \
    static int64_t off_##NAME[] = { 0, offsetof(struct struct_##NAME, index) }; \
    static int64_t start_##NAME[] = { 0, sizeof(VALUE), sizeof(VALUE) + sizeof(int) }; \
    static struct MPID_LIST list_##NAME = { .refs = 1, \
                                            .kind = MPID_LIST_RUNS, \
                                            .n = 2, \
                                            .bytes = sizeof(VALUE) + sizeof(int), \
                                            .block = \
                                                sizeof(VALUE) > sizeof(int) ? sizeof(VALUE) : sizeof(int), \
                                            .off = off_##NAME, \
                                            .start = start_##NAME }; \
    struct MPID_LAYOUT MPID_Layout_##NAME = { \
        .refs = 1, \
        .runs = offsetof(struct struct_##NAME, index) == sizeof(VALUE) ? 1 : 2, \
        .size = sizeof(VALUE) + sizeof(int), \
        .leaf = sizeof(VALUE) + sizeof(int), \
        .list = offsetof(struct struct_##NAME, index) == sizeof(VALUE) ? NULL : &list_##NAME \
    };

PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(2int, int)
PAIR(short_int, short)
PAIR(long_double_int, long double)
