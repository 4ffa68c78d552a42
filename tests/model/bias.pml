/* SPDX-License-Identifier: BSD-3-Clause */
/* bias.pml: the device lock (src/mpid/core/thread.c): a word, and the bias to one thread, which says that it is inside instead of taking
 * the word.  Two threads take it some times, by the bias where it is theirs; who takes the word may become the one it is biased to.
 * Each has a store buffer for what it says; an atomic instruction and a system call empty it, the other one's membarrier too.
 * It is the same at each level of thread support.  It begins with initialisation: the first thread's procedure begins without the lock, as
 * the only thread, lets others call, and is inside from there to its end.  In between it waits once: it gives the lock away, if it has it,
 * and takes it again.  Or the process has one thread for longer: that calls without the lock, and makes the other one between its calls,
 * or in a function of the program that the library calls, and for which it takes the lock.  The first call thereafter, of either thread,
 * sets the mode for several threads, with the lock.
 * With the lock they use a lane (src/mpid/ch_shmem/shmem.c), which a third thread uses without it, if no bias is in force.
 *
 * Checked: one at a time has the lock, and one the lane; who waits for the one inside does not sleep for ever (an invalid end state).
 *
 * Broken on purpose by -D: NO_MEMBARRIER  who revokes the bias does not use it
 *                          NO_RECHECK     who has said that it is inside does not look again whether the bias is still its own
 *                          NO_WAKE        who leaves does not look whether the bias has been revoked
 *                          ONE_SEAT       both say it in one place: one that comes too late takes back what the other one has said
 *                          NO_WAIT        who tries finds somebody inside, gives the word back, and the next one does not wait
 *                          EARLY_END      the bias is no longer in force once it is revoked, though somebody may be inside
 *                          NO_LOOK        who gets the bias does not look whether somebody is in the lane
 *                          NO_CLAIM       a function of the program is called without the lock
 *                          MODE_FIRST     the mode is set before the lock is taken
 *                          NO_COME_IN     who lets others call does not take the lock
 *                          NO_COME_IN, WAITS_ONLY  and does nothing there but to wait, which takes the lock: nobody gives that back
 *                          NO_SECOND_LOOK who is in the lane does not look whether a bias is in force: it has looked before */

#ifndef TURNS
#define TURNS 3
#endif
#define NOBODY 2

#ifdef ONE_SEAT
#define SEAT(p) 0
#else
#define SEAT(p) p
#endif

bit word, in_force, in_lane;
bit several; /* threads in the process */
bit threaded; /* the mode */
byte users; /* of the lane */
byte biased_to = NOBODY, biased = NOBODY;
bit inside[2]; /* as visible to all */
bit first[2], second[2]; /* a thread's stores to it that are still in its buffer */
byte n[2];
bit asleep[2];
byte holders;

inline say(v) {
    atomic {
        n[p] < 2;
        if
        :: n[p] == 0 -> first[p] = v
        :: else -> second[p] = v
        fi;
        n[p]++
    }
}

proctype store_buffer(byte p) {
end:
    do
    :: atomic { n[p] > 0 -> inside[SEAT(p)] = first[p]; first[p] = second[p]; second[p] = 0; n[p]-- }
    od
}

inline use_lane() {
    users++;
    assert(users == 1);
    users--
}

inline leave_seat() {
    say(0);
#ifndef NO_WAKE
    if
    :: biased_to != p -> atomic { n[p] == 0 -> asleep[1 - p] = 0 }
    :: else
    fi
#endif
}

inline revoke() {
    if
    :: biased_to != NOBODY ->
        biased_to = NOBODY;
#ifdef EARLY_END
        in_force = 0;
#endif
#ifndef NO_MEMBARRIER
        d_step {
            if
            :: n[1 - p] == 1 -> inside[SEAT(1 - p)] = first[1 - p]
            :: n[1 - p] == 2 -> inside[SEAT(1 - p)] = second[1 - p]
            :: else
            fi;
            n[1 - p] = 0; first[1 - p] = 0; second[1 - p] = 0
        }
#endif
    :: else
    fi
}

#define IS_INSIDE (biased != NOBODY && inside[SEAT(biased)])

