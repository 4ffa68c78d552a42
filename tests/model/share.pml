/* SPDX-License-Identifier: BSD-3-Clause */
/* share.pml: a long message that both sides copy in pieces (mpid/core/pull.c, invariant 3): the receiver takes them from the front, the
 * sender from the back, by changing one word of the receiver's, which the next message uses again.  The sender may come late, or
 * not at all, either copy may be refused, and a receiver that has nothing left to copy sleeps until a packet comes.
 * What the sender copies becomes visible later, in any order, but for the release when it counts the piece.
 *
 * Checked: a message that is said to be there is there; nobody writes to a buffer that has been given back to the program; nobody waits for ever.
 *
 * Harmless by -D: EARLY     the sender may read SHARE before the word is set
 * Broken on purpose by -D: NO_RELEASE  a piece is counted without release
 *                          NO_CAS      a piece is taken by a load and a store
 *                          NO_USE      it is not looked whether the word is still about this message
 *                          NO_WAIT     the receiver does not wait for what the sender has taken
 *                          NO_SHARED   the sender does not say that he has copied the last
 *                          NO_LACK     the piece that the sender could not copy is left out */

#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef PIECES
#define PIECES 3
#endif
#define BUFFERS 6 /* MESSAGES * PIECES at most */
#define PROGRAM 9 /* what a program writes to its buffer when the message is there */

mtype = { SHARE, SHARED, CTS };
chan to_sender = [2 * MESSAGES] of { mtype, byte };
chan to_receiver = [MESSAGES] of { mtype, byte, bit };

/* The word. */
byte use, first, past, copied;

byte mem[BUFFERS];    /* the receiver's buffers */
bit pending[BUFFERS]; /* the sender has stored there, which is not visible yet */
byte npending;

inline appear(i) {
    mem[i] = 1 + i / PIECES;
    pending[i] = 0;
    npending--
}

proctype memory() {
end:
    do
    :: atomic { pending[0] -> appear(0) }
    :: atomic { pending[1] -> appear(1) }
    :: atomic { pending[2] -> appear(2) }
    :: atomic { pending[3] -> appear(3) }
    :: atomic { pending[4] -> appear(4) }
    :: atomic { pending[5] -> appear(5) }
    od
}

#ifdef NO_RELEASE
#define RELEASED true
#else
#define RELEASED (npending == 0)
#endif
#ifdef NO_USE
#define ABOUT(m) true
#else
#define ABOUT(m) (use == m + 1)
#endif

proctype sender() {
    byte m, k, ended;
    bit giving, had, lacks, more;
    do
    :: to_sender?SHARE(m) -> giving = 1; had = 0; lacks = 0
    :: to_sender?CTS(k) -> giving = 0; k = 0; ended++;
        if
        :: ended == MESSAGES -> break
        :: else
        fi
    :: giving ->
        if
#ifdef NO_CAS
        :: ABOUT(m) && first < past -> k = past - 1; past = k; had = 1
#else
        :: atomic { ABOUT(m) && first < past && npending == 0 -> past--; k = past; had = 1 }
#endif
            if
            :: atomic { pending[m * PIECES + k] = 1; npending++ }
                atomic { RELEASED -> more = first < past; copied++ }
            :: lacks = 1; more = 0
            fi
        :: atomic { !(ABOUT(m) && first < past) -> more = 0 }
        fi;
        k = 0;
        if
        :: more
        :: !more -> giving = 0;
#ifndef NO_SHARED
            if
            :: had -> to_receiver!SHARED(m, lacks)
            :: !had
            fi
#endif
        fi
    od
}

proctype receiver() {
    byte m, k, op;
    bit told, lacks, refused, flag;
    for (m : 0 .. MESSAGES - 1) {
        told = 0; lacks = 0; refused = 0;
#ifdef EARLY
        to_sender!SHARE(m);
#endif
        d_step { use = m + 1; first = 0; past = PIECES; copied = 0 };
#ifndef EARLY
        to_sender!SHARE(m);
#endif
        do
#ifdef NO_CAS
        :: first < past -> k = first; first = k + 1;
#else
        :: atomic { first < past -> k = first; first++ }
#endif
            if
            :: mem[m * PIECES + k] = 1 + m
            :: refused = 1; first = past /* takes all that are left */
            fi
#ifdef NO_WAIT
        :: first >= past -> break
#else
        :: atomic { first >= past && (told || PIECES - past == copied) -> break }
        :: atomic { first >= past && !told && PIECES - past != copied } -> /* sleeps */
            to_receiver?SHARED(op, flag);
            if
            :: op == m -> told = 1; lacks = flag
            :: else
            fi;
            op = 0; flag = 0
#endif
        od;
#ifndef NO_LACK
        if
        :: lacks && !refused -> mem[m * PIECES + past] = 1 + m
        :: else
        fi;
#endif
        for (k : 0 .. PIECES - 1) {
            assert(refused || mem[m * PIECES + k] == 1 + m); /* else it comes in packets */
            mem[m * PIECES + k] = PROGRAM
        }
        k = 0;
        to_sender!CTS(m)
    }
}

init {
    byte k;
    atomic { run memory(); run sender(); run receiver() }
    (_nr_pr == 2 && npending == 0);
    for (k : 0 .. MESSAGES * PIECES - 1) {
        assert(mem[k] == PROGRAM)
    }
}
