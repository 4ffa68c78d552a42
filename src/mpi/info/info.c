/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c: info objects: keys and values in the order in which the keys came, found through a hash.
 *
 * Everything here is legal at any time and in any thread, whatever level of thread support there is (12.4.1), so
 * one lock guards all of it; nothing in it takes long.
 *
 * Invariants
 *   1. A pair is in pairs[] and in exactly one bucket, or in neither.
 *   2. What needs memory gets it before anything changes: an object is as it was after a failure. */
#include "config.h"
#include "table.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "mpi_err.h"
#include "util/lock.h"

enum { FEW = 8 /* room to begin with */ };

static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);

/* ---- The table ----------------------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *key) /* FNV-1a */
{
    uint32_t h = 2166136261u;
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 16777619u;
    return h;
}

static struct MPIR_Info_pair **info_slot_of(const MPIR_Info *info, uint32_t hash)
{
    return &info->bucket[hash & (info->buckets - 1)];
}

static struct MPIR_Info_pair *info_find(const MPIR_Info *info, const char *key)
{
    uint32_t hash = hash_of(key);
    if (!info->buckets)
        return NULL;
    for (struct MPIR_Info_pair *p = *info_slot_of(info, hash); p; p = p->next)
        if (p->hash == hash && !strcmp(p->key, key))
            return p;
    return NULL;
}

static void link_pair(MPIR_Info *info, struct MPIR_Info_pair *p)
{
    struct MPIR_Info_pair **slot = info_slot_of(info, p->hash);
    p->next = *slot;
    *slot = p;
}

/* Room for one more pair; false without memory. */
static bool make_room(MPIR_Info *info)
{
    if (info->n < info->room)
        return true;
    int32_t room = info->room ? 2 * info->room : FEW;
    struct MPIR_Info_pair **pairs = realloc(info->pairs, (size_t)room * sizeof(struct MPIR_Info_pair *));
    if (!pairs)
        return false;
    info->pairs = pairs;
    struct MPIR_Info_pair **bucket = calloc((size_t)room, sizeof(struct MPIR_Info_pair *));
    if (!bucket)
        return false;
    free(info->bucket);
    info->bucket = bucket;
    info->room = room;
    info->buckets = (uint32_t)room; /* FEW is a power of two */
    for (int32_t i = 0; i < info->n; i++)
        link_pair(info, pairs[i]);
    return true;
}

static void free_pair(struct MPIR_Info_pair *p)
{
    free(p->value);
    free(p);
}

bool MPIR_Info_put(MPIR_Info *info, const char *key, const char *value)
{
    struct MPIR_Info_pair *p = info_find(info, key);
    char *copy = strdup(value);
    if (copy && p) {
        free(p->value);
        p->value = copy;
        return true;
    }
    p = copy && make_room(info) ? malloc(sizeof *p + strlen(key) + 1) : NULL;
    if (!p) {
        free(copy);
        return false;
    }
    p->hash = hash_of(key);
    p->value = copy;
    strcpy(p->key, key);
    link_pair(info, p);
    info->pairs[info->n++] = p;
    return true;
}

static void take_out(MPIR_Info *info, struct MPIR_Info_pair *p)
{
    struct MPIR_Info_pair **at = info_slot_of(info, p->hash);
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    int32_t i = 0;
    while (info->pairs[i] != p)
        i++;
    info->n--;
    memmove(&info->pairs[i], &info->pairs[i + 1], (size_t)(info->n - i) * sizeof(struct MPIR_Info_pair *));
    free_pair(p);
}

void MPIR_Info_clear(MPIR_Info *info)
{
    for (int32_t i = 0; i < info->n; i++)
        free_pair(info->pairs[i]);
    free(info->pairs);
    free(info->bucket);
    info->pairs = info->bucket = NULL;
    info->n = info->room = 0;
    info->buckets = 0;
}

/* ---- Checks -------------------------------------------------------------------------------------------------- */

