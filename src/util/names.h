/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h: words shared by rows of knobs, counters and events. */
#ifndef KU_NAMES_H
#define KU_NAMES_H

/* Names of the values 0 to n - 1. */
struct ku_names {
    const char *name; /* of the whole, unique */
    int n;
    const char *const *item;
};

/* For whom a row is. */
enum ku_audience { KU_FOR_USERS, KU_FOR_TUNERS, KU_FOR_DEVELOPERS };

#endif
