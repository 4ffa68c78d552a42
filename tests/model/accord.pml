/* SPDX-License-Identifier: BSD-3-Clause */
/* accord.pml: the agreement of members of which any may fail at any time, of src/mpi/comm/accord.c.
 *
 * They begin on a tree, whose root is member 0: what they say goes up, the root's proposal down, that all accept it up, the result
 * down.  Who sees that one is lost leaves the tree for good, also after the end, and goes by the first member that lives, the
 * leader: it collects what all that live have (the result, what they have accepted last, or their own words), proposes, and commits
 * what all that live have accepted.  When it is lost, the next one does.
 *
 * A member may crash before each step; a step is one message that is taken or sent.  A message of a member that is lost arrives or
 * does not.  A loss is seen by each sooner or later, and no member that lives is taken for lost.
 *
 * Checked: all that ever have a result, though they crash with it, have the same; it has in it the words of all that live; all that
 * live get it (else: an invalid end state).
 *
 * Broken on purpose by -D: TREE_AT_ONCE  the root commits what it should propose
 *                          STAR_AT_ONCE  a leader does
 *                          FORGETS       members do not remember what they have accepted
 *                          NO_KEEPING    who has the result does not tell it to a leader
 *                          LEADS_EARLY   a leader does not wait for all that live
 * CHAIN: the tree is 0, 1, 2 (, 3); else it is binomial. */

#ifndef MEMBERS
#define MEMBERS 3
#endif
#define MOST 4

#ifdef CHAIN
#define PARENT(i) ((i) - 1)
#else
#define PARENT(i) ((i) & ((i) - 1))
#endif

#define BIT(i) (1 << (i))
#define ALL (BIT(MEMBERS) - 1)
#define LOST(i) ((lost >> (i)) & 1)
#define SOME_LOST (lost != 0)

/* Have all said so that it is waited for, or, of a leader, are they lost? */
#define CHILD(k) ((k) < MEMBERS && PARENT(k) == me)
#define OF_CHILDREN(slot) ((!CHILD(1) || slot[1]) && (!CHILD(2) || slot[2]) && (!CHILD(3) || slot[3]))
#define OF_ONE(slot, k) ((k) >= MEMBERS || (k) == me || slot[k] || LOST(k))
#define OF_ALL(slot) (OF_ONE(slot, 0) && OF_ONE(slot, 1) && OF_ONE(slot, 2) && OF_ONE(slot, 3))

#define OWN 1
#define ACCEPTED 2
#define RESULT 3

byte lost;    /* bits of members */
byte decided; /* a result is the bits of those whose words are in it; 0: nobody has one */

/* Messages on the tree, of each member to its parent or from it; 0: not sent. */
byte tree_own[MOST], tree_proposed[MOST], tree_result[MOST];
bit tree_accepts[MOST];

/* Messages of each leader and the others. */
typedef star {
    byte up_kind[MOST], up_epoch[MOST], up_words[MOST], proposed[MOST], result[MOST];
    bit accepts[MOST]
};
star by[MEMBERS];

/* A member has the result. */
inline has(w) {
    result = w;
    assert(decided == 0 || decided == w); /* the same */
    assert((w | lost) == ALL); /* of all that live */
    decided = w
}

inline accept(e, w) {
#ifndef FORGETS
    kind = ACCEPTED;
#endif
    epoch = e;
    accepted = w
}

/* To each child in turn; who has seen a loss may have left meanwhile. */
inline to_children(slot, w) {
    k = 1;
    do
    :: atomic { k < MEMBERS && PARENT(k) == me -> slot = w; k++ }
    :: atomic { k < MEMBERS && PARENT(k) != me -> k++ }
    :: k < MEMBERS && SOME_LOST -> goto leaves
    :: atomic { k == MEMBERS -> k = 0; break }
    od
}

inline to_all(slot, w) {
    k = 0;
    do
    :: atomic { k < MEMBERS -> slot = w; k++ }
    :: atomic { k == MEMBERS -> k = 0; break }
    od
}

