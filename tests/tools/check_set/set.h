/* SPDX-License-Identifier: BSD-3-Clause */
/* set.h: small programs with one fault each, and right ones that look like them (see ../check_set.test).
 *
 * A case is a function.  In a wrong one a comment behind the line with the fault says what is to be told of it:
 *
 *     MPI_Wait(&same, no);  // returned-error: request in last
 *
 * (as a comment of C).  That is the kind; the argument, or - for none, or `any`, where each side has its own; and
 * which ranks tell it (ranks_of in ../check_set.test), if not all.  An error that a call returns has the argument
 * among its words.  The call is the first one of MPI in that line.  Several faults have commas between them.  Of
 * right ones nothing may be told. */
#ifndef SET_H
#define SET_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum set_how {
    SET_RIGHT,
    SET_WRONG,  /* it returns, and leaves nothing behind that disturbs others */
    SET_ASTRAY, /* its collectives need not be complete ever */
    SET_ENDS    /* the job ends in it, or hangs: in a job of its own */
};

struct set_case {
    const char *name, *file;
    void (*run)(void);
    enum set_how how;
    int ranks; /* it needs so many */
    struct set_case *next;
};
void set_add(struct set_case *c);

#define SET_CASE(NAME, HOW, RANKS) \
    static void NAME(void); \
    static void __attribute__((constructor)) add_##NAME(void) \
    { \
        static struct set_case c = { #NAME, __FILE__, NAME, HOW, RANKS, NULL }; \
        set_add(&c); \
    } \
    static void NAME(void)
#define RIGHT(NAME, RANKS) SET_CASE(NAME, SET_RIGHT, RANKS)
#define WRONG(NAME, RANKS) SET_CASE(NAME, SET_WRONG, RANKS)
#define ASTRAY(NAME, RANKS) SET_CASE(NAME, SET_ASTRAY, RANKS)
#define ENDS(NAME, RANKS) SET_CASE(NAME, SET_ENDS, RANKS)

/* Of each case: a communicator of all ranks, of which each sends to the next one and receives from the one before it;
 * memory, with another value in each; requests. */
extern MPI_Comm comm;
extern int rank, size, next, prev, *a, *b; /* of 1000 */
extern double *d, *e;
extern MPI_Request r[4];
extern MPI_Datatype column; /* 10 int, with gaps */
extern MPI_Status *const no, *const none;

#endif
