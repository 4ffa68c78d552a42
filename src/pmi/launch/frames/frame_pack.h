/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_pack.h: values one after the other, as bytes in a frame; numbers are little-endian. */
#ifndef PACK_H
#define PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
    char *bytes;
    size_t len, cap;
};
struct unpack {
    const char *at, *end;
    bool wrong; /* something was not there; what was taken since is zeros */
};

void put_bytes(struct pack *p, const void *bytes, size_t n);
void put_int(struct pack *p, int64_t n);
void put_u32(struct pack *p, uint32_t n);
void put_double(struct pack *p, double x);
void put_text(struct pack *p, const char *text);          /* NULL too */
void put_texts(struct pack *p, char *const *text, int n); /* n of them */

void get_bytes(struct unpack *u, void *bytes, size_t n);
int64_t get_int(struct unpack *u);
uint32_t get_u32(struct unpack *u);
double get_double(struct unpack *u);
/* At least `min` and at most `max`, or it is wrong and `min`. */
int get_range(struct unpack *u, int min, int max);
char *get_text(struct unpack *u); /* NULL, or a copy */
/* A list that a NULL follows; *n of them. */
char **get_texts(struct unpack *u, int *n);

#endif
