/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.pml: the lock words of a window on a node (src/mpi/rma/rma_lock.c): one of a part, and the node's, which counts who has all parts and who
 * has, or wants, one alone.  Each process takes and gives back one of the three kinds of locks, some times, and sleeps where it must.
 *
 * Checked: who has the part alone is the only one that has it; nobody sleeps for ever (an invalid end state).
 *
 * Broken on purpose by -D: NO_COUNT     who wants the part alone is not counted in the node's word
 *                          NO_ANNOUNCE  a sleeper does not say so in the word
 *                          KEEP_WAITED  who leaves a word free leaves WAITED in it, and wakes nobody then
 *                          NO_RECHECK   a sleeper does not compare the word with what it has seen */

#define WAITED 64
#define ALONE 16 /* in both words: the bits below count the others */
#define OTHERS (ALONE - 1)
#define ALONES (WAITED - ALONE)

#ifndef TURNS
#define TURNS 1
#endif
#define PROCESSES 3

byte node, part;
byte alone, shared; /* who is inside */
byte asleep[PROCESSES]; /* 1: on the node's word, 2: on the part's */
byte ended;

inline wake(word) {
    atomic {
        for (k : 0 .. PROCESSES - 1) {
            if
            :: asleep[k] == word -> asleep[k] = 0
            :: else
            fi
        }
        k = 0
    }
}

/* The word was `was`: say that somebody waits, and sleep while it is still so. */
inline wait_on(variable, word) {
    said = (was & WAITED) != 0;
#ifndef NO_ANNOUNCE
    if
    :: !said ->
        atomic {
            if
            :: variable == was -> variable = was | WAITED; was = was | WAITED; said = 1
            :: else
            fi
        }
    :: else
    fi;
#else
    said = 1;
#endif
    if
    :: said ->
#ifndef NO_RECHECK
        atomic {
            if
            :: variable == was -> asleep[me] = word
            :: else
            fi
        }
#else
        asleep[me] = word;
#endif
        (asleep[me] == 0)
    :: else
    fi
}

/* Count in, unless some bits of `against` are there. */
inline enter_node(one, against) {
    in = 0;
    do
    :: in -> break
    :: else ->
        was = node;
        if
        :: (was & against) -> wait_on(node, 1)
        :: else ->
            atomic {
                if
                :: node == was -> node = was + one; in = 1
                :: else
                fi
            }
        fi
    od
}

inline leave_node(one, mask) {
    atomic {
        was = node;
        next = was - one;
#ifndef KEEP_WAITED
        if
        :: (next & mask) == 0 -> next = next & (WAITED - 1)
        :: else
        fi;
#endif
        node = next
    }
    if
    :: (was & WAITED) && !(next & WAITED) -> wake(1)
    :: else
    fi
}

inline enter_part(is_alone) {
    in = 0;
    do
    :: in -> break
    :: else ->
        was = part;
        if
        :: (is_alone && (was & (WAITED - 1))) || (!is_alone && (was & ALONE)) -> wait_on(part, 2)
        :: else ->
            atomic {
                if
                :: part == was -> part = (is_alone -> was | ALONE : was + 1); in = 1
                :: else
                fi
            }
        fi
    od
}

inline leave_part(is_alone) {
    atomic {
        was = part;
        next = (is_alone -> was & (OTHERS | WAITED) : was - 1);
#ifndef KEEP_WAITED
        if
        :: (next & (WAITED - 1)) == 0 -> next = 0
        :: else
        fi;
#endif
        part = next
    }
    if
    :: (was & WAITED) && !(next & WAITED) -> wake(2)
    :: else
    fi
}

proctype process(byte me) {
    byte i, was, next, k;
    bit in, said;
    for (i : 1 .. TURNS) {
        if
        :: true -> /* MPI_Win_lock_all */
            enter_node(1, ALONES);
            atomic { assert(alone == 0); shared++ }
            shared--;
            leave_node(1, OTHERS)
        :: true -> /* shared */
            enter_part(0);
            atomic { assert(alone == 0); shared++ }
            shared--;
            leave_part(0)
        :: true -> /* exclusive */
#ifndef NO_COUNT
            enter_node(ALONE, OTHERS);
#endif
            enter_part(1);
            atomic { assert(alone == 0 && shared == 0); alone++ }
            alone--;
            leave_part(1);
#ifndef NO_COUNT
            leave_node(ALONE, ALONES)
#endif
        fi
    }
}

init {
    atomic {
        run process(0);
        run process(1);
        run process(2)
    }
}
