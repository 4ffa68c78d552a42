/* knob.h: the variables a user may set, as rows: KEEL_<NAME> in the environment.
 *
 * The folder that owns a variable owns its row, in a table that it registers before it reads a value;
 * mpi_info, the man page and MPI_T read the same rows.  A value is read from the environment when its table
 * is registered. Register and check while single-threaded (MPID_Init). */
#ifndef KU_KNOB_H
#define KU_KNOB_H

#include <stdbool.h>
#include <stdint.h>

enum ku_knob_type {
    KU_KNOB_INT,   /* decimal or 0x */
    KU_KNOB_SIZE,  /* bytes: an integer with K, M or G */
    KU_KNOB_BOOL,  /* 0 1 no yes off on false true */
    KU_KNOB_STR,   /* any text */
    KU_KNOB_INTERN /* set by Keel itself for its own processes: known, but not shown */
};

struct ku_knob {
    const char *name; /* without KEEL_ */
    enum ku_knob_type type;
    const char *def;  /* as it would be written in the environment; NULL: no value (0, NULL) */
    const char *unit; /* "us", "bytes", ""  */
    int64_t min, max; /* of numbers */
    const char *help;
    /* filled in when registered */
    bool is_set; /* the environment has a valid value */
    int64_t num;
    const char *str;
};

struct ku_knob_table {
    struct ku_knob *rows;
    int n;
    struct ku_knob_table *next; /* of the register */
};

/* Make the rows known and read their values (again, if the table is registered already). */
void ku_knob_register(struct ku_knob_table *table);

/* Values; the name must be registered: an unknown one aborts the program (a fault of the code, not of the user). */
int64_t ku_knob_int(const char *name); /* INT, SIZE, BOOL */
const char *ku_knob_str(const char *name);
bool ku_knob_is_set(const char *name);

/* The row of a name, or NULL. */
const struct ku_knob *ku_knob_find(const char *name);

/* Tell `show` about each KEEL_ variable of the environment that is unknown (with the nearest name) or has a
 * value out of range (the default is used instead).  Call it in one rank of a job, when all tables are registered. */
void ku_knob_check(void (*show)(void *arg, const char *text), void *arg);

/* All rows, in the order of registration. */
void ku_knob_each(void (*fn)(void *arg, const struct ku_knob *row), void *arg);

#endif
