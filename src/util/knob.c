/* SPDX-License-Identifier: BSD-3-Clause */
#include "knob.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

static struct ku_knob_table *tables;

/* What the launcher tells its ranks (src/pmi), and what the compiler wrappers read (src/tools). */
static struct ku_knob intern_rows[] = {
    { .name = "JOB", .type = KU_KNOB_INTERN, .help = "how a rank finds its job" },
    { .name = "REACH", .type = KU_KNOB_INTERN, .help = "which hosts a job has, for those that it spawns" },
    { .name = "NODES", .type = KU_KNOB_INTERN, .help = "names of the hosts of a job that may lose some" },
    { .name = "LOST",
      .type = KU_KNOB_INTERN,
      .help = "hosts that were lost before a spawned job was started" },
    { .name = "PARENT", .type = KU_KNOB_INTERN, .help = "where a spawned job finds the one that spawned it" },
    { .name = "RANK", .type = KU_KNOB_INTERN, .help = "its rank in the job" },
    { .name = "SECTION", .type = KU_KNOB_INTERN, .help = "what its section of the command line says" },
    { .name = "WIRES",
      .type = KU_KNOB_INTERN,
      .help = "variables of other launchers that the rank has begun with" },
    { .name = "SECTIONS", .type = KU_KNOB_INTERN, .help = "how many ranks each section has" },
    { .name = "TOLD", .type = KU_KNOB_INTERN, .help = "what mpiexec has said of threads" },
    { .name = "ABI", .type = KU_KNOB_INTERN, .help = "mpiexec: the ABI of the ranks' library" },
    { .name = "CC", .type = KU_KNOB_INTERN, .help = "mpicc: the compiler" },
    { .name = "CXX", .type = KU_KNOB_INTERN, .help = "mpicxx: the compiler" },
};
static struct ku_knob_table intern = { .rows = intern_rows, .n = sizeof intern_rows / sizeof intern_rows[0] };

/* The rows are read in every process's MPI_Init: what most of them say takes none of libc's parsers, whose pages
 * would have to be mapped for it. */
static bool parse_digits(const char *s, int64_t *v)
{
    enum { MOST = 17 };
    int n = 0;
    *v = 0;
    for (; s[n] >= '0' && s[n] <= '9' && n < MOST; n++)
        *v = *v * 10 + (s[n] - '0');
    return n > 0 && s[n] == 0 && (n == 1 || s[0] != '0');
}

static bool parse_bool(const char *s, int64_t *v)
{
    if (parse_digits(s, v) && *v <= 1)
        return true;
    static const char *const words[] = { "0", "1", "no", "yes", "off", "on", "false", "true" };
    for (int i = 0; i < 8; i++)
        if (!strcasecmp(s, words[i])) {
            *v = i & 1;
            return true;
        }
    return false;
}

static bool parse_int(const char *s, bool suffix, int64_t *v)
{
    char *end;
    int shift = 0;
    if (parse_digits(s, v))
        return true;
    errno = 0;
    *v = strtoll(s, &end, 0);
    if (end == s || errno)
        return false;
    if (suffix && *end) {
        const char *units = "KMG", *u = strchr(units, *end & ~0x20);
        if (u && *u) {
            shift = 10 * (int)(u - units + 1);
            end++;
        }
    }
    if (*end || *v > INT64_MAX >> shift || *v < 0 - (INT64_MAX >> shift))
        return false;
    *v = *v * (1ll << shift);
    return true;
}

static bool parse_choice(const struct ku_names *choices, const char *s, int64_t *v)
{
    for (int i = 0; i < choices->n; i++)
        if (!strcasecmp(s, choices->item[i])) {
            *v = i;
            return true;
        }
    return false;
}

