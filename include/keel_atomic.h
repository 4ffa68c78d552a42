/* SPDX-License-Identifier: BSD-3-Clause */
/* keel_atomic.h: updates of one element of memory as one step, by the processor (installed; mpid.h and device.h
 * need it).
 *
 * All updates that go through keel_atomic, in whatever process that has the memory mapped, are one step to each
 * other and to the processor's atomic instructions. */
#ifndef KEEL_ATOMIC_H
#define KEEL_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum keel_atomic_op {
    KEEL_ATOMIC_FETCH, /* only the old value: the operand is not looked at */
    KEEL_ATOMIC_REPLACE,
    KEEL_ATOMIC_SUM,
    KEEL_ATOMIC_PROD,
    KEEL_ATOMIC_MIN,
    KEEL_ATOMIC_MAX,
    KEEL_ATOMIC_AND,
    KEEL_ATOMIC_OR,
    KEEL_ATOMIC_XOR,
    KEEL_ATOMIC_COMPARE_SWAP, /* the operand takes the place of what equals `compare` */
    KEEL_ATOMIC_OPS
};
enum keel_atomic_type {
    KEEL_INT8,
    KEEL_INT16,
    KEEL_INT32,
    KEEL_INT64,
    KEEL_UINT8,
    KEEL_UINT16,
    KEEL_UINT32,
    KEEL_UINT64,
    KEEL_FLOAT,
    KEEL_DOUBLE,
    KEEL_ATOMIC_TYPES
};

static inline size_t keel_atomic_bytes(enum keel_atomic_type type)
{
    static const uint8_t bytes[KEEL_ATOMIC_TYPES] = { 1, 2, 4, 8, 1, 2, 4, 8, 4, 8 };
    return bytes[type];
}

/* Is there such an update?  Floating types have FETCH, REPLACE, SUM, PROD, MIN, MAX. */
static inline bool keel_atomic_has(enum keel_atomic_op op, enum keel_atomic_type type)
{
    return (unsigned)op < KEEL_ATOMIC_OPS && (unsigned)type < KEEL_ATOMIC_TYPES &&
           (type < KEEL_FLOAT || op <= KEEL_ATOMIC_MAX);
}

static inline int64_t keel_atomic_signed(uint64_t bits, size_t bytes)
{
    unsigned unused = 64 - 8 * (unsigned)bytes;
    return (int64_t)(bits << unused) >> unused;
}

static inline uint64_t keel_atomic_new_int(enum keel_atomic_op op, enum keel_atomic_type type, uint64_t old,
                                           uint64_t operand, uint64_t compare)
{
    size_t n = keel_atomic_bytes(type);
    bool less =
        type < KEEL_UINT8 ? keel_atomic_signed(operand, n) < keel_atomic_signed(old, n) : operand < old;
    switch (op) {
    case KEEL_ATOMIC_REPLACE:
        return operand;
    case KEEL_ATOMIC_SUM:
        return old + operand;
    case KEEL_ATOMIC_PROD:
        return old * operand;
    case KEEL_ATOMIC_MIN:
        return less ? operand : old;
    case KEEL_ATOMIC_MAX:
        return less ? old : operand;
    case KEEL_ATOMIC_AND:
        return old & operand;
    case KEEL_ATOMIC_OR:
        return old | operand;
    case KEEL_ATOMIC_XOR:
        return old ^ operand;
    case KEEL_ATOMIC_COMPARE_SWAP:
        return old == compare ? operand : old;
    default:
        return old;
    }
}

static inline double keel_atomic_new_double(enum keel_atomic_op op, double old, double operand)
{
    switch (op) {
    case KEEL_ATOMIC_REPLACE:
        return operand;
    case KEEL_ATOMIC_SUM:
        return old + operand;
    case KEEL_ATOMIC_PROD:
        return old * operand;
    case KEEL_ATOMIC_MIN:
        return operand < old ? operand : old;
    case KEEL_ATOMIC_MAX:
        return old < operand ? operand : old;
    default:
        return old;
    }
}

