/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh.pml: receives that a thread begins beside who has the device lock (src/mpid/core/fresh.c).  Thread 0 begins some, each in the
 * context's list, with the context's lock, or, while the device lock is biased, with that; now and then it takes the device lock, as who
 * waits does.  Thread 1 takes the device lock again and again, and may have it biased to itself.  What is on the list is in order, so it
 * is a number; who has the device lock, by the word or by the bias, is one at a time (bias.pml).
 *
 * Checked: whoever has the device lock by its word finds all that was begun before, in the order of the calls; who has it by the bias
 * need not look, as nothing is on the list.
 *
 * Broken on purpose by -D: NO_TAKE         who takes the word does not take out what is on the list
 *                          NO_SECOND_LOOK  who begins a receive does not look, with the context's lock, whether a bias is in force
 *                          NO_MEET         who gets the bias does not wait for who has the context's lock
 *                          NO_LOOK         who gets the bias does not look at the list
 *                          LIST_LATE       the context is listed after its lock was left */

#define MANY 4

bit device, context; /* locks */
bit in_force;        /* the bias, to thread 1 */
byte fresh;          /* on the context's list */
bit listed;
byte begun; /* in the queue */

inline lock_context() { atomic { !context -> context = 1 } }

inline take_word() {
    atomic { !device -> device = 1 }
    in_force = 0;
#ifndef NO_TAKE
    if
    :: listed ->
        lock_context();
        begun = begun + fresh;
        fresh = 0;
        listed = 0;
        context = 0
    :: else
    fi
#endif
}

proctype beginner() {
    byte i;
    bit may;
    for (i : 1 .. MANY) {
        may = 0;
        if
        :: in_force
        :: !in_force ->
            lock_context();
#ifdef NO_SECOND_LOOK
            may = 1;
#else
            may = !in_force;
#endif
            if
            :: may ->
                fresh++;
#ifndef LIST_LATE
                listed = 1
#endif
            :: else
            fi;
            context = 0;
#ifdef LIST_LATE
            if
            :: may -> listed = 1
            :: else
            fi
#endif
        fi;
        if
        :: !may ->
            take_word();
            assert(begun == i - 1); /* those before it */
            begun++;
            device = 0
        :: may
        :: may -> /* it waits for the last one */
            take_word();
            assert(begun == i);
            device = 0
        fi
    }
    take_word();
    assert(begun == MANY && fresh == 0);
    device = 0
}

proctype driver() {
    byte i;
    for (i : 1 .. MANY) {
        if
        :: in_force ->
            atomic {
                !device ->
                if
                :: in_force -> device = 1; assert(fresh == 0 && !listed)
                :: else -> goto next
                fi
            }
        :: !in_force -> take_word()
        fi;
        if
        :: in_force
        :: !in_force
        :: !in_force ->
            in_force = 1;
#ifndef NO_MEET
            lock_context();
            context = 0;
#endif
#ifndef NO_LOOK
            if
            :: listed -> in_force = 0
            :: else
            fi
#endif
        fi;
        device = 0;
next:
        skip
    }
}

init {
    atomic {
        run beginner();
        run driver()
    }
}