proctype member(byte me) {
    byte k, l, words, kind, epoch, accepted, result, best, w;
    {
        /* ---- on the tree ---- */
        words = BIT(me);
        if
        :: d_step { OF_CHILDREN(tree_own) ->
            k = 1;
            do
            :: k < MEMBERS && CHILD(k) -> words = words | tree_own[k]; k++
            :: k < MEMBERS && !CHILD(k) -> k++
            :: k == MEMBERS -> break
            od;
            k = 0 }
        :: SOME_LOST -> goto leaves
        fi;
        if
        :: me == 0 -> skip
        :: me > 0 ->
            tree_own[me] = words;
            if
            :: atomic { tree_proposed[me] -> words = tree_proposed[me] }
            :: atomic { tree_result[me] -> words = tree_result[me]; goto told } /* broken on purpose alone */
            :: SOME_LOST -> goto leaves
            fi
        fi;
#ifdef TREE_AT_ONCE
        goto told;
#endif
        atomic { accept(0, words) };
        to_children(tree_proposed[k], words);
        if
        :: OF_CHILDREN(tree_accepts)
        :: SOME_LOST -> goto leaves
        fi;
        if
        :: me == 0 -> skip
        :: me > 0 ->
            tree_accepts[me] = 1;
            if
            :: tree_result[me] -> skip
            :: SOME_LOST -> goto leaves
            fi
        fi;
told:
        atomic { has(words); kind = RESULT };
        to_children(tree_result[k], words);
end_tree:
        SOME_LOST;
leaves:
        /* ---- by a leader ---- */
#ifdef NO_KEEPING
        if
        :: result -> goto end_alone
        :: else
        fi;
#endif
        l = 0;
follows:
        atomic {
            do
            :: l < me && LOST(l) -> l++
            :: else -> break
            od;
            if
            :: l == me && result -> goto commits
            :: l == me && result == 0 -> goto leads
            :: else
            fi
        };
        atomic {
            by[l].up_epoch[me] = epoch;
            if
            :: result -> by[l].up_kind[me] = RESULT; by[l].up_words[me] = result
            :: result == 0 && kind == ACCEPTED -> by[l].up_kind[me] = ACCEPTED; by[l].up_words[me] = accepted
            :: result == 0 && kind != ACCEPTED -> by[l].up_kind[me] = OWN; by[l].up_words[me] = BIT(me)
            fi
        };
        if
        :: result -> goto end_star
        :: atomic { result == 0 && by[l].result[me] -> has(by[l].result[me]); goto end_star }
        :: atomic { result == 0 && by[l].proposed[me] -> accept(l + 1, by[l].proposed[me]); by[l].accepts[me] = 1 }
        :: atomic { result == 0 && LOST(l) -> l++; goto follows }
        fi;
        if
        :: atomic { by[l].result[me] -> has(by[l].result[me]) }
        :: atomic { LOST(l) -> l++; goto follows }
        fi;
end_star:
        atomic { LOST(l) -> l++; goto follows };

        /* ---- as leader ---- */
leads:
#ifdef LEADS_EARLY
        atomic {
#else
        atomic { OF_ALL(by[me].up_kind) ->
#endif
            k = 0;
            words = BIT(me);
            best = (kind == ACCEPTED -> epoch + 1 : 0);
            w = (kind == ACCEPTED -> accepted : 0);
            do
            :: k < MEMBERS && k != me && by[me].up_kind[k] ->
                if
                :: by[me].up_kind[k] == RESULT -> w = by[me].up_words[k]; best = MEMBERS + 2
                :: by[me].up_kind[k] == ACCEPTED && by[me].up_epoch[k] + 1 > best ->
                    w = by[me].up_words[k]; best = by[me].up_epoch[k] + 1
                :: else
                fi;
                words = words | by[me].up_words[k];
                k++
            :: k < MEMBERS && (k == me || LOST(k) || by[me].up_kind[k] == 0) -> k++ /* what a lost one has said arrives or not */
            :: k == MEMBERS -> break
            od;
            words = (w -> w : words);
            k = 0;
            w = 0;
            if
            :: best == MEMBERS + 2 -> best = 0; has(words); goto commits
            :: else -> best = 0
            fi
        };
#ifdef STAR_AT_ONCE
        atomic { has(words); goto commits };
#endif
        atomic { accept(me + 1, words) };
        to_all(by[me].proposed[k], words);
        atomic { OF_ALL(by[me].accepts) -> has(words) };
commits:
        to_all(by[me].result[k], result);
end_alone:
        false
    } unless { d_step { LOST(me) -> k = 0; l = 0; words = 0; kind = 0; epoch = 0; accepted = 0; result = 0; best = 0; w = 0 } }
}

/* Who crashes, and when, until no more do. */
proctype crashes() {
    do
    :: break
    :: atomic { !LOST(0) -> lost = lost | BIT(0) }
    :: atomic { !LOST(1) -> lost = lost | BIT(1) }
    :: atomic { !LOST(2) -> lost = lost | BIT(2) }
#if MEMBERS > 3
    :: atomic { !LOST(3) -> lost = lost | BIT(3) }
#endif
    od
}

init {
    atomic {
        byte i = 0;
        run crashes();
        do
        :: i < MEMBERS -> run member(i); i++
        :: else -> break
        od
    }
}
