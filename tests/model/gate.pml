/* SPDX-License-Identifier: BSD-3-Clause */
/* gate.pml: the gate of a part of a window (src/mpi/rma/update.c): processes that update a few elements, each in one step and with no fence
 * before, and processes that update many by a kernel, which loads and stores.
 *
 * `busy` has a store buffer: it becomes visible later.  Who closes the gate empties all buffers (membarrier).
 *
 * Checked: no update is lost.
 *
 * Broken on purpose by -D: NO_SHOW     the gate is closed without the membarrier
 *                          NO_WAIT     nor is it waited for those that are busy
 *                          LOOK_FIRST  the gate is looked at before it is said that one is busy */

#ifndef UPDATES
#define UPDATES 1 /* of each */
#endif
#define FEW 2

bit gate, busy[FEW];
byte value, ended;
chan buffer[FEW] = [3] of { bit };

inline empty_buffer(p) {
    do
    :: buffer[p]?v -> busy[p] = v
    :: empty(buffer[p]) -> break
    od
}

proctype store_buffer(byte p) {
    bit v;
end:
    do
    :: atomic { buffer[p]?v -> busy[p] = v }
    od
}

proctype few(byte p) {
    byte i;
    bit closed;
    for (i : 1 .. UPDATES) {
        do
        :: true ->
#ifdef LOOK_FIRST
            closed = gate;
            buffer[p]!1;
#else
            buffer[p]!1;
            closed = gate;
#endif
            if
            :: !closed -> break
            :: else -> buffer[p]!0; (!gate)
            fi
        od;
        value++;
        buffer[p]!0
    }
    ended++
}

proctype many() {
    byte i, was;
    bit v;
    for (i : 1 .. UPDATES) {
        atomic { !gate -> gate = 1 }
#ifndef NO_SHOW
        atomic { empty_buffer(0); empty_buffer(1) }
#endif
#ifndef NO_WAIT
        (!busy[0]);
        (!busy[1]);
#endif
        was = value;
        value = was + 1;
        gate = 0
    }
    ended++
}

init {
    atomic {
        run store_buffer(0);
        run store_buffer(1);
        run few(0);
        run few(1);
        run many();
        run many()
    }
    (ended == 4);
    assert(value == 4 * UPDATES)
}
