/* SPDX-License-Identifier: BSD-3-Clause */
/* helper.pml: the helper (src/mpid/core/helper.c) beside the one thread of a program, and a process that sends.  The program waits for a
 * message, in MPI, and then computes until another one has been taken in, which only the helper can do.
 *
 * All sleep on the rank's word: the program without the device lock, in the role of the driver; the helper only if nobody drives.
 *
 * Checked: both messages are taken in: else the program sleeps, or computes, for ever, an invalid end state; the device is looked at by
 * one thread at a time.
 *
 * Broken on purpose by -D: CANCEL      the helper looks the word back when it wakes, whoever sleeps there
 *                          NO_RECHECK  it does not look at the devices after saying that it sleeps
 *                          NO_LOCK     nor looks the lock to look
 *                          DEAF        it never looks again by itself, though the program may have taken back its word */

byte sent, taken, looks;
bit lock, drives, sleeping, looking, over;
bit main_sleeps, helper_sleeps; /* on the word */

inline look_at() {
    d_step { assert(!looking); looking = 1 }
    taken = sent;
    looking = 0
}

proctype sender() {
    byte i;
    for (i : 1 .. 2) {
        (taken == i - 1);
        sent++;
        atomic { /* wake all */
            if
            :: sleeping -> sleeping = 0; main_sleeps = 0; helper_sleeps = 0
            :: else
            fi
        }
    }
}

proctype program() {
    atomic { !lock -> lock = 1; looks++ }
    drives = 1;
    do
    :: true ->
        look_at();
        if
        :: taken > 0 -> break
        :: else
        fi;
        sleeping = 1;
        look_at();
        if
        :: taken > 0 -> sleeping = 0; break
        :: else
        fi;
        lock = 0;
        atomic {
            if
            :: sleeping -> main_sleeps = 1
            :: else
            fi
        }
        (!main_sleeps);
        sleeping = 0;
        atomic { !lock -> lock = 1; looks++ }
    od;
    drives = 0;
    lock = 0;
    (taken == 2); /* it computes */
    over = 1
}

proctype helper() {
    byte seen;
    do
    :: over -> break
    :: atomic { looks != seen -> seen = looks } /* it stays away, for some time */
#ifdef NO_LOCK
    :: atomic { !drives && looks == seen && taken < 2 -> skip }
#else
    :: atomic { !lock && !drives && looks == seen && taken < 2 -> lock = 1 }
#endif
        sleeping = 1;
#ifndef NO_RECHECK
        look_at();
#endif
#ifndef NO_LOCK
        lock = 0;
#endif
        atomic {
            if
            :: sleeping -> helper_sleeps = 1
            :: else
            fi
        }
        if
        :: !helper_sleeps
        :: over -> helper_sleeps = 0
#ifndef DEAF
        :: atomic { looks != seen || !sleeping -> helper_sleeps = 0 } /* its time is over */
#endif
        fi;
#ifdef CANCEL
        sleeping = 0
#endif
    od
}

init {
    atomic {
        run sender();
        run program();
        run helper()
    }
}
