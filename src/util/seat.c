/* SPDX-License-Identifier: BSD-3-Clause */
#include "seat.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

bool ku_threaded;
struct ku_seat ku_no_seat = { .inside = KU_SEAT_NONE };
_Thread_local struct ku_seat *ku_seat __attribute__((tls_model("initial-exec"))) = &ku_no_seat;
_Atomic bool ku_bias_in_force;
struct ku_bias ku_bias;

void ku_seat_wake(struct ku_seat *s)
{
    syscall(SYS_futex, &s->inside, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void ku_seat_lost(struct ku_seat *s)
{
    ku_seat_leave(s);
    ku_seat = &ku_no_seat;
}
