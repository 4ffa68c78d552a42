/* SPDX-License-Identifier: BSD-3-Clause */
/* io_agree.c: agreement of a file's processes: that all is well, or what has gone wrong; that they have said the
 * same. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <string.h>
#include "io.h"
#include "op.h"

static int all_max(MPIR_File *f, int64_t *values, int n)
{
    MPIR_Datatype *word = MPIR_Datatype_predefined(KEEL_MPI_INT64_T);
    MPIR_Op *max = MPIR_Object_predefined(MPIR_KIND_OP, KEEL_MPI_MAX);
    return f->comm->adi.size == 1 ? 0 : MPIR_Allreduce(MPI_IN_PLACE, values, n, word, max, f->comm);
}

int64_t MPIR_Io_verdict(int err, int32_t rank)
{
    return err ? (int64_t)err << 32 | (INT32_MAX - rank) : 0;
}
static int class_of(int64_t verdict)
{
    return (int)(verdict >> 32);
}
static int32_t io_agree_rank_of(int64_t verdict)
{
    return INT32_MAX - (int32_t)(verdict & INT32_MAX);
}

int MPIR_Io_another_met(const MPIR_File *f, int64_t verdict, const struct ku_err *words)
{
    char name[101]; /* as much as texts have of it */
    snprintf(name, sizeof name, "%s", f->name);
    bool named = strstr(words->text, name) != NULL;
    return MPIR_Err(class_of(verdict), NULL, "rank %d%s%s: %s%s%.200s", io_agree_rank_of(verdict),
                    named ? "" : " at ", named ? "" : name, words->arg, words->arg[0] ? " " : "",
                    words->text);
}

/* values[0] is for `err`; the others go with it. */
static int agree_with(MPIR_File *f, int err, int64_t *values, int n)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    struct ku_err words = *ku_err_last(), heard = words;
    values[0] = MPIR_Io_verdict(err, f->comm->adi.rank);
    int there = all_max(f, values, n);
    if (!there && values[0] && f->comm->adi.size > 1)
        there = MPIR_Bcast(&heard, sizeof heard, byte, io_agree_rank_of(values[0]), f->comm);
    if (err) {
        *ku_err_last() = words;
        return err;
    }
    return !there && values[0] ? MPIR_Io_another_met(f, values[0], &heard) : there;
}

int MPIR_Io_agree(MPIR_File *f, int err)
{
    int64_t worst;
    return agree_with(f, err, &worst, 1);
}

int MPIR_Io_agree_hints(MPIR_File *f, int err, bool *all)
{
    bool first = f->comm->adi.rank == 0;
    int64_t v[4] = { 0, !*all, first ? (int64_t)f->hints.cb_read : 0,
                     first ? (int64_t)f->hints.cb_write : 0 };
    err = agree_with(f, err, v, 4);
    *all = v[1] == 0;
    f->together[0] = (enum MPIR_FILE_USE)v[2];
    f->together[1] = (enum MPIR_FILE_USE)v[3];
    return err;
}

int MPIR_Io_not_same(const MPIR_File *f, const char *arg)
{
    return MPIR_Err(MPI_ERR_NOT_SAME, arg, "is not the same in all processes of %.150s", f->name);
}

int MPIR_Io_same(MPIR_File *f, const int64_t *values, int n, const char *arg)
{
    int64_t both[8];
    for (int i = 0; i < n; i++) {
        both[i] = values[i];
        both[n + i] = ~values[i];
    }
    int err = all_max(f, both, 2 * n);
    for (int i = 0; !err && i < n; i++)
        if (both[i] != ~both[n + i])
            err = MPIR_Io_not_same(f, arg);
    return err;
}
