/* SPDX-License-Identifier: BSD-3-Clause */
/* refused.h: collectives that one process refuses: the others get an error that names it, whichever way they would
 * have gone. */
#ifndef REFUSED_H
#define REFUSED_H

#include "../check.h"

enum { REFUSED_MANY = 60000 };
static int refused_in[REFUSED_MANY * 8], refused_out[REFUSED_MANY * 8];

/* A communicator on which nothing has been agreed. */
CHECK_UNUSED static MPI_Comm refused_fresh(void)
{
    MPI_Comm c;
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_from_group(all, "refused", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    MPI_Group_free(&all);
    return c;
}

/* The error names the process, its call, and the argument, unless what has come first tells less. */
CHECK_UNUSED static void refused_says(const char *what, const char *group, int victim, const char *call,
                                      const char *arg)
{
    char words[80];
    snprintf(words, sizeof words, "rank %d of the %s does not take part", victim, group);
    CHECK(strstr(check_words, words) != NULL, "%s: \"%s\"; expected \"%s\"", what, check_words, words);
    if (strstr(check_words, "an argument of its call"))
        return;
    snprintf(words, sizeof words, "argument %s", arg);
    CHECK(strstr(check_words, words) != NULL, "%s: \"%s\"; expected \"%s\"", what, check_words, words);
    snprintf(words, sizeof words, "of its %s was refused there", call);
    CHECK(strstr(check_words, words) != NULL, "%s: \"%s\"; expected \"%s\"", what, check_words, words);
}

/* What this process got from a call that `victim` has refused. */
CHECK_UNUSED static void refused_named(const char *what, int err, int errclass, int victim, const char *call,
                                       const char *arg)
{
    int len;
    check_words[0] = '\0';
    if (err)
        MPI_Error_string(err, check_words, &len);
    check_err(__FILE__, __LINE__, what, err, errclass);
    if (err && check_rank != victim)
        refused_says(what, "communicator", victim, call, arg);
}

CHECK_UNUSED static int refused_waited(int err, MPI_Request *r)
{
    return err ? err : MPI_Wait(r, MPI_STATUS_IGNORE);
}

/* The numbers of calls are in step: what comes after a refused call is right. */
CHECK_UNUSED static void refused_next(MPI_Comm c, int n)
{
    int *in = refused_in, *out = refused_out, me, size;
    MPI_Request r;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &size);
    for (int i = 0; i < n; i++)
        in[i] = me + i;
    CHECK_ERR(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, c), MPI_SUCCESS);
    for (int i = 0; i < n; i += 1 + n / 7)
        CHECK_EQ(out[i], size * (size - 1) / 2 + size * i);
    CHECK_ERR(refused_waited(MPI_Iallgather(&me, 1, MPI_INT, out, 1, MPI_INT, c, &r), &r), MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        CHECK_EQ(out[i], i);
    for (int root = 0; root < size; root++) {
        int v = me == root ? 100 + root : -1;
        CHECK_ERR(MPI_Bcast(&v, 1, MPI_INT, root, c), MPI_SUCCESS);
        CHECK_EQ(v, 100 + root);
    }
    CHECK_ERR(MPI_Barrier(c), MPI_SUCCESS);
}

#endif
