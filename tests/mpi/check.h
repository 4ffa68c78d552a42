/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h: what the MPI test programs share.
 *
 *     int main(int argc, char **argv)
 *     {
 *         check_init(&argc, &argv);             sets check_rank and check_size (of MPI_COMM_WORLD)
 *         CHECK(a < b, "a is %d", a);           the text is optional
 *         CHECK_EQ(count, 7, "of the last");    integers; prints both; the text is optional
 *         CHECK_ERR(MPI_Send(...), MPI_ERR_RANK);   the call returns an error of that class (or MPI_SUCCESS)
 *         CHECK_SAYS("dest is 7");              the words of the error that the last CHECK_ERR met
 *         return check_done();                  MPI_Finalize; 1 if anything was wrong
 *     }
 *
 * What differs is printed to stderr with the rank, at most CHECK_MAX times a rank. */
#ifndef CHECK_H
#define CHECK_H

#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

#ifndef CHECK_MAX
#define CHECK_MAX 20
#endif

#if defined(__GNUC__)
#define CHECK_UNUSED __attribute__((unused))
#define CHECK_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define CHECK_UNUSED
#define CHECK_PRINTF(f, a)
#endif

static int check_rank CHECK_UNUSED = -1, check_size CHECK_UNUSED = 0;
static int check_failures CHECK_UNUSED = 0;
static char check_words[MPI_MAX_ERROR_STRING] CHECK_UNUSED;

/* One line about what was wrong. */
CHECK_UNUSED CHECK_PRINTF(3, 4) static void check_wrong(const char *file, int line, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (++check_failures > CHECK_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "rank %d, %s:%d: %s\n", check_rank, file, line, text);
}

CHECK_UNUSED CHECK_PRINTF(1, 2) static const char *check_text(const char *fmt, ...)
{
    static char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

#define CHECK(cond, ...) \
    do { \
        if (!(cond)) \
            check_wrong(__FILE__, __LINE__, "not so: %s: %s", #cond, check_text(" " __VA_ARGS__)); \
    } while (0)

#define CHECK_EQ(got, expected, ...) \
    do { \
        long long got_ = (long long)(got), expected_ = (long long)(expected); \
        if (got_ != expected_) \
            check_wrong(__FILE__, __LINE__, "%s is %lld; expected %lld: %s", #got, got_, expected_, \
                        check_text(" " __VA_ARGS__)); \
    } while (0)

CHECK_UNUSED static void check_err(const char *file, int line, const char *call, int err, int expected)
{
    char want[MPI_MAX_ERROR_STRING];
    int errclass = -1, len = 0;
    MPI_Error_class(err, &errclass);
    MPI_Error_string(err, check_words, &len);
    if (errclass == expected)
        return;
    MPI_Error_string(expected, want, &len);
    check_wrong(file, line, "%s returned class %d (%s); expected %d (%s)", call, errclass, check_words,
                expected, want);
}
#define CHECK_ERR(call, errclass) check_err(__FILE__, __LINE__, #call, (call), (errclass))

#define CHECK_SAYS(words) \
    do { \
        if (!strstr(check_words, (words))) \
            check_wrong(__FILE__, __LINE__, "the error text is \"%s\"; expected it to say \"%s\"", \
                        check_words, (words)); \
    } while (0)

CHECK_UNUSED static void check_init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

/* Errors of calls on MPI_COMM_WORLD, MPI_COMM_SELF and without an object are returned from here on. */
CHECK_UNUSED static void check_errors_return(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* Where a rank dies: mpiexec ends the others by SIGTERM a moment later, and on a loaded machine they are told
 * later than that. */
CHECK_UNUSED static void check_outlives(void)
{
    signal(SIGTERM, SIG_IGN);
}

CHECK_UNUSED static int check_done(void)
{
    if (check_failures > CHECK_MAX)
        fprintf(stderr, "rank %d: and %d more\n", check_rank, check_failures - CHECK_MAX);
    MPI_Finalize();
    return check_failures != 0;
}

/* Bytes that differ for each seed and place; and whether they are still so (the first wrong place is
 * reported). */
static inline unsigned char check_byte(uint64_t seed, uint64_t i)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u ^ (seed + 1) * 0xc2b2ae3d27d4eb4fu;
    return (unsigned char)((x ^ x >> 29) >> 17);
}
CHECK_UNUSED static void check_fill(void *buf, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)buf)[i] = check_byte(seed, i);
}
CHECK_UNUSED static void check_bytes(const char *file, int line, const void *buf, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)buf)[i] != check_byte(seed, i)) {
            check_wrong(file, line, "byte %zu of %zu is %d; expected %d (seed %llu)", i, n,
                        ((const unsigned char *)buf)[i], check_byte(seed, i), (unsigned long long)seed);
            return;
        }
}
#define CHECK_BYTES(buf, n, seed) check_bytes(__FILE__, __LINE__, (buf), (n), (seed))

#endif
