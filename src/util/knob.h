/* SPDX-License-Identifier: BSD-3-Clause */
/* knob.h: the variables a user may set, as rows: KEEL_<NAME> in the environment.
 *
 * The folder that owns a variable owns its row, in a table that it makes known when the library is loaded and
 * registers before it reads a value; mpi_info and MPI_T read the same rows.  A value is read from the environment
 * when its table is registered, unless a tool has set it before.  Register and check while single-threaded
 * (MPID_Init). */
#ifndef KU_KNOB_H
#define KU_KNOB_H

#include <stdbool.h>
#include <stdint.h>
#include "names.h"

enum ku_knob_type {
    KU_KNOB_INT,   /* decimal or 0x */
    KU_KNOB_SIZE,  /* bytes: an integer with K, M or G */
    KU_KNOB_BOOL,  /* 0 1 no yes off on false true */
    KU_KNOB_STR,   /* any text */
    KU_KNOB_INTERN /* set by Keel itself for its own processes: known, but not shown */
};

/* Who must set it, and to what. */
enum ku_knob_scope {
    KU_KNOB_LOCAL, /* any process, as it likes */
    KU_KNOB_EQUAL, /* all processes of the job, to the same value */
    KU_KNOB_CONST  /* nobody but the environment */
};

struct ku_knob {
    const char *name; /* without KEEL_ */
    enum ku_knob_type type;
    const char *def;  /* as it would be written in the environment; NULL: no value (0, NULL) */
    const char *unit; /* "us", "bytes", ""  */
    int64_t min, max; /* of numbers */
    const char *help;
    const struct ku_names *choices; /* of text: what it may be, in any case; NULL: anything */
    enum ku_audience audience;
    enum ku_knob_scope scope;
    bool once; /* what it says is taken in only once: then it is used */
    /* Take in a new value while the library runs; NULL: it is read when the library starts. */
    void (*changed)(const struct ku_knob *row);
    /* filled in when registered */
    bool is_used;
    bool is_set; /* the environment has a valid value */
    int64_t num;
    const char *str;
    char *own; /* what a tool has set it to; str points there */
};

struct ku_knob_table {
    struct ku_knob *rows;
    int n;
    struct ku_knob_table *next; /* of the register */
    const char *area;           /* what the rows are about: a category of MPI_T */
    void (*more)(void); /* makes further tables known when somebody asks for all rows; NULL: there are none */
    bool is_read;
};

/* Make the rows known, without a look at their values: for constructors. */
void ku_knob_add(struct ku_knob_table *table);

/* Make the rows known and read their values (again, if the table is registered already). */
void ku_knob_register(struct ku_knob_table *table);

/* Values; the name must be registered: an unknown one aborts the program (a fault of the code, not of the user). */
int64_t ku_knob_int(const char *name); /* INT, SIZE, BOOL */
const char *ku_knob_str(const char *name);
bool ku_knob_is_set(const char *name);

/* The row of a name, or NULL.  Its value has been read. */
const struct ku_knob *ku_knob_find(const char *name);

/* The row at an index, in the order in which they became known, and its table's area; NULL beyond the last.  Its
 * value has been read. */
struct ku_knob *ku_knob_at(int index, const char **area);

/* The rows are known no more, and what tools have set of them is freed. */
void ku_knob_remove(struct ku_knob_table *table);

/* Can this row be registered: is its default one of its values, and its name not known yet? */
bool ku_knob_sound(const struct ku_knob *row);

/* Set a row to a text, as the environment would; false if that is no value of it, or there is no memory. */
bool ku_knob_set(struct ku_knob *row, const char *text);

/* Tell `show` about each KEEL_ variable of the environment that is unknown (with the nearest name) or has a
 * value out of range (the default is used instead).  Call it in one rank of a job, when all tables are registered. */
void ku_knob_check(void (*show)(void *arg, const char *text), void *arg);

/* Is each KEEL_ variable of the environment one of those that are known so far? */
bool ku_knob_all_known(void);

#endif
