/* SPDX-License-Identifier: BSD-3-Clause */
/* sleep.pml: sleeping and waking of src/util/wait.h: two producers with a store buffer each, one consumer that sleeps.
 * The producers' path has no fence: the consumer's membarrier empties their buffers between its saying that it sleeps and
 * its last look.  With FENCE_ALL the producers fence instead and the consumer has no membarrier.  With BELL it sleeps in poll:
 * the waker sends a byte, which stays until the consumer reads it, and something else may end a poll once, too.
 *
 * Checked: everything sent is received: a lost wake-up leaves the consumer asleep for ever, an invalid end state.
 *
 * Broken on purpose by -D: NO_MEMBARRIER  the consumer does not use it
 *                          NO_RECHECK     it does not look again after saying that it sleeps
 *                          FENCE_ALL with NO_FENCE  nor do the producers fence
 *                          BELL with DRAIN_LATE     bytes are read after the last look, not after poll */

#ifndef MESSAGES
#define MESSAGES 2 /* of each producer */
#endif
#define DEPTH 2

byte sent[2];  /* as visible to all */
byte store[2]; /* stores of the producer that are still in its buffer */
bit sleeping, asleep;
byte rung;         /* bytes at the doorbell */
bit other_event = 1; /* may still happen */
byte received;

#define ALL_SENT (sent[0] + sent[1])

proctype store_buffer(byte p) {
end:
    do
    :: atomic { store[p] > 0 -> sent[p]++; store[p]-- }
    od
}

proctype producer(byte p) {
    byte i;
    bit saw;
    for (i : 1 .. MESSAGES) {
        atomic { store[p] < DEPTH -> store[p]++ } /* publish */
#if defined(FENCE_ALL) && !defined(NO_FENCE)
        (store[p] == 0);
#endif
        saw = sleeping;
        if
        :: saw ->
            atomic { /* compare-and-swap: empties the buffer */
                (store[p] == 0);
                if
                :: sleeping -> sleeping = 0
                :: else -> saw = 0
                fi
            }
            if
#ifdef BELL
            :: saw -> rung++
#else
            :: saw -> asleep = 0 /* futex wake */
#endif
            :: else
            fi
        :: else
        fi
    }
}

active proctype consumer() {
    run store_buffer(0);
    run store_buffer(1);
    run producer(0);
    run producer(1);
    do
    :: received == 2 * MESSAGES -> break
    :: received < ALL_SENT -> received++
    :: received == ALL_SENT && received < 2 * MESSAGES ->
        sleeping = 1; /* and a fence: it has no buffer here */
#if !defined(NO_MEMBARRIER) && !defined(FENCE_ALL)
        d_step { sent[0] = sent[0] + store[0]; store[0] = 0 }
        d_step { sent[1] = sent[1] + store[1]; store[1] = 0 }
#endif
        if
#ifndef NO_RECHECK
        :: received < ALL_SENT -> sleeping = 0
        :: received == ALL_SENT ->
#else
        :: true ->
#endif
#ifdef BELL
#ifdef DRAIN_LATE
            rung = 0;
#endif
            if
            :: rung > 0
            :: other_event -> other_event = 0
            fi
            sleeping = 0;
#ifndef DRAIN_LATE
            rung = 0
#endif
#else
            atomic { /* futex wait: sleeps only while the word is 1 */
                if
                :: sleeping -> asleep = 1
                :: else
                fi
            }
            (!asleep);
            sleeping = 0
#endif
        fi
    od
}