/* Bits of one element, in the low bytes. */
static inline uint64_t keel_atomic_read(const void *at, size_t bytes)
{
    uint8_t b1;
    uint16_t b2;
    uint32_t b4;
    uint64_t b8;
    switch (bytes) {
    case 1:
        return memcpy(&b1, at, 1), b1;
    case 2:
        return memcpy(&b2, at, 2), b2;
    case 4:
        return memcpy(&b4, at, 4), b4;
    default:
        return memcpy(&b8, at, 8), b8;
    }
}
static inline void keel_atomic_write(void *at, uint64_t bits, size_t bytes)
{
    uint8_t b1 = (uint8_t)bits;
    uint16_t b2 = (uint16_t)bits;
    uint32_t b4 = (uint32_t)bits;
    memcpy(at,
           bytes == 1   ? (void *)&b1
           : bytes == 2 ? (void *)&b2
           : bytes == 4 ? (void *)&b4
                        : (void *)&bits,
           bytes);
}

static inline uint64_t keel_atomic_new(enum keel_atomic_op op, enum keel_atomic_type type, uint64_t old,
                                       uint64_t operand, uint64_t compare)
{
    uint64_t bits = 0;
    if (type == KEEL_FLOAT) {
        float a, b, r; /* single arithmetic: sums of doubles would round otherwise */
        memcpy(&a, &(uint32_t){ (uint32_t)old }, 4);
        memcpy(&b, &(uint32_t){ (uint32_t)operand }, 4);
        r = op == KEEL_ATOMIC_SUM    ? a + b
            : op == KEEL_ATOMIC_PROD ? a * b
                                     : (float)keel_atomic_new_double(op, a, b);
        bits = keel_atomic_read(&r, 4);
    } else if (type == KEEL_DOUBLE) {
        double a, b, r;
        memcpy(&a, &old, 8);
        memcpy(&b, &operand, 8);
        r = keel_atomic_new_double(op, a, b);
        bits = keel_atomic_read(&r, 8);
    } else
        bits = keel_atomic_new_int(op, type, old, operand, compare);
    return bits;
}

static inline uint64_t keel_atomic_load(const void *at, size_t bytes)
{
    switch (bytes) {
    case 1:
        return __atomic_load_n((const uint8_t *)at, __ATOMIC_SEQ_CST);
    case 2:
        return __atomic_load_n((const uint16_t *)at, __ATOMIC_SEQ_CST);
    case 4:
        return __atomic_load_n((const uint32_t *)at, __ATOMIC_SEQ_CST);
    default:
        return __atomic_load_n((const uint64_t *)at, __ATOMIC_SEQ_CST);
    }
}

/* `desired` takes the place of *old; else *old is what is there. */
static inline bool keel_atomic_swap(void *at, size_t bytes, uint64_t *old, uint64_t desired)
{
    uint8_t b1 = (uint8_t)*old;
    uint16_t b2 = (uint16_t)*old;
    uint32_t b4 = (uint32_t)*old;
    bool done;
    switch (bytes) {
    case 1:
        done = __atomic_compare_exchange_n((uint8_t *)at, &b1, (uint8_t)desired, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
        *old = b1;
        return done;
    case 2:
        done = __atomic_compare_exchange_n((uint16_t *)at, &b2, (uint16_t)desired, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
        *old = b2;
        return done;
    case 4:
        done = __atomic_compare_exchange_n((uint32_t *)at, &b4, (uint32_t)desired, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
        *old = b4;
        return done;
    default:
        return __atomic_compare_exchange_n((uint64_t *)at, old, desired, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
    }
}

/* Update the element at `at`, which is aligned to its size, with *operand (and *compare); the old value goes to
 * *result unless that is NULL.  keel_atomic_has(op, type) must be true. */
static inline void keel_atomic(void *at, enum keel_atomic_op op, enum keel_atomic_type type,
                               const void *operand, const void *compare, void *result)
{
    size_t n = keel_atomic_bytes(type);
    uint64_t with = op != KEEL_ATOMIC_FETCH ? keel_atomic_read(operand, n) : 0;
    uint64_t if_is = op == KEEL_ATOMIC_COMPARE_SWAP ? keel_atomic_read(compare, n) : 0;
    uint64_t old = keel_atomic_load(at, n);
    while (op != KEEL_ATOMIC_FETCH &&
           !keel_atomic_swap(at, n, &old, keel_atomic_new(op, type, old, with, if_is)))
        ;
    if (result != NULL)
        keel_atomic_write(result, old, n);
}

#endif
