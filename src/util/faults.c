/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c: see faults.h. */
#include "util/faults.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_END "\3"

const struct ku_fault_row ku_fault_rows[KU_FAULT_KINDS] = {
#define FAULT(constant, name, severity, meaning) { name, KU_##severity, meaning },
#include "util/faults.def"
#undef FAULT
};
const char *const ku_severity_names[KU_SEVERITIES] = { "note", "warning", "error" };

/* ---- which are wanted ---- */

static bool fault_is(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && memcmp(word, name, len) == 0;
}

/* False: no kind and no severity is called so. */
static bool fault_set(struct ku_fault_choice *choice, const char *word, size_t len, bool on)
{
    bool any = false;
    for (int k = 0; k < KU_FAULT_KINDS; k++)
        if (fault_is(word, len, ku_fault_rows[k].name) ||
            fault_is(word, len, ku_severity_names[ku_fault_rows[k].severity])) {
            choice->kind[k] = on;
            any = true;
        }
    return any;
}

static void fault_set_all(struct ku_fault_choice *choice, bool on)
{
    for (int k = 0; k < KU_FAULT_KINDS; k++)
        choice->kind[k] = on;
}

/* Words that choose no kind; false: it is another. */
static bool fault_set_other(struct ku_fault_choice *choice, const char *word, size_t len)
{
    if (fault_is(word, len, "strict"))
        choice->strict = true;
    else if (fault_is(word, len, "keep-exit"))
        choice->keep_exit = true;
    else
        return fault_is(word, len, "1");
    return true;
}

const char *ku_fault_choose(const char *list, struct ku_fault_choice *choice, size_t *len)
{
    bool adds = false;
    *choice = (struct ku_fault_choice){ 0 };
    if (strcmp(list, "0") == 0)
        return NULL;
    for (const char *w = list; *w; w += strcspn(w, ","), w += *w == ',')
        adds = adds || (*w != '-' && !fault_set_other(choice, w, strcspn(w, ",")));
    fault_set_all(choice, !adds);
    for (const char *w = list; *w; w += *len, w += *w == ',') {
        bool out = *w == '-';
        *len = strcspn(w, ",");
        if (!fault_set_other(choice, w, *len) && !fault_set(choice, w + out, *len - out, !out))
            return w;
    }
    return NULL;
}

/* ---- on its way ---- */

static void fault_put_place(FILE *out, uint64_t address)
{
    if (address)
        fprintf(out, "\1+%llx\2", (unsigned long long)address);
    fputs(FIELD_END, out);
}

void ku_fault_put(FILE *out, const struct ku_fault *f)
{
    fprintf(out, "%s" FIELD_END "%u" FIELD_END "%d" FIELD_END "%s" FIELD_END "%s" FIELD_END,
            ku_fault_rows[f->kind].name, f->number, f->said, f->call, f->argument ? f->argument : "");
    fault_put_place(out, f->here);
    fault_put_place(out, f->there);
    fputs(f->text, out);
}

bool ku_fault_take(char *bytes, struct ku_fault_words *f)
{
    enum { KIND, NUMBER, SAID, CALL, ARGUMENT, HERE, THERE, FIELDS };
    char *field[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        field[i] = bytes;
        bytes = strstr(bytes, FIELD_END);
        if (!bytes)
            return false;
        *bytes++ = '\0';
    }
    int kind = 0;
    while (kind < KU_FAULT_KINDS && strcmp(ku_fault_rows[kind].name, field[KIND]) != 0)
        kind++;
    *f = (struct ku_fault_words){ .kind = (enum ku_fault_kind)kind,
                                  .number = (uint32_t)strtoul(field[NUMBER], NULL, 10),
                                  .said = field[SAID][0] == '1',
                                  .call = field[CALL],
                                  .argument = field[ARGUMENT],
                                  .here = field[HERE],
                                  .there = field[THERE],
                                  .text = bytes };
    return kind < KU_FAULT_KINDS;
}

/* ---- in words ---- */

/* ":12" followed by " (function)" or by nothing; NULL: it is of another kind. */
static const char *fault_line_of(const char *text)
{
    for (const char *p = text; (p = strchr(p, ':')); p++) {
        size_t digits = strspn(p + 1, "0123456789");
        if (digits > 0 && (!p[1 + digits] || strncmp(p + 1 + digits, " (", 2) == 0))
            return p;
    }
    return NULL;
}

struct ku_place ku_place_of(const char *text)
{
    struct ku_place p = { .path = text, .function = "" };
    const char *line = fault_line_of(text), *plus = strstr(text, "+0x"),
               *in = plus ? strstr(plus, " in ") : NULL;
    if (line) {
        const char *open = strstr(line, " (");
        p.path_len = (int)(line - text);
        p.line = atoi(line + 1);
        p.function = open ? open + 2 : "";
        p.function_len = open ? (int)strlen(open + 2) - 1 : 0;
    } else if (in) {
        p.path = in + 4;
        p.path_len = (int)strlen(p.path);
        p.function = text;
        p.function_len = (int)(plus - text);
    } else if (plus) {
        p.path_len = (int)(plus - text);
    }
    return p;
}

const char *ku_place_name(const char *place)
{
    const char *line = fault_line_of(place), *end = line ? line : place, *name = place;
    for (const char *p = place; p < end; p++)
        if (*p == '/')
            name = p + 1;
    return name;
}

void ku_fault_show(FILE *out, const struct ku_fault_words *f)
{
    const struct ku_fault_row *row = &ku_fault_rows[f->kind];
    fprintf(out, "%s: %s", ku_severity_names[row->severity], f->call);
    if (*f->here)
        fprintf(out, ", %s", ku_place_name(f->here));
    fprintf(out, ": %s%s%s [%s]", f->argument, *f->argument ? ": " : "", f->text, row->name);
}