/* Is `s` a value of this row?  Stores it if so. */
static bool parse(struct ku_knob *k, const char *s)
{
    int64_t v = 0;
    if (k->type == KU_KNOB_BOOL) {
        if (!parse_bool(s, &v))
            return false;
    } else if (k->type == KU_KNOB_INT || k->type == KU_KNOB_SIZE) {
        if (!parse_int(s, k->type == KU_KNOB_SIZE, &v) || v < k->min || v > k->max)
            return false;
    } else if (k->choices && !parse_choice(k->choices, s, &v))
        return false;
    k->num = v;
    k->str = s;
    return true;
}

static const char *env_of(const struct ku_knob *k)
{
    char name[64] = "KEEL_";
    size_t n = strlen(k->name);
    if (n > sizeof name - sizeof "KEEL_")
        return NULL;
    memcpy(name + 5, k->name, n + 1);
    return getenv(name);
}

static void read_row(struct ku_knob *k)
{
    const char *s = k->own ? k->own : env_of(k);
    bool unset = s && s == k->own && !*s && !k->def;
    k->is_set = s && !unset && parse(k, s);
    if (k->is_set)
        return;
    k->num = 0;
    k->str = NULL;
    if (k->def && !parse(k, k->def))
        abort(); /* the table is wrong */
}

void ku_knob_add(struct ku_knob_table *table)
{
    struct ku_knob_table **p;
    for (p = &tables; *p; p = &(*p)->next)
        if (*p == table)
            return;
    *p = table;
}

static void read_table(struct ku_knob_table *table)
{
    table->is_read = true;
    for (int i = 0; i < table->n; i++)
        read_row(&table->rows[i]);
}

void ku_knob_register(struct ku_knob_table *table)
{
    ku_knob_add(&intern);
    ku_knob_add(table);
    read_table(table);
}

static struct ku_knob *knob_find(const char *name)
{
    for (struct ku_knob_table *t = tables; t; t = t->next)
        for (int i = 0; i < t->n; i++)
            if (!strcmp(t->rows[i].name, name))
                return &t->rows[i];
    return NULL;
}

const struct ku_knob *ku_knob_find(const char *name)
{
    struct ku_knob *row = knob_find(name);
    for (struct ku_knob_table *t = tables; row && t; t = t->next)
        if (row >= t->rows && row < t->rows + t->n && !t->is_read)
            read_table(t);
    return row;
}

static const struct ku_knob *must_find(const char *name)
{
    const struct ku_knob *k = knob_find(name);
    if (!k) {
        fprintf(stderr, "keel: knob %s is read but not registered\n", name);
        abort();
    }
    return k;
}

int64_t ku_knob_int(const char *name)
{
    return must_find(name)->num;
}

const char *ku_knob_str(const char *name)
{
    return must_find(name)->str;
}

bool ku_knob_is_set(const char *name)
{
    return must_find(name)->is_set;
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Edits (insert, delete, replace) between two names; names beyond 63 bytes count as far. */
static int distance(const char *a, const char *b)
{
    int row[64], la = (int)strlen(a), lb = (int)strlen(b);
    if (la > 63 || lb > 63)
        return 64;
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int up = row[j];
            row[j] = min3(up + 1, row[j - 1] + 1, diag + (a[i - 1] != b[j - 1]));
            diag = up;
        }
    }
    return row[lb];
}

static const char *nearest(const char *name)
{
    const char *best = NULL;
    int least = (int)strlen(name) / 2 + 1;
    for (struct ku_knob_table *t = tables; t; t = t->next)
        for (int i = 0; i < t->n; i++) {
            int d = t->rows[i].type == KU_KNOB_INTERN ? 64 : distance(name, t->rows[i].name);
            if (d < least) {
                least = d;
                best = t->rows[i].name;
            }
        }
    return best;
}

static void expected(const struct ku_knob *k, char *buf, size_t cap)
{
    if (k->choices)
        for (int i = 0, n = 0; i < k->choices->n && n < (int)cap; i++)
            n += snprintf(buf + n, cap - (size_t)n, "%s%s",
                          i == 0                   ? ""
                          : i + 1 == k->choices->n ? " or "
                                                   : ", ",
                          k->choices->item[i]);
    else if (k->type == KU_KNOB_BOOL)
        snprintf(buf, cap, "0 or 1");
    else
        snprintf(buf, cap, "a number from %lld to %lld%s%s", (long long)k->min, (long long)k->max,
                 *k->unit ? " " : "", k->unit);
}

