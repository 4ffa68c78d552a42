/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.pml: a body that goes through a cell of ch_shmem, again and again: the sender fills it, says that it is busy and publishes
 * a line that names it; the receiver reads it, makes its lines his own by storing what they hold already (util/copy.h), and gives
 * the cell back.  Stores become visible in any order but for release stores (as in ring.pml); the ring of lines is one word.
 *
 * Checked: what is read is what was written, every time; nobody waits for ever.
 *
 * Broken on purpose by -D: NO_PUBLISH  the line is published by a plain store
 *                          NO_GIVE     the cell is given back by a plain store: the receiver's stores may land on the next body
 *                          OWN_LATE    the receiver makes the lines his own after giving them back
 *                          BUSY_LATE   the sender says that the cell is busy after the line */

#ifndef MESSAGES
#define MESSAGES 4
#endif
#define DEPTH 5

#define LINE 0
#define BUSY 1
#define BODY 2 /* two lines of it */

byte mem[4];

typedef buffer {
    byte n;
    byte addr[DEPTH];
    byte value[DEPTH];
    bit release[DEPTH]
}
buffer buf[2]; /* of the sender, of the receiver */

inline put(p, a, v, rel) {
    atomic {
        (buf[p].n < DEPTH);
        buf[p].addr[buf[p].n] = a;
        buf[p].value[buf[p].n] = v;
        buf[p].release[buf[p].n] = rel;
        buf[p].n++
    }
}

/* Has process p a store to a that is not visible yet? */
#define HAS(p, a) (buf[p].addr[0] == a || buf[p].addr[1] == a || buf[p].addr[2] == a || buf[p].addr[3] == a || buf[p].addr[4] == a)

inline drain(p, i) {
    d_step {
        mem[buf[p].addr[i]] = buf[p].value[i];
        k = i;
        do
        :: k + 1 < buf[p].n ->
            buf[p].addr[k] = buf[p].addr[k + 1];
            buf[p].value[k] = buf[p].value[k + 1];
            buf[p].release[k] = buf[p].release[k + 1];
            k++
        :: else -> break
        od;
        buf[p].n--;
        buf[p].addr[buf[p].n] = 0;
        buf[p].value[buf[p].n] = 0;
        buf[p].release[buf[p].n] = 0;
        k = 0
    }
}

#define FREE(p, i) (buf[p].n > i && (i == 0 || !buf[p].release[i]))
#define OTHER(p, i, j) (buf[p].addr[i] != buf[p].addr[j])

proctype store_buffer(byte p) {
    byte k;
end:
    do
    :: atomic { FREE(p, 0) -> drain(p, 0) }
    :: atomic { FREE(p, 1) && OTHER(p, 1, 0) -> drain(p, 1) }
    :: atomic { FREE(p, 2) && OTHER(p, 2, 0) && OTHER(p, 2, 1) -> drain(p, 2) }
    :: atomic { FREE(p, 3) && OTHER(p, 3, 0) && OTHER(p, 3, 1) && OTHER(p, 3, 2) -> drain(p, 3) }
    od
}

#ifdef NO_PUBLISH
#define PUBLISH 0
#else
#define PUBLISH 1
#endif
#ifdef NO_GIVE
#define GIVE 0
#else
#define GIVE 1
#endif

proctype sender() {
    byte i;
    for (i : 1 .. MESSAGES) {
        (mem[BUSY] == 0 && !HAS(0, BUSY));
        put(0, BODY, i, 0);
        put(0, BODY + 1, i, 0);
#ifndef BUSY_LATE
        put(0, BUSY, 1, 0);
        put(0, LINE, i, PUBLISH)
#else
        put(0, LINE, i, PUBLISH);
        put(0, BUSY, 1, 0)
#endif
    }
}

active proctype receiver() {
    byte i, v, w;
    run store_buffer(0);
    run store_buffer(1);
    run sender();
    for (i : 1 .. MESSAGES) {
        (mem[LINE] == i);
        v = mem[BODY]; /* its own stores there repeat what it has read */
        w = mem[BODY + 1];
        assert(v == i && w == i);
#ifndef OWN_LATE
        put(1, BODY, v, 0);
        put(1, BODY + 1, w, 0);
#endif
        put(1, BUSY, 0, GIVE);
#ifdef OWN_LATE
        put(1, BODY, v, 0);
        put(1, BODY + 1, w, 0)
#endif
    }
}
