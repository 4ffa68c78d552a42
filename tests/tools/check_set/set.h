/* SPDX-License-Identifier: BSD-3-Clause */
/* set.h: small programs with one fault each, and right ones that look like them (see ../check_set.test).
 *
 * A case is a function.  In a wrong one a comment behind the line with the fault says what is to be told of it:
 *   MPI_Wait(&same, ...);   / * returned-error: request * /
 * That is the kind and the argument (- for none), for the first call of MPI in that line, or, where it is `at CALL`, for
 * that one, in all ranks, or those of `in RANKS`.  Of right ones nothing may be told. */
#ifndef SET_H
#define SET_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum set_how {
    SET_RIGHT,
    SET_WRONG,  /* it returns, and leaves nothing behind that disturbs others */
    SET_ASTRAY, /* its collectives need not be complete ever */
    SET_ENDS    /* the job ends in it, or hangs: it has to be run alone */
};

struct set_case {
    const char *name, *file;
    void (*run)(void);
    enum set_how how;
    int ranks; /* it needs so many */
    struct set_case *next;
};
void set_add(struct set_case *c);

#define SET_CASE(NAME, HOW, RANKS)                                                      \
    static void NAME(void);                                                             \
    static void __attribute__((constructor)) add_##NAME(void)                           \
    {                                                                                   \
        static struct set_case c = { #NAME, __FILE__, NAME, HOW, RANKS, NULL };         \
        set_add(&c);                                                                    \
    }                                                                                   \
    static void NAME(void)
#define RIGHT(NAME, RANKS) SET_CASE(NAME, SET_RIGHT, RANKS)
#define WRONG(NAME, RANKS) SET_CASE(NAME, SET_WRONG, RANKS)
#define ASTRAY(NAME, RANKS) SET_CASE(NAME, SET_ASTRAY, RANKS)
#define ENDS(NAME, RANKS) SET_CASE(NAME, SET_ENDS, RANKS)

/* Of each case: a communicator of all ranks, of which each sends to the next one and receives from the one before it;
 * memory, with another value in each; requests. */
extern MPI_Comm comm;
extern int rank, size, next, prev, a[1000], b[1000];
extern double d[1000], e[1000];
extern MPI_Request r[4];
extern MPI_Datatype column; /* 10 int, with gaps */
extern MPI_Status *const no, *const none;

#endif
