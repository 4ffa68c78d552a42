/* SPDX-License-Identifier: BSD-3-Clause */
/* epoch.pml: meetings over lines, of src/util/epoch.h: MEMBERS that meet up to MEETINGS times and may sleep in between.
 *
 * Each has a store buffer: what it stores becomes visible later, in any order but that a release comes after what was before it.
 * One member may refuse to come, one may leave a meeting that it waits in; both at any time.
 *
 * Checked: a meeting ends for all who come to it or for nobody; who has met sees everybody's data of that meeting; nobody sleeps
 * for ever (an invalid end state).
 *
 * Broken on purpose by -D: NO_RELEASE  a line says that its owner has come before what he shows is there
 *                          NO_SHOW     who decides about a meeting does not make others' stores visible first
 *                          END_FIRST   who has come looks at `end` first, then at the lines
 *                          ONE_LINE    members have one line, not two to use by turns
 *                          NO_MEMBARRIER  who goes to sleep does not make others' stores visible before its last look
 *                          NO_RECHECK  it has no last look */

#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef MEETINGS
#define MEETINGS 3
#endif

#ifdef ONE_LINE
#define AT(i, n) ((i) * 2)
#else
#define AT(i, n) ((i) * 2 + (n) % 2)
#endif

#define FREE 0
#define ASKED 1
#define ENDED 2

byte says[MEMBERS * 2], data[MEMBERS * 2]; /* as visible to all: number of the meeting */
byte store_says[MEMBERS], store_data[MEMBERS]; /* in the buffer; 0: nothing */
byte end_is = FREE, end_at; /* one word */
byte sleepers, calls;
bit may_refuse = 1, may_leave = 1;
bit met[MEETINGS + 1], failed[MEETINGS + 1];

#define CLEAR(i) (store_says[i] == 0 && store_data[i] == 0)

inline drain(i) {
    if
    :: store_data[i] > 0 -> data[AT(i, store_data[i])] = store_data[i]; store_data[i] = 0
    :: else
    fi;
    if
    :: store_says[i] > 0 -> says[AT(i, store_says[i])] = store_says[i]; store_says[i] = 0
    :: else
    fi
}

inline drain_all() {
    d_step {
        k = 0;
        do
        :: k < MEMBERS -> drain(k); k++
        :: else -> break
        od;
        k = 0
    }
}

proctype store_buffer(byte i) {
end:
    do
    :: atomic { store_data[i] > 0 -> data[AT(i, store_data[i])] = store_data[i]; store_data[i] = 0 }
#ifdef NO_RELEASE
    :: atomic { store_says[i] > 0 ->
#else
    :: atomic { store_says[i] > 0 && store_data[i] == 0 ->
#endif
            says[AT(i, store_says[i])] = store_says[i]; store_says[i] = 0 }
    od
}

/* all = do all lines say m?  A member sees its own at once; `mine`: the meeting that it has come to last. */
inline look(m) {
    all = (mine == m);
    k = 0;
    do
    :: k < MEMBERS && all ->
        if
        :: k != me -> all = (says[AT(k, m)] == m)
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

/* The same in a model of two lines for a meeting before the last one that it has come to. */
inline look_for(m) {
    all = (mine >= m);
    k = 0;
    do
    :: k < MEMBERS && all ->
        if
        :: k != me -> all = (says[AT(k, m)] == m)
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

inline wake() {
    saw = (sleepers > 0);
    if
    :: saw ->
        CLEAR(me); /* a fence */
        look(mine);
        if
        :: all || end_is != FREE -> calls++
        :: else
        fi
    :: else
    fi
}

/* good = has meeting n ended well? */
inline verdict() {
    if
    :: end_is == ASKED ->
        at = end_at;
#ifndef NO_SHOW
        drain_all();
#endif
        look_for(at);
        atomic { /* compare-and-swap */
            CLEAR(me);
            if
            :: end_is == ASKED -> end_is = ENDED; end_at = at + all
            :: else
            fi
        }
    :: else
    fi;
    good = (n < end_at)
}

proctype member(byte me) {
    byte n = 1, mine = 0, k, at, seen;
    bit all, saw, good, left;
    do
    :: n > MEETINGS -> break
    :: n <= MEETINGS && may_refuse && me == MEMBERS - 1 ->
        may_refuse = 0;
        atomic {
            CLEAR(me);
            if
            :: end_is == FREE -> end_is = ENDED; end_at = n
            :: else
            fi
        }
        wake();
        failed[n] = 1;
        break
    :: n <= MEETINGS && end_is != FREE -> failed[n] = 1; break
    :: n <= MEETINGS && end_is == FREE ->
        atomic { CLEAR(me) -> store_data[me] = n }
        store_says[me] = n;
        mine = n;
        wake();
        left = 0;
        do
        :: true ->
#ifdef END_FIRST
            saw = (end_is == FREE);
            look(n);
#else
            look(n);
            saw = (end_is == FREE);
#endif
            if
            :: all && saw -> good = 1; break
            :: !saw && end_is != FREE -> verdict(); left = 1; break
            :: else
            fi;
            if
            :: may_leave && me == 0 ->
                may_leave = 0;
                atomic {
                    CLEAR(me);
                    if
                    :: end_is == FREE -> end_is = ASKED; end_at = n
                    :: else
                    fi
                }
                verdict();
                left = 1;
                wake();
                break
            :: true -> /* sleep */
                atomic { CLEAR(me); sleepers++ }
                seen = calls;
#ifndef NO_MEMBARRIER
                drain_all();
#endif
#ifndef NO_RECHECK
                look(n);
                if
                :: all || end_is != FREE -> skip
                :: else -> (calls != seen)
                fi;
#else
                (calls != seen);
#endif
                sleepers--
            fi
        od;
        if
        :: good ->
            k = 0;
            do
            :: k < MEMBERS ->
                assert(k == me || data[AT(k, n)] == n);
                k++
            :: else -> break
            od;
            k = 0;
            met[n] = 1
        :: else -> failed[n] = 1
        fi;
        assert(!(met[n] && failed[n]));
        if
        :: good -> n++
        :: else -> break
        fi
    od
}

init {
    byte i;
    atomic {
        for (i : 0 .. MEMBERS - 1) {
            run store_buffer(i);
            run member(i)
        }
    }
}
