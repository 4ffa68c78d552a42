/* SPDX-License-Identifier: BSD-3-Clause */
/* park.pml: threads that wait while another one drives (src/mpid/core/thread.c): a parked thread runs, and looks whether somebody drives,
 * or it sleeps and must be called.  Thread 0 drives at first and leaves, as does whoever drives after it.  Each has a store buffer of one
 * store, for what it says without an atomic instruction: that it drives no longer.  Once each steps aside while it drives, without the
 * lock; who wants to wait meanwhile drives in its place, and it waits like all others when it is back.
 *
 * Checked: each thread drives in its turn, so none sleeps while nobody drives (an invalid end state), and one at a time does.
 *
 * Broken on purpose by -D: NO_FENCE    who leaves looks at the words of the parked before all see that it has left
 *                          NO_RECHECK  who is about to sleep does not look again whether somebody drives
 *                          NO_CALL     who leaves calls nobody, though all sleep
 *                          NO_LOOK     who comes back does not look whether it still drives */

#define N 3
#define NOBODY N

mtype = { RUNS, SLEEPS, CALLED };

byte driver = 0;            /* as visible to all */
bit leaving;                /* its store is still in its buffer */
mtype word[N] = RUNS;
bit listed[N], asleep[N];
byte heir = NOBODY;
bit lock, aside;

inline take() { atomic { !lock -> lock = 1 } }
/* An atomic instruction. */
inline give() { atomic { !leaving -> lock = 0 } }

proctype store_buffer() {
end:
    do
    :: atomic { leaving -> driver = NOBODY; leaving = 0 }
    od
}

inline leave() {
    leaving = 1;
#ifndef NO_FENCE
    (!leaving);
#endif
    runs = 0;
    for (k : 0 .. N - 1) {
        if
        :: listed[k] && word[k] == RUNS -> runs = 1
        :: else
        fi
    }
#ifndef NO_CALL
    if
    :: !runs && heir == NOBODY ->
        for (k : 0 .. N - 1) {
            if
            :: listed[k] && heir == NOBODY ->
                heir = k;
                listed[k] = 0;
                atomic { word[k] = CALLED; asleep[k] = 0 }
            :: else
            fi
        }
    :: else
    fi;
#endif
    give()
}

proctype thread(byte p) {
    byte k;
    bit runs, drives, stepped;
    if
    :: p == 0 -> take(); drives = 1
    :: else
    fi;
    do
    :: drives -> assert(driver == p); leave(); break
    :: drives && !stepped ->
        stepped = 1;
        give();
        aside = 1;
        aside = 0;
        take();
#ifndef NO_LOOK
        if
        :: driver != p -> drives = 0; give()
        :: else
        fi
#endif
    :: else ->
        take();
        if
        :: (driver == NOBODY || aside) && !leaving -> driver = p; aside = 0; drives = 1; give(); take()
        :: else ->
            word[p] = RUNS;
            listed[p] = 1;
            give();
            do
            :: word[p] == CALLED || driver == NOBODY || aside -> break
            :: word[p] == RUNS && driver != NOBODY ->
                atomic {
                    if
                    :: word[p] == RUNS -> word[p] = SLEEPS
                    :: else
                    fi
                }
#ifndef NO_RECHECK
                if
                :: driver == NOBODY -> break
                :: else
                fi;
#endif
                atomic { /* futex wait */
                    if
                    :: word[p] == SLEEPS -> asleep[p] = 1
                    :: else
                    fi
                }
                (!asleep[p]);
                break
            od;
            take();
            listed[p] = 0;
            if
            :: heir == p -> heir = NOBODY
            :: else
            fi;
            give()
        fi
    od
}

init {
    atomic {
        byte i;
        run store_buffer();
        for (i : 0 .. N - 1) {
            run thread(i)
        }
    }
}
