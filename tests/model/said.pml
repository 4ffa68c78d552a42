/* SPDX-License-Identifier: BSD-3-Clause */
/* said.pml: partitions that become ready beside the device lock (src/mpi/part/part_send.c): each thread puts one into the next place, of which
 * there are few, and tries to get the lock, to take in what lies there; where it fails, who has the lock looks again after leaving.  A
 * thread that has another reason to have the lock takes it some time, and does not look.  When all has been taken in the operation is
 * complete, and its memory is freed as soon as the threads have left.
 * FEWER: one partition is not ready for long, and the lock is for this only: what has been said is taken in all the same.
 * Each thread has a store buffer of one store: that something lies in its place, or that it leaves the lock.
 *
 * Checked: when all threads have come back everything has been taken in (an invalid end state), each once; a place is empty when it is
 * taken; nobody uses freed memory.
 *
 * Broken on purpose by -D: NO_FENCE    who has put something in looks at the lock before others see what it has put in
 *                          NO_RECHECK  who leaves the lock does not look again (FEWER)
 *                          NO_LAST     the one that puts in the last one goes on, too, where somebody has the lock
 *                          NO_ROOM     a place is taken while what has lain there may not have been taken in
 *                          NO_COUNT    it is freed without waiting for threads to leave */

#ifndef N
#define N 3 /* partitions, a thread each */
#endif
#define PLACES 2

#ifdef FEWER
#define TO_CLAIM (N + 1)
#else
#define TO_CLAIM N
#endif

bit lock, freed;
byte place[PLACES], end, begin, gone, claimed;
bit taken[N];
byte ntaken;
bit buffered[N], unlocks[N]; /* a store in the buffer; it is the lock's */
byte where[N];               /* else: the place's */

inline use() { assert(!freed) }

proctype store_buffer(byte p) {
end_never:
    do
    :: atomic {
        buffered[p] ->
        if
        :: unlocks[p] -> lock = 0
        :: else -> place[where[p]] = p + 1
        fi;
        buffered[p] = 0
    }
    od
}

/* With the lock. */
inline take_in() {
    use();
    do
    :: place[begin % PLACES] == 0 -> break
    :: else ->
        atomic {
            k = place[begin % PLACES] - 1;
            place[begin % PLACES] = 0;
            begin++;
            assert(!taken[k]);
            taken[k] = 1;
            ntaken++
        }
    od
}

inline leave() { atomic { !buffered[p] -> buffered[p] = 1; unlocks[p] = 1 } }

inline lock_now() { atomic { !lock && !buffered[p] -> lock = 1 } }

proctype thread(byte p) {
    byte k, at;
    bit final;
    do
#ifdef NO_ROOM
    :: atomic { true -> at = end; end++ }
        break
#else
    :: atomic { end - begin < PLACES -> at = end; end++ }
        break
    :: end - begin == PLACES -> /* it takes in the others' first */
        lock_now();
        take_in();
        leave();
        (!buffered[p])
#endif
    od;
    atomic {
        where[p] = at % PLACES;
        assert(place[at % PLACES] == 0);
        buffered[p] = 1;
        unlocks[p] = 0
    }
    atomic {
#ifndef NO_FENCE
        !buffered[p] -> /* an atomic instruction, and it is a fence */
#endif
        claimed++;
        final = claimed == TO_CLAIM
    }
#ifdef NO_LAST
    final = 0;
#endif
    if
    :: final ->
        lock_now();
        take_in();
        leave()
    :: else ->
        do
        :: lock -> break
        :: atomic { !lock && !buffered[p] -> lock = 1 } ->
            take_in();
            leave();
            (!buffered[p]); /* the fence */
#ifdef NO_RECHECK
            break
#else
            use();
            if
            :: place[begin % PLACES] == 0 -> break
            :: else
            fi
#endif
        od
    fi;
    (!buffered[p]);
    gone++
}

proctype other() {
    atomic { !lock -> lock = 1 }
    atomic { lock = 0 }
}

proctype owner() {
    (ntaken == N);
#ifndef NO_COUNT
    (gone == end);
#endif
    freed = 1
}

init {
    atomic {
        byte i;
        for (i : 0 .. N - 1) {
            run store_buffer(i);
            run thread(i)
        }
#ifndef FEWER
        run other();
#endif
        run owner()
    }
}
