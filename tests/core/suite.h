/* SPDX-License-Identifier: BSD-3-Clause */
/* suite.h: what every device must let the core do: programs of n ranks that use the ADI alone. */
#ifndef TESTS_CORE_SUITE_H
#define TESTS_CORE_SUITE_H

#include "harness.h"

struct suite_test {
    const char *name;
    void (*fn)(void); /* between MPID_Init and MPID_End */
};
extern const struct suite_test suite[];
extern const int suite_n;

void suite_memory(void); /* memory.c */

/* Run all as one rank of a job. */
int suite_rank(int rank, void *arg);

#endif
