/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.pml: the line ring of src/util/linering.h: two producers, one of which may die between claim and publish, one
 * consumer, and a store buffer for each that lets stores to different places become visible in any order, except that a
 * release store waits for all before it and a read-modify-write for an empty buffer.
 *
 * Checked: what is read is what was written (release), though the consumer writes to what it has read; no slot is written before
 * it was read (overflow); a slot is skipped only if its owner is dead and will never write it; nobody waits for ever.
 *
 * Broken on purpose by -D: NO_RELEASE  the lap is published by a plain store
 *                          NO_ANNOUNCE the claim is announced after the ticket is taken
 *                          NO_ROOM     the room is not checked
 *                          NO_SKIP     a dead producer's slot is waited for
 *                          OWN_LATE    the consumer makes a line its own when it has said that it is free
 * With -DALONE: a lane, the ring of one producer, which swaps nothing and may die at any point. What it has published before is read. */

#ifndef MESSAGES
#define MESSAGES 3 /* of each producer */
#endif
#define SLOTS 2
#define CONSUMER 2 /* processes 0 and 1 produce */
#define DEPTH 4

#define TAIL 0
#define CONSUMED 1
#define CLAIMS 2 /* two */
#define LAP 4    /* SLOTS */
#define DATA 6   /* SLOTS */

byte mem[8];

typedef buffer {
    byte n;
    byte addr[DEPTH];
    byte value[DEPTH];
    bit release[DEPTH]
}
buffer buf[3];

bit dead[2];
byte done;      /* producers that are dead or have sent all */
byte owner[16]; /* by ticket: 1 + producer; what the real thing does not know */
byte head;      /* of the consumer: tickets below it have been read or skipped */

inline put(p, a, v, rel) {
    d_step {
        assert(buf[p].n < DEPTH);
        buf[p].addr[buf[p].n] = a;
        buf[p].value[buf[p].n] = v;
        buf[p].release[buf[p].n] = rel;
        buf[p].n++
    }
}

/* Make entry i of process p visible. */
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

#ifdef ALONE
byte published;

proctype producer(byte p) {
    byte t, c, sent;
    do
    :: sent < MESSAGES + 2 ->
        (buf[p].n == 0);
        t = mem[TAIL];
        c = mem[CONSUMED];
        if
#ifndef NO_ROOM
        :: t - c >= SLOTS -> (mem[CONSUMED] != c)
#endif
        :: else ->
            assert(head + SLOTS > t);
            put(p, DATA + t % SLOTS, t + 1, 0);
            if
            :: break
            :: true
            fi;
#ifdef NO_RELEASE
            put(p, LAP + t % SLOTS, t / SLOTS + 1, 0);
#else
            put(p, LAP + t % SLOTS, t / SLOTS + 1, 1);
#endif
            published++;
            if
            :: break
            :: true
            fi;
            put(p, TAIL, t + 1, 1);
            sent++
        fi
    :: else -> break
    od;
    done++
}
#else
proctype producer(byte p) {
    byte t, c, sent;
    do
    :: sent < MESSAGES ->
        (buf[p].n == 0); /* keeps the buffers short */
#ifndef NO_ANNOUNCE
        put(p, CLAIMS + p, 1, 0);
#endif
        t = mem[TAIL];
        c = mem[CONSUMED];
        if
#ifndef NO_ROOM
        :: t - c >= SLOTS ->
            put(p, CLAIMS + p, 0, 1);
            (buf[p].n == 0);
            (mem[CONSUMED] != c) /* try again when there is room */
#endif
        :: else ->
            atomic {
                (buf[p].n == 0);
                if
                :: mem[TAIL] == t ->
                    mem[TAIL] = t + 1;
                    owner[t] = p + 1;
                    c = 100 /* claimed */
                :: else
                fi
            }
            if
            :: c == 100 ->
                if
                :: p == 1 -> d_step { dead[1] = 1; done++ }; goto gone
                :: true
                fi;
#ifdef NO_ANNOUNCE
                put(p, CLAIMS + p, 1, 0);
#endif
                assert(head + SLOTS > t);
                put(p, DATA + t % SLOTS, t + 1, 0);
#ifdef NO_RELEASE
                put(p, LAP + t % SLOTS, t / SLOTS + 1, 0);
#else
                put(p, LAP + t % SLOTS, t / SLOTS + 1, 1);
#endif
                sent++
            :: else
            fi;
            put(p, CLAIMS + p, 0, 1)
        fi
    :: else -> break
    od;
    (buf[p].n == 0);
    done++;
gone:
    skip
}
#endif

#define PUBLISHED (mem[LAP + head % SLOTS] == head / SLOTS + 1)

active proctype consumer() {
    bit seen0, seen1;
    run store_buffer(0);
    run store_buffer(1);
    run store_buffer(CONSUMER);
    run producer(0);
#ifndef ALONE
    run producer(1);
#endif
    do
    :: PUBLISHED ->
        assert(mem[DATA + head % SLOTS] == head + 1);
        head++;
#ifdef OWN_LATE
        put(CONSUMER, CONSUMED, head, 1);
        put(CONSUMER, DATA + (head - 1) % SLOTS, 0, 0);
#else
        put(CONSUMER, DATA + (head - 1) % SLOTS, 0, 0);
        put(CONSUMER, CONSUMED, head, 1);
#endif
        (buf[CONSUMER].n == 0);
        seen0 = 0;
        seen1 = 0
#ifdef ALONE
    :: done == 1 && buf[0].n == 0 && !PUBLISHED ->
        assert(head == published);
        break
#else
#ifndef NO_SKIP
    :: !PUBLISHED && mem[TAIL] != head && (dead[0] || dead[1]) ->
        if
        :: !seen0 && (dead[0] || mem[CLAIMS] == 0) -> seen0 = 1
        :: !seen1 && (dead[1] || mem[CLAIMS + 1] == 0) -> seen1 = 1
        :: seen0 && seen1 ->
            if
            :: !PUBLISHED ->
                assert(dead[owner[head] - 1]);
                head++;
                put(CONSUMER, CONSUMED, head, 1);
                (buf[CONSUMER].n == 0)
            :: else
            fi;
            seen0 = 0;
            seen1 = 0
        :: !(!seen0 && (dead[0] || mem[CLAIMS] == 0)) && !(!seen1 && (dead[1] || mem[CLAIMS + 1] == 0)) &&
           !(seen0 && seen1) -> (mem[CLAIMS] == 0 || mem[CLAIMS + 1] == 0 || PUBLISHED || dead[0] && dead[1])
        fi
#endif
    :: done == 2 && mem[TAIL] == head && buf[0].n == 0 && buf[1].n == 0 -> break
#endif
    od
}