inline wait_for_inside() {
#ifndef NO_WAIT
    do
    :: !IS_INSIDE -> break
    :: IS_INSIDE ->
        atomic {
            if
            :: IS_INSIDE -> asleep[p] = 1
            :: else
            fi
        }
        (!asleep[p])
    od
#else
    skip
#endif
}

/* And waits. */
inline take_by_word() {
    atomic { n[p] == 0 && !word -> word = 1 }
    if
    :: in_force -> revoke(); wait_for_inside(); in_force = 0
    :: else
    fi
}

inline leave_word() {
    atomic { n[p] == 0 -> word = 0 }
}

/* MPI_Init_thread; the count says how often it has the lock. */
inline initialise() {
    threaded = 1;
    several = 1;
#ifndef NO_COME_IN
    take_by_word();
    depth = 1;
#endif
#ifndef WAITS_ONLY
    holders++;
    assert(holders == 1);
    holders--;
#endif
    if
    :: depth > 0 -> leave_word(); take_by_word()
    :: else ->
#ifdef WAITS_ONLY
        take_by_word()
#else
        skip
#endif
    fi;
    if
    :: depth > 0 -> leave_word()
    :: else
    fi
}

/* A call of the only thread; it makes the other one in its midst, or afterwards. */
inline call_alone() {
    holders++;
    assert(holders == 1);
    if
    :: true ->
#ifndef NO_CLAIM
        take_by_word();
        depth = 1;
#endif
        several = 1;
        skip; /* the function of the program, and the rest of the call */
        assert(holders == 1)
    :: true
    fi;
    holders--;
    if
    :: depth > 0 -> leave_word(); depth = 0
    :: else
    fi;
    several = 1
}

inline set_mode() {
    if
    :: !threaded ->
        holders++;
        assert(holders == 1);
        holders--;
        threaded = 1
    :: else
    fi
}

proctype thread(byte p) {
    byte i, depth;
    bit by_bias, has, seat; /* the bias is its own, as far as it knows */
    if
    :: p == 0 -> initialise()
    :: p == 0 -> call_alone()
    :: p == 1 -> (several)
    fi;
    for (i : 1 .. TURNS) {
        by_bias = 0;
        has = 1;
        if
        :: seat ->
            say(1);
#ifndef NO_RECHECK
            if
            :: biased_to == p -> by_bias = 1
            :: else -> leave_seat(); seat = 0
            fi
#else
            by_bias = 1
#endif
        :: else
        fi;
#ifdef MODE_FIRST
        set_mode();
#endif
        if
        :: by_bias
        :: !by_bias ->
            atomic { n[p] == 0 && !word -> word = 1 }
            if
            :: in_force ->
                if
                :: true -> /* it waits */
                    revoke();
                    wait_for_inside()
                :: true -> /* it only tries */
                    if
                    :: !IS_INSIDE ->
                        revoke();
                        if
                        :: IS_INSIDE -> has = 0
                        :: else
                        fi
                    :: else -> has = 0
                    fi
                fi;
                if
                :: has -> in_force = 0
                :: else
                fi
            :: else
            fi
        fi;
        if
        :: has ->
            set_mode();
            holders++;
            assert(holders == 1);
            if
            :: by_bias -> use_lane()
            :: else ->
                atomic { n[p] == 0 && !in_lane -> in_lane = 1 }
                use_lane();
                in_lane = 0
            fi;
            holders--
        :: else
        fi;
        if
        :: by_bias -> leave_seat()
        :: else ->
            if
            :: !has
            :: has
            :: has ->
                biased = p; in_force = 1; biased_to = p; seat = 1;
#ifndef NO_LOOK
                (!in_lane)
#endif
            fi;
            leave_word()
        fi
    }
}

proctype beside() {
    byte i;
    for (i : 1 .. TURNS) {
        if
        :: in_force
        :: !in_force ->
            atomic { !in_lane -> in_lane = 1 }
#ifdef NO_SECOND_LOOK
            use_lane();
#else
            if
            :: !in_force -> use_lane()
            :: else
            fi;
#endif
            in_lane = 0
        fi
    }
}

init {
    atomic {
        run store_buffer(0);
        run store_buffer(1);
        run thread(0);
        run thread(1);
        run beside()
    }
}
