/* SPDX-License-Identifier: BSD-3-Clause */
/* typeart.c: see typeart.h.
 *
 * The structs and functions are those of TypeART's public interface in C.  Its numbers of basic types have changed from
 * release to release, so what such a type is follows from its name. */
#define _GNU_SOURCE
#include "config.h"
#include "typeart.h"
#include <dlfcn.h>
#include <string.h>

enum { TYPEART_OK = 0, FIRST_OF_USER = 256, DEEP = 64 };

struct typeart_base {
    const void *address;
    int type_id;
    size_t count;
};

struct typeart_type {
    const void *address;
    int type_id;
    size_t count;
    struct typeart_base base;
};

struct typeart_layout {
    int type_id;
    const char *name;
    size_t extent, num_members;
    const size_t *offsets;
    const int *member_types;
    const size_t *count;
};

static int (*get_type)(const void *address, struct typeart_type *out);
static int (*resolve)(int type_id, struct typeart_layout *out);
static const char *(*name_of)(int type_id);
static size_t (*size_of)(int type_id);
static int (*return_address)(const void *address, const void **out);

static void *look_up(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool MPIR_Typeart_begin(void)
{
    *(void **)&get_type = look_up("typeart_get_type");
    *(void **)&resolve = look_up("typeart_resolve_type_id");
    *(void **)&name_of = look_up("typeart_get_type_name");
    *(void **)&size_of = look_up("typeart_get_type_size");
    *(void **)&return_address = look_up("typeart_get_return_address");
    return get_type && resolve && name_of && size_of;
}

const char *MPIR_Typeart_name(int type)
{
    const char *name = name_of(type);
    return name ? name : "?";
}

bool MPIR_Typeart_block_at(const void *at, struct MPIR_Typeart_block *b)
{
    struct typeart_type t = { 0 };
    if (get_type(at, &t) != TYPEART_OK || !t.base.address)
        return false;
    *b = (struct MPIR_Typeart_block){ t.base.address, t.base.type_id, t.base.count, size_of(t.base.type_id) };
    const char *byte = at;
    return b->size > 0 && byte >= b->base && (size_t)(byte - b->base) < b->count * b->size;
}

/* By a part of the name; the first that fits.  A complex number is two floating ones. */
static const struct {
    const char *part;
    char is;
    int numbers;
} names[] = { { "unknown", '?', 1 }, { "void", '?', 1 },    { "null", '?', 1 },   { "vec", '?', 1 },
              { "ptr", 'P', 1 },     { "pointer", 'P', 1 }, { "*", 'P', 1 },      { "complex", 'f', 2 },
              { "bool", 'l', 1 },    { "float", 'f', 1 },   { "double", 'f', 1 }, { "half", 'f', 1 },
              { "fp", 'f', 1 },      { "char", 'i', 1 },    { "int", 'i', 1 },    { "long", 'i', 1 },
              { "short", 'i', 1 },   { "signed", 'i', 1 },  { "utf", 'i', 1 } };

static void say_what(int type, struct MPIR_Typeart_leaf *leaf)
{
    const char *name = MPIR_Typeart_name(type);
    size_t size = size_of(type);
    leaf->type = type;
    leaf->is = '?';
    leaf->size = size;
    for (size_t i = 0; i < sizeof names / sizeof *names && leaf->is == '?'; i++)
        if (strcasestr(name, names[i].part)) {
            leaf->is = names[i].is;
            leaf->size = size / (size_t)names[i].numbers;
            if (leaf->is == '?')
                return;
        }
}

/* The member that has the byte; -1: none, and `*rest` is how far it is to the next one. */
static int64_t member_at(const struct typeart_layout *l, size_t offset, size_t *rest)
{
    *rest = l->extent - offset;
    for (size_t i = 0; i < l->num_members; i++) {
        size_t bytes = size_of(l->member_types[i]) * (l->count[i] > 0 ? l->count[i] : 1);
        if (offset >= l->offsets[i] && offset - l->offsets[i] < bytes) {
            *rest = bytes - (offset - l->offsets[i]);
            return (int64_t)i;
        }
        if (l->offsets[i] > offset && l->offsets[i] - offset < *rest)
            *rest = l->offsets[i] - offset;
    }
    return -1;
}

bool MPIR_Typeart_leaf_at(const struct MPIR_Typeart_block *b, size_t offset, struct MPIR_Typeart_leaf *leaf)
{
    int type = b->type;
    size_t rest = b->count * b->size - offset;
    *leaf = (struct MPIR_Typeart_leaf){ 0 };
    for (int depth = 0; depth < DEEP; depth++) {
        struct typeart_layout l = { 0 };
        size_t size = size_of(type), left;
        if (size == 0)
            return false;
        offset %= size;
        if (type < FIRST_OF_USER) {
            say_what(type, leaf);
            leaf->offset = leaf->size > 0 ? offset % leaf->size : 0;
            leaf->rest = rest;
            return true;
        }
        if (resolve(type, &l) != TYPEART_OK || l.num_members == 0)
            return false;
        int64_t m = member_at(&l, offset, &left);
        rest = left;
        if (m < 0) {
            leaf->padding = true;
            leaf->type = type;
            leaf->rest = rest;
            return true;
        }
        offset -= l.offsets[m];
        type = l.member_types[m];
    }
    return false;
}

uint64_t MPIR_Typeart_allocated(const struct MPIR_Typeart_block *b)
{
    const void *at = NULL;
    if (!return_address || return_address(b->base, &at) != TYPEART_OK)
        return 0;
    return (uint64_t)(uintptr_t)at;
}