static int check_key(const char *key)
{
    size_t len = strnlen(key, MPI_MAX_INFO_KEY);
    if (len == 0)
        return MPIR_Err(MPI_ERR_INFO_KEY, "key", "is empty; expected 1 to %d characters",
                        MPI_MAX_INFO_KEY - 1);
    if (len == MPI_MAX_INFO_KEY)
        return MPIR_Err(MPI_ERR_INFO_KEY, "key",
                        "is \"%.40s...\", longer than %d characters (MPI_MAX_INFO_KEY - 1)", key,
                        MPI_MAX_INFO_KEY - 1);
    return 0;
}

static int check_value(const char *key, const char *value)
{
    size_t len = strlen(value);
    if (len < MPI_MAX_INFO_VAL)
        return 0;
    return MPIR_Err(MPI_ERR_INFO_VALUE, "value", "of \"%.60s\" has %zu characters; expected at most %d", key,
                    len, MPI_MAX_INFO_VAL - 1);
}

static int check_writable(const MPIR_Info *info)
{
    if (!(info->obj.flags & KEEL_OBJ_PREDEFINED))
        return 0;
    return MPIR_Err(MPI_ERR_INFO, "info", "is MPI_INFO_ENV, which cannot be changed or freed");
}

static int check_present(const void *value, const char *arg)
{
    return value ? 0 : MPIR_Err(MPI_ERR_ARG, arg, "is NULL; expected an address");
}

static int info_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for an info object");
}

/* ---- Making and freeing -------------------------------------------------------------------------------------- */

int MPIR_Info_create(MPIR_Info **info)
{
    ku_lock(&lock);
    *info = MPIR_Object_alloc(MPIR_KIND_INFO);
    ku_unlock(&lock);
    return *info ? 0 : info_no_memory();
}

int MPIR_Info_free(MPIR_Info **info)
{
    int err = check_writable(*info);
    if (err)
        return err;
    ku_lock(&lock);
    MPIR_Info_clear(*info);
    MPIR_Object_free(*info);
    ku_unlock(&lock);
    *info = NULL;
    return 0;
}

int MPIR_Info_dup(MPIR_Info *info, MPIR_Info **newinfo)
{
    bool all = true;
    int err = MPIR_Info_create(newinfo);
    if (err)
        return err;
    ku_lock(&lock);
    for (int32_t i = 0; i < info->n && all; i++)
        all = MPIR_Info_put(*newinfo, info->pairs[i]->key, info->pairs[i]->value);
    ku_unlock(&lock);
    if (all)
        return 0;
    MPIR_Info_free(newinfo);
    return info_no_memory();
}

/* ---- Changing ------------------------------------------------------------------------------------------------ */

int MPIR_Info_set(MPIR_Info *info, const char *key, const char *value)
{
    int err = check_key(key);
    if (!err)
        err = check_value(key, value);
    if (!err)
        err = check_writable(info);
    if (err)
        return err;
    ku_lock(&lock);
    bool done = MPIR_Info_put(info, key, value);
    ku_unlock(&lock);
    return done ? 0 : info_no_memory();
}

int MPIR_Info_delete(MPIR_Info *info, const char *key)
{
    int err = check_key(key);
    if (!err)
        err = check_writable(info);
    if (err)
        return err;
    ku_lock(&lock);
    struct MPIR_Info_pair *p = info_find(info, key);
    if (p)
        take_out(info, p);
    ku_unlock(&lock);
    return p ? 0 : MPIR_Err(MPI_ERR_INFO_NOKEY, "key", "is \"%.200s\", which info does not have", key);
}

/* ---- Asking -------------------------------------------------------------------------------------------------- */

int MPIR_Info_get_nkeys(MPIR_Info *info, int *nkeys)
{
    ku_lock(&lock);
    *nkeys = info->n;
    ku_unlock(&lock);
    return 0;
}

int MPIR_Info_get_nthkey(MPIR_Info *info, int n, char *key)
{
    int err = check_present(key, "key");
    if (err)
        return err;
    ku_lock(&lock);
    int32_t keys = info->n;
    if (n >= 0 && n < keys)
        strcpy(key, info->pairs[n]->key);
    else
        err = MPI_ERR_ARG;
    ku_unlock(&lock);
    if (err && keys == 0)
        return MPIR_Err(err, "n", "is %d, but info has no keys", n);
    return err ? MPIR_Err(err, "n", "is %d; expected 0 to %d", n, keys - 1) : 0;
}

