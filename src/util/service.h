/* SPDX-License-Identifier: BSD-3-Clause */
/* service.h: time, and letting others run, in one place.
 *
 * As a rule they are the system's: its clock, and the ladder of wait.h.  Who runs several instances of the library
 * in one process (instances.h), or in a time of his own, puts a service in force before the library is used; then
 * no call of the library yields or sleeps, and whatever waits calls `aside` again and again. */
#ifndef KU_SERVICE_H
#define KU_SERVICE_H

#include <stdint.h>

struct ku_service {
    void *self;                  /* the first argument of both */
    uint64_t (*now)(void *self); /* nanoseconds; NULL: the system's clock */
    void (*aside)(
        void *self); /* the caller has nothing to do until others have done something; it returns soon */
};
extern const struct ku_service *ku_service; /* NULL: the system's */

#endif