/* What is wrong with the environment's entry for `name`?  Text in buf; false: nothing. */
static bool complaint(const char *name, const char *value, char *buf, size_t cap)
{
    const struct ku_knob *k = knob_find(name);
    const char *near;
    char want[128];
    if (k && (k->is_set || k->type == KU_KNOB_INTERN))
        return false;
    if (k) {
        struct ku_knob unread = *k; /* of a device that was not opened */
        if (parse(&unread, value))
            return false;
        expected(k, want, sizeof want);
        snprintf(buf, cap, "KEEL_%s is \"%s\"; expected %s; using %s", name, value, want,
                 k->def ? k->def : "none");
        return true;
    }
    near = nearest(name);
    if (near)
        snprintf(buf, cap, "KEEL_%s is not a variable of Keel; the nearest name is KEEL_%s", name, near);
    else
        snprintf(buf, cap, "KEEL_%s is not a variable of Keel", name);
    return true;
}

/* The name of an entry "KEEL_NAME=VALUE", cut to `cap`, and its value; NULL: it is another entry. */
static const char *entry_of_ours(const char *entry, char *name, size_t cap)
{
    const char *eq = strncmp(entry, "KEEL_", 5) ? NULL : strchr(entry, '=');
    if (!eq)
        return NULL;
    snprintf(name, cap, "%.*s", (int)(eq - entry) - 5, entry + 5);
    return eq + 1;
}

bool ku_knob_all_known(void)
{
    char name[64];
    for (char **e = environ; e && *e; e++)
        if (entry_of_ours(*e, name, sizeof name) && !knob_find(name))
            return false;
    return true;
}

void ku_knob_check(void (*show)(void *arg, const char *text), void *arg)
{
    for (char **e = environ; e && *e; e++) {
        char name[64], text[320];
        const char *value = entry_of_ours(*e, name, sizeof name);
        if (value && complaint(name, value, text, sizeof text))
            show(arg, text);
    }
}

bool ku_knob_sound(const struct ku_knob *row)
{
    struct ku_knob tried = *row;
    return !knob_find(row->name) && (!row->def || parse(&tried, row->def));
}

struct ku_knob *ku_knob_at(int index, const char **area)
{
    for (struct ku_knob_table *t = tables; t; t = t->next) {
        if (t->more)
            t->more();
        if (t == &intern)
            continue;
        if (index < t->n) {
            if (!t->is_read)
                read_table(t);
            *area = t->area;
            return &t->rows[index];
        }
        index -= t->n;
    }
    return NULL;
}

bool ku_knob_set(struct ku_knob *row, const char *text)
{
    char *copy = strdup(text), *old = row->own;
    bool unset = row->type == KU_KNOB_STR && !*text && !row->def;
    if (!copy || (!unset && !parse(row, copy))) {
        free(copy);
        return false;
    }
    row->own = copy;
    row->is_set = !unset;
    if (unset) {
        row->num = 0;
        row->str = NULL;
    }
    free(old);
    return true;
}

static void free_own(struct ku_knob_table *t)
{
    for (int i = 0; i < t->n; i++) {
        free(t->rows[i].own);
        t->rows[i].own = NULL;
    }
}

void ku_knob_remove(struct ku_knob_table *table)
{
    struct ku_knob_table **p = &tables;
    while (*p && *p != table)
        p = &(*p)->next;
    if (*p)
        *p = table->next;
    free_own(table);
}

/* What tools have set goes with the library. */
__attribute__((destructor)) static void forget(void)
{
    for (struct ku_knob_table *t = tables; t; t = t->next)
        free_own(t);
}
