/* SPDX-License-Identifier: BSD-3-Clause */
/* json.h: a text as JSON has it. */
#ifndef KU_JSON_H
#define KU_JSON_H

#include <stdio.h>
#include <string.h>

/* Bytes of the character in UTF-8 that begins there; 0: none does. */
static inline int ku_utf8_bytes(const unsigned char *s)
{
    int n = *s < 0x80                 ? 1
            : *s >= 0xc2 && *s < 0xe0 ? 2
            : *s >= 0xe0 && *s < 0xf0 ? 3
            : *s >= 0xf0 && *s < 0xf5 ? 4
                                      : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
        return 0;
    return n;
}

/* In quotes; what is not UTF-8 becomes the character for that. */
static inline void ku_json_string(FILE *out, const char *text)
{
    putc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = ku_utf8_bytes(s);
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s < 0x20)
            fprintf(out, "\\u%04x", (unsigned)*s);
        else if (n == 0)
            fputs("\\ufffd", out);
        else
            fwrite(s, 1, (size_t)n, out);
        s += n ? n : 1;
    }
    putc('"', out);
}

#endif
