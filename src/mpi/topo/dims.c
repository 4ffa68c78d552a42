/* SPDX-License-Identifier: BSD-3-Clause */
/* dims.c: MPI_Dims_create: the division of n into k factors that are as close to each other as possible.
 *
 * Of all divisions d[0] >= d[1] >= ... >= d[k-1] with the product n the one with the smallest d[0] - d[k-1]; of
 * these the first in lexicographic order, that is with the smallest largest factor, and so on.  It is found by
 * going through the divisions in that order, so that a later one counts only if its difference is smaller, which
 * leaves few to look at: all factors must lie within that difference of the largest. */
#include <stdlib.h>
#include "bodies.h"
#include "process_topology.h"

enum { MOST_DIVISORS = 1600, /* of a number below 2^31 */ MOST_FACTORS = 30 /* prime factors of one */ };

struct search {
    int ndivisors, nprimes;     /* prime factors, each as often as it occurs */
    int divisor[MOST_DIVISORS]; /* ascending, of the number at the start */
    int k;
    int64_t best;                             /* the smallest difference so far */
    int found[MOST_FACTORS], d[MOST_FACTORS]; /* the division that has it; the present one */
};

static int by_size(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* All divisors: those of the part of n seen so far, times the powers of the next prime. */
static void list_divisors(struct search *s, int n)
{
    s->ndivisors = 1;
    s->nprimes = 0;
    s->divisor[0] = 1;
    for (int64_t p = 2; n > 1; p += p == 2 ? 1 : 2) {
        if (p * p > n)
            p = n;
        int before = s->ndivisors;
        for (int power = 1; n % p == 0; n /= (int)p) {
            power *= (int)p;
            s->nprimes++;
            for (int i = 0; i < before; i++)
                s->divisor[s->ndivisors++] = s->divisor[i] * power;
        }
    }
    qsort(s->divisor, (size_t)s->ndivisors, sizeof s->divisor[0], by_size);
}

/* Is base^k at least n, or at most n? */
static bool reaches(int64_t base, int k, int64_t n)
{
    int64_t p = 1;
    for (int i = 0; i < k && p < n; i++)
        p *= base;
    return p >= n;
}
static bool exceeds(int64_t base, int k, int64_t n)
{
    return base > 1 && reaches(base, k, n + 1);
}

/* The factors from number i on, whose product is n, none larger than d[i - 1]. */
static void divide(struct search *s, int i, int n)
{
    int left = s->k - i, most = i ? s->d[i - 1] : n;
    if (left == 0 || n == 1) {
        int64_t difference = s->d[0] - (left ? 1 : s->d[i - 1]);
        if (difference >= s->best)
            return;
        s->best = difference;
        for (int j = 0; j < s->k; j++)
            s->found[j] = j < i ? s->d[j] : 1;
        return;
    }
    for (int j = 0; j < s->ndivisors && s->divisor[j] <= most; j++) {
        int d = s->divisor[j];
        int64_t least = (int64_t)(i ? s->d[0] : d) - s->best + 1; /* to be better, no factor may be smaller */
        if (d < least || n % d || !reaches(d, left, n))
            continue;
        if (exceeds(least, left, n))
            break; /* also for all larger d */
        if (left == 1 && d != n)
            continue;
        s->d[i] = d;
        divide(s, i + 1, n / d);
    }
}

/* d[0 .. k - 1]: the factors of n in nonincreasing order. */
static int balance(int n, int k, int *d)
{
    struct search *s = malloc(sizeof *s);
    if (!s)
        return MPIR_Topo_no_memory();
    list_divisors(s, n);
    s->k = k < s->nprimes ? k : s->nprimes; /* the others are 1 */
    s->best = INT64_MAX;
    if (s->k)
        divide(s, 0, n);
    for (int i = 0; i < k; i++)
        d[i] = i < s->k ? s->found[i] : 1;
    free(s);
    return 0;
}

/* What is left of nnodes when the given dimensions are divided out, and how many are not given. */
static int check_given(int nnodes, int ndims, const int *dims, int *rest, int *open)
{
    int64_t product = 1;
    *open = 0;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return MPIR_Err(MPI_ERR_DIMS, "dims", "has %d at index %d; expected 0 (to be set) or more",
                            dims[i], i);
        if (dims[i] == 0)
            (*open)++;
        else if (product <= nnodes)
            product *= dims[i];
    }
    if (nnodes % product)
        return MPIR_Err(MPI_ERR_DIMS, "nnodes",
                        "is %d; expected a multiple of the product of the dimensions that are given, %s%lld",
                        nnodes, product > nnodes ? "at least " : "", (long long)product);
    *rest = (int)(nnodes / product);
    if (*open == 0 && *rest != 1)
        return MPIR_Err(MPI_ERR_DIMS, "nnodes",
                        "is %d; expected %lld, the product of the dimensions, as all are given", nnodes,
                        (long long)product);
    return 0;
}

int MPIR_Dims_create(int nnodes, int ndims, int *dims)
{
    int rest = 1, open, err;
    if (nnodes < 1)
        return MPIR_Err(MPI_ERR_ARG, "nnodes", "is %d; expected at least 1", nnodes);
    if (ndims < 0)
        return MPIR_Err(MPI_ERR_DIMS, "ndims", "is %d; expected at least 0", ndims);
    if ((err = MPIR_Topo_check_array(dims, ndims, "dims")) ||
        (err = check_given(nnodes, ndims, dims, &rest, &open)))
        return err;
    int *d = malloc((size_t)open * sizeof *d + 1);
    if (!d)
        return MPIR_Topo_no_memory();
    err = balance(rest, open, d);
    for (int i = 0, j = 0; i < ndims && !err; i++)
        if (dims[i] == 0)
            dims[i] = d[j++];
    free(d);
    return err;
}
