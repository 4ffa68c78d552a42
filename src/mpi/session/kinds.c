/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c: the kinds of memory that buffers may lie in: mpi_memory_alloc_kinds (12.4.3).
 *
 * What the standard defines is supported in any combination; and a device's memory where src/mpi/memory has its
 * kind, with the restrictors of "Memory Allocation Kinds" (MPI Forum, a side document). */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "mpi_err.h"
#include "session.h"
#include "stage.h"

static const char always[] = "mpi,system", key[] = "mpi_memory_alloc_kinds";

static bool is_word(const char *at, size_t n, const char *word)
{
    return strlen(word) == n && !memcmp(at, word, n);
}

static bool is_restrictor(const char *at, size_t n, bool device)
{
    if (device)
        return is_word(at, n, "host") || is_word(at, n, "device") || is_word(at, n, "managed");
    return is_word(at, n, "alloc_mem") || is_word(at, n, "win_allocate") ||
           is_word(at, n, "win_allocate_shared");
}

/* One element of a list: a kind, and restrictors with ':' before each. */
static bool is_supported(const char *at, size_t n)
{
    size_t word = 0;
    while (word < n && at[word] != ':')
        word++;
    bool cuda = is_word(at, word, "cuda") && MPIR_Memory_supports("cuda");
    if (word == n)
        return n == 0 || is_word(at, n, "system") || is_word(at, n, "mpi") || cuda;
    if (!is_word(at, word, "mpi") && !cuda)
        return false;
    for (size_t from = word + 1; from <= n; from = word + 1) {
        for (word = from; word < n && at[word] != ':';)
            word++;
        if (!is_restrictor(at + from, word - from, cuda))
            return false;
    }
    return true;
}

/* The next element of a list, without the spaces around it: its length, -1 behind the last.  *list goes on behind
 * it. */
static int next(const char **list, const char **element)
{
    if (!*list)
        return -1;
    *element = *list + strspn(*list, " ");
    size_t n = strcspn(*element, ",");
    *list = (*element)[n] ? *element + n + 1 : NULL;
    while (n > 0 && (*element)[n - 1] == ' ')
        n--;
    return (int)n;
}

bool MPIR_Memory_kinds_all(const char *list)
{
    const char *at;
    for (int n = next(&list, &at); n >= 0; n = next(&list, &at))
        if (!is_supported(at, (size_t)n))
            return false;
    return true;
}

char *MPIR_Memory_kinds_answer(const char *asked)
{
    const char *at;
    char *answer = malloc(sizeof always + (asked ? strlen(asked) + 1 : 0));
    if (!answer) {
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the kinds of memory");
        return NULL;
    }
    strcpy(answer, always);
    for (int n = next(&asked, &at); n >= 0; n = next(&asked, &at)) {
        bool there = n == 0 || is_word(at, (size_t)n, "mpi") || is_word(at, (size_t)n, "system");
        if (there || !is_supported(at, (size_t)n))
            continue;
        strcat(answer, ",");
        strncat(answer, at, (size_t)n);
    }
    return answer;
}

const char *MPIR_Memory_kinds_asked(const MPIR_Info *info, char room[MPI_MAX_INFO_VAL])
{
    const char *value = MPIR_Info_value(info, key);
    if (value)
        return value;
    return MPIR_Info_said(key, room, MPI_MAX_INFO_VAL) ? room : NULL;
}
