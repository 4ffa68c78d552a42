/* SPDX-License-Identifier: BSD-3-Clause */
/* typeart.c: see typeart.h.  The functions are those of TypeART's public interface that Keel asks, and the structs as
 * it describes them. */
#include "typeart.h"
#include <stdbool.h>
#include <string.h>

enum { OK, UNKNOWN_ADDRESS, BAD_ALIGNMENT, BAD_OFFSET, WRONG_KIND, INVALID_ID };

typedef struct {
    const void *address;
    int type_id;
    size_t count;
} base_type_info;
typedef struct {
    const void *address;
    int type_id;
    size_t count;
    base_type_info base;
} type_info;
typedef struct {
    int type_id;
    const char *name;
    size_t extent, num_members;
    const size_t *offsets;
    const int *member_types;
    const size_t *count;
} struct_layout;

static const struct {
    int id;
    const char *name;
    size_t size;
} types[] = { { TYPE_POINTER, "ptr", sizeof(void *) },
              { TYPE_BOOL, "bool", 1 },
              { TYPE_CHAR, "char", 1 },
              { TYPE_INT32, "int32", 4 },
              { TYPE_INT64, "int64", 8 },
              { TYPE_UINT32, "uint32", 4 },
              { TYPE_FLOAT, "float", 4 },
              { TYPE_DOUBLE, "double", 8 },
              { TYPE_COMPLEX, "complex128", 16 },
              { TYPE_PARTICLE, "struct.particle", sizeof(struct particle) },
              { TYPE_PAIR, "struct.pair", sizeof(struct pair) },
              { TYPE_NEST, "struct.nest", sizeof(struct nest) } };
static const struct_layout structs[] = {
    { TYPE_PARTICLE, "struct.particle", sizeof(struct particle), 3,
      (const size_t[]){ offsetof(struct particle, at), offsetof(struct particle, id),
                        offsetof(struct particle, mass) },
      (const int[]){ TYPE_DOUBLE, TYPE_INT32, TYPE_FLOAT }, (const size_t[]){ 3, 1, 1 } },
    { TYPE_PAIR, "struct.pair", sizeof(struct pair), 2, (const size_t[]){ 0, offsetof(struct pair, d) },
      (const int[]){ TYPE_INT32, TYPE_DOUBLE }, (const size_t[]){ 1, 1 } },
    { TYPE_NEST, "struct.nest", sizeof(struct nest), 2, (const size_t[]){ 0, offsetof(struct nest, name) },
      (const int[]){ TYPE_PAIR, TYPE_CHAR }, (const size_t[]){ 2, 8 } }
};
static base_type_info allocations[64];

size_t typeart_get_type_size(int id);

void typeart_set(const void *address, int type, size_t count)
{
    base_type_info *a = allocations;
    while (a < allocations + 63 && a->address != (count > 0 ? NULL : address))
        a++;
    *a = count > 0 ? (base_type_info){ address, type, count } : (base_type_info){ NULL, 0, 0 };
}

int typeart_get_type(const void *address, type_info *out)
{
    const char *at = address;
    for (const base_type_info *a = allocations; a < allocations + 64; a++) {
        size_t size = a->address ? typeart_get_type_size(a->type_id) : 0,
               off = (size_t)(at - (const char *)a->address);
        if (size == 0 || at < (const char *)a->address || off >= a->count * size)
            continue;
        *out = (type_info){ address, a->type_id, a->count - off / size, *a };
        return OK;
    }
    return UNKNOWN_ADDRESS;
}

int typeart_resolve_type_id(int id, struct_layout *out)
{
    for (size_t i = 0; i < sizeof structs / sizeof *structs; i++)
        if (structs[i].type_id == id) {
            *out = structs[i];
            return OK;
        }
    return id < 256 ? WRONG_KIND : INVALID_ID;
}

const char *typeart_get_type_name(int id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id)
            return types[i].name;
    return "typeart_unknown_struct";
}

size_t typeart_get_type_size(int id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].id == id)
            return types[i].size;
    return 0;
}