/* The value of the key into value[size], cut where it must be; its length, or -1 if there is no such key. */
static int copy_value(MPIR_Info *info, const char *key, char *value, size_t size)
{
    int len = -1;
    ku_lock(&lock);
    const struct MPIR_Info_pair *p = info_find(info, key);
    if (p) {
        size_t n = strlen(p->value), room = size ? size - 1 : 0;
        len = (int)n;
        if (size) {
            n = n < room ? n : room;
            memcpy(value, p->value, n);
            value[n] = 0;
        }
    }
    ku_unlock(&lock);
    return len;
}

int MPIR_Info_get_string(MPIR_Info *info, const char *key, int *buflen, char *value, int *flag)
{
    int err = check_key(key);
    if (!err && *buflen < 0)
        err = MPIR_Err(MPI_ERR_ARG, "buflen", "is %d; expected 0 or more", *buflen);
    if (!err && *buflen > 0)
        err = check_present(value, "value");
    if (err)
        return err;
    int len = copy_value(info, key, value, (size_t)*buflen);
    *flag = len >= 0;
    if (len >= 0)
        *buflen = len + 1;
    return 0;
}

int MPIR_Info_get(MPIR_Info *info, const char *key, int valuelen, char *value, int *flag)
{
    int err = check_key(key);
    if (!err && valuelen < 0)
        err = MPIR_Err(MPI_ERR_ARG, "valuelen", "is %d; expected 0 or more", valuelen);
    if (!err)
        err = check_present(value, "value");
    if (err)
        return err;
    *flag = copy_value(info, key, value, (size_t)valuelen + 1) >= 0;
    return 0;
}

int MPIR_Info_get_valuelen(MPIR_Info *info, const char *key, int *valuelen, int *flag)
{
    int err = check_key(key);
    if (err)
        return err;
    int len = copy_value(info, key, NULL, 0);
    *flag = len >= 0;
    if (len >= 0)
        *valuelen = len;
    return 0;
}

/* ---- For other chapters -------------------------------------------------------------------------------------- */

const char *MPIR_Info_value(const MPIR_Info *info, const char *key)
{
    if (!info)
        return NULL;
    ku_lock(&lock);
    const struct MPIR_Info_pair *p = info_find(info, key);
    ku_unlock(&lock);
    return p ? p->value : NULL;
}

/* The word without the spaces around; its length. */
static size_t trim(const char **text)
{
    *text += strspn(*text, " ");
    size_t n = strlen(*text);
    while (n && (*text)[n - 1] == ' ')
        n--;
    return n;
}

bool MPIR_Info_bool(const MPIR_Info *info, const char *key, bool *is, int *err)
{
    const char *value = MPIR_Info_value(info, key), *word = value;
    if (!value)
        return false;
    size_t n = trim(&word);
    bool yes = n == 4 && !memcmp(word, "true", 4);
    if (!yes && !(n == 5 && !memcmp(word, "false", 5))) {
        if (err)
            *err = MPIR_Err(MPI_ERR_INFO_VALUE, "info",
                            "has the value \"%.40s\" for %.80s; expected true or false", value, key);
        return false;
    }
    *is = yes;
    return true;
}

bool MPIR_Info_number(const MPIR_Info *info, const char *key, int64_t *number, int *err)
{
    const char *value = MPIR_Info_value(info, key), *word = value;
    if (!value)
        return false;
    char *end = NULL;
    size_t n = trim(&word);
    errno = 0;
    int64_t x = strtoll(word, &end, 10);
    if (n && end == word + n && !errno) {
        *number = x;
        return true;
    }
    if (err)
        *err = MPIR_Err(MPI_ERR_INFO_VALUE, "info",
                        "has the value \"%.40s\" for %.80s; expected a decimal number", value, key);
    return false;
}
