/* SPDX-License-Identifier: BSD-3-Clause */
/* revoke.pml: how all members hear that a communicator is revoked (MPIX_Comm_revoke), of src/mpid/core/refuse.c.
 *
 * Who revokes it sends a packet to each other member in turn; who hears of it for the first time passes it on in the same way.  A
 * member that has not made the communicator yet notes that, and passes it on when it has made it.  Any may begin, and any may crash
 * before each step; a packet of one that has crashed arrives or does not.
 *
 * With -DRING, as among many: who has heard tells the next member after itself that lives, and another one when that is lost.
 *
 * Checked, when nothing moves any more: if one member that lives has heard, all that live have.
 *
 * Broken on purpose by -D: NO_PASSING  who hears does not pass it on
 *                          NO_NOTE     who hears before it has made the communicator forgets it
 *                          NO_LOOK     who makes the communicator does not look at what has been noted
 *                          NEXT_ALONE  who hears passes it on to the next member alone */

#ifndef MEMBERS
#define MEMBERS 3
#endif

#define PACKET(from, to) packet[(from) * MEMBERS + (to)]

bit lives[MEMBERS], made[MEMBERS], heard[MEMBERS], packet[MEMBERS * MEMBERS];

/* To each other member in turn. */
inline tell() {
    k = 0;
    do
    :: atomic { k < MEMBERS && k != me -> PACKET(me, k) = 1; k++ }
    :: atomic { k < MEMBERS && k == me -> k++ }
    :: k == MEMBERS -> break
    od
}

inline pass_on() {
#if defined(NEXT_ALONE)
    PACKET(me, (me + 1) % MEMBERS) = 1
#elif defined(NO_PASSING)
    skip
#else
    tell()
#endif
}

/* A packet stays where it is: only the first one counts. */
#if MEMBERS > 3
#define COMES (PACKET(0, me) || PACKET(1, me) || PACKET(2, me) || PACKET(3, me))
#else
#define COMES (PACKET(0, me) || PACKET(1, me) || PACKET(2, me))
#endif

proctype member(byte me) {
    byte k;
    bit noted;
    {
        if
#ifndef NO_NOTE
        :: COMES -> noted = 1
#endif
        :: skip
        fi;
        atomic {
            made[me] = 1;
#ifndef NO_LOOK
            heard[me] = noted;
#endif
            if
            :: heard[me] -> goto passes
#if defined(NO_LOOK) || defined(NO_NOTE)
            :: COMES -> goto end_deaf /* it has come before */
#endif
            :: !heard[me]
            fi
        };
end_waits:
        if
        :: atomic { COMES -> heard[me] = 1 }
        :: atomic { !COMES -> heard[me] = 1; goto begins }
        :: atomic { skip; goto end_never }
        fi;
passes:
#ifdef RING
        atomic { k = (me + 1) % MEMBERS };
        do
        :: atomic { k != me && !lives[k] -> k = (k + 1) % MEMBERS }
        :: atomic { k != me && lives[k] -> PACKET(me, k) = 1 };
end_told:
            !lives[k]
        :: atomic { k == me -> break }
        od;
#else
        pass_on();
#endif
        goto end_deaf;
begins: /* it revokes */
#ifdef RING
        goto passes;
#else
        tell();
#endif
        goto end_deaf;
end_never:
        atomic { COMES -> heard[me] = 1; goto passes };
end_deaf:
        false
    } unless { d_step { !lives[me] -> k = 0; noted = 0 } }
}

/* Crashes, and what they take along, until no more happen. */
inline crash(i) {
    lives[i] = 0;
    j = 0;
    do
    :: j < MEMBERS -> PACKET(i, j) = 0; j++
    :: j < MEMBERS -> j++
    :: j == MEMBERS -> break
    od;
    j = 0
}

proctype crashes() {
    byte j;
    do
    :: break
    :: atomic { lives[0] -> crash(0) }
    :: atomic { lives[1] -> crash(1) }
    :: atomic { lives[2] -> crash(2) }
#if MEMBERS > 3
    :: atomic { lives[3] -> crash(3) }
#endif
    od
}

init {
    byte i = 0, j = 0;
    atomic {
        run crashes();
        do
        :: i < MEMBERS -> lives[i] = 1; run member(i); i++
        :: else -> break
        od
    };
    timeout;
    d_step {
        i = 0;
        do
        :: i < MEMBERS * MEMBERS ->
            j = i % MEMBERS;
            assert(!(lives[i / MEMBERS] && heard[i / MEMBERS] && lives[j]) || heard[j]);
            i++
        :: else -> break
        od
    }
}
