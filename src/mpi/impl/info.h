/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h: info objects, and what other chapters ask of one. */
#ifndef MPIR_INFO_H
#define MPIR_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include "object.h"

struct MPIR_Info_pair; /* src/mpi/info */

typedef struct MPIR_Info {
    struct keel_object obj;
    struct MPIR_Info_pair **pairs; /* [n] in the order in which the keys came */
    int32_t n, room;
    struct MPIR_Info_pair **bucket; /* [buckets], by the hash of the key; NULL while there are none */
    uint32_t buckets;
} MPIR_Info;

/* MPI_INFO_ENV: empty until MPI_Init; read only. */
extern MPIR_Info MPIR_Info_env;

/* The value of a key, or NULL (also for info NULL); valid until info changes. */
const char *MPIR_Info_value(const MPIR_Info *info, const char *key);

/* The same as the standard's types, without spaces around: true if the key is there and its value is one; *is or
 * *number is then set.  A value that is none is an error of class MPI_ERR_INFO_VALUE in *err, in words; err NULL:
 * it is a hint, and says nothing. */
bool MPIR_Info_bool(const MPIR_Info *info, const char *key, bool *is, int *err);
bool MPIR_Info_number(const MPIR_Info *info, const char *key, int64_t *number, int *err);

/* What was said of this process at its start: true if mpiexec was given a value for the key, put into value[size]. */
bool MPIR_Info_said(const char *key, char *value, size_t size);

/* Fill MPI_INFO_ENV (argc 0, argv NULL: the kernel is asked). What cannot be found out or stored is left out. */
void MPIR_Info_env_init(int argc, char **argv);

#endif
