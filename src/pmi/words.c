/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c: see words.h. */
#include "words.h"
#include <stdlib.h>
#include <string.h>

static bool is_doubled(const char *at, char end)
{
    return end == PMI_FRAME_END && at[0] == end && at[1] == end;
}

/* Where this word ends: at its separator, or at the end of the text. */
static const char *end_of(const char *at, char end)
{
    while (*at && (*at != end || is_doubled(at, end)))
        at += is_doubled(at, end) ? 2 : 1;
    return at;
}

static bool take_value(const char *at, const char *stop, char end, char *value, size_t cap)
{
    size_t len = 0;
    for (; at < stop; at += is_doubled(at, end) ? 2 : 1) {
        if (len + 1 >= cap)
            return false;
        value[len++] = *at;
    }
    value[len] = 0;
    return true;
}

bool pmi_word(const char *text, char end, const char *name, char *value, size_t cap)
{
    size_t n = strlen(name);
    for (const char *at = text, *stop; *at; at = *stop ? stop + 1 : stop) {
        stop = end_of(at, end);
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return take_value(at + n + 1, stop, end, value, cap);
    }
    return false;
}

bool pmi_next_word(const char **at, char end, char *name, size_t name_cap, char *value, size_t cap)
{
    const char *stop = end_of(*at, end), *is = memchr(*at, '=', (size_t)(stop - *at));
    if (!is || (size_t)(is - *at) >= name_cap || !take_value(is + 1, stop, end, value, cap))
        return false;
    memcpy(name, *at, (size_t)(is - *at));
    name[is - *at] = 0;
    *at = *stop ? stop + 1 : stop;
    return true;
}

bool pmi_number(const char *text, char end, const char *name, int32_t *n)
{
    char number[16], *stop;
    if (!pmi_word(text, end, name, number, sizeof number))
        return false;
    long value = strtol(number, &stop, 10);
    if (stop == number || *stop || value < INT32_MIN || value > INT32_MAX)
        return false;
    *n = (int32_t)value;
    return true;
}

bool pmi_says(const char *text, char end, const char *name, const char *value)
{
    char said[64];
    return pmi_word(text, end, name, said, sizeof said) && strcmp(said, value) == 0;
}

int32_t pmi_frame_length(const char head[PMI_FRAME_HEAD])
{
    int at = 0, begin;
    int32_t n = 0;
    while (at < PMI_FRAME_HEAD && head[at] == ' ')
        at++;
    for (begin = at; at < PMI_FRAME_HEAD && head[at] >= '0' && head[at] <= '9'; at++)
        n = 10 * n + (head[at] - '0');
    bool any = at > begin;
    while (at < PMI_FRAME_HEAD && head[at] == ' ')
        at++;
    return any && at == PMI_FRAME_HEAD && n <= PMI_FRAME_MOST ? n : -1;
}

void pmi_frame_head(char head[PMI_FRAME_HEAD], size_t length)
{
    for (int at = PMI_FRAME_HEAD; at-- > 0; length /= 10)
        head[at] = length > 0 ? (char)('0' + length % 10) : ' ';
}

void pmi_double(char *to, size_t cap, const char *value)
{
    char *last = to + cap - 2;
    for (; *value && to < last; value++) {
        *to++ = *value;
        if (*value == PMI_FRAME_END)
            *to++ = *value;
    }
    *to = 0;
}
