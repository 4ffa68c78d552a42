/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.h: faults of programs (mpiexec -check): their kinds, and one as it travels from a rank to mpiexec. */
#ifndef KU_FAULTS_H
#define KU_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ku_fault_kind {
#define FAULT(constant, name, severity, meaning) KU_FAULT_##constant,
#include "util/faults.def"
#undef FAULT
    KU_FAULT_KINDS
};

enum ku_severity { KU_NOTE, KU_WARNING, KU_ERROR, KU_SEVERITIES };

struct ku_fault_row {
    const char *name;
    enum ku_severity severity;
    const char *meaning;
};
extern const struct ku_fault_row ku_fault_rows[KU_FAULT_KINDS];
extern const char *const ku_severity_names[KU_SEVERITIES];

/* Which kinds are wanted. */
struct ku_fault_choice {
    bool kind[KU_FAULT_KINDS];
    bool strict;    /* standard sends wait for their receives */
    bool keep_exit; /* the exit code is the program's */
};
/* By a list with commas: names of kinds and severities, each with a '-' before it to leave it out; "strict",
 * "keep-exit"; "1" or no kind:
 * all kinds; "0": none.  NULL: good; else the word that is none of these, *len bytes. */
const char *ku_fault_choose(const char *list, struct ku_fault_choice *choice, size_t *len);

/* A fault that a rank has found. */
struct ku_fault {
    enum ku_fault_kind kind;
    uint32_t number;      /* of this process's faults */
    const char *call;     /* "MPI_Send" */
    const char *argument; /* of the call; NULL: none */
    uint64_t here, there; /* where the program has called it; the other place that has part in it; 0: none */
    bool said;            /* what comes of it has words of its own: it is counted only */
    const char *text;     /* with places (PMI_PLACE) */
};

/* As text, with its addresses as places. */
void ku_fault_put(FILE *out, const struct ku_fault *f);

/* The same where places are in words: "/folder/file.c:12 (function)", "" where there is none. */
struct ku_fault_words {
    enum ku_fault_kind kind;
    uint32_t number;
    bool said;
    const char *call, *argument, *here, *there, *text;
};
/* Takes the bytes, which end in a 0 byte, apart, and writes into them; false: this is no fault. */
bool ku_fault_take(char *bytes, struct ku_fault_words *f);

/* "error: MPI_Isend, file.c:12 (main): buf: its 400 bytes ... [send-changed]". */
void ku_fault_show(FILE *out, const struct ku_fault_words *f);

/* The parts of "/folder/file.c:12 (function)", of "function+0x1c in program" and of "program+0x12". */
struct ku_place {
    const char *path, *function;
    int path_len, function_len; /* 0: not known */
    int line;                   /* 0: not known */
};
struct ku_place ku_place_of(const char *text);
/* The same without the folder. */
const char *ku_place_name(const char *text);

#endif
