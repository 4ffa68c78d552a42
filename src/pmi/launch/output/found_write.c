/* SPDX-License-Identifier: BSD-3-Clause */
/* found_write.c: -check-output: what was found as text, as JSON, and as SARIF (version 2.1.0 of OASIS). */
#include "config.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "found.h"
#include "pmi/launch/job/launch.h"
#include "report.h"
#include "util/json.h"

struct document {
    FILE *out;
    int depth;
    bool begun; /* the object or array at hand has something in it */
    const struct launch *launch;
    int code; /* the job's exit code; -1: it runs */
};

/* ---- JSON ---- */

static void found_begin_item(struct document *d, const char *key)
{
    if (d->depth > 0)
        fprintf(d->out, "%s\n%*s", d->begun ? "," : "", 2 * d->depth, "");
    d->begun = true;
    if (key) {
        ku_json_string(d->out, key);
        fputs(": ", d->out);
    }
}

static void found_open_item(struct document *d, const char *key, char bracket)
{
    found_begin_item(d, key);
    putc(bracket, d->out);
    d->depth++;
    d->begun = false;
}

static void found_close_item(struct document *d, char bracket)
{
    d->depth--;
    if (d->begun)
        fprintf(d->out, "\n%*s", 2 * d->depth, "");
    putc(bracket, d->out);
    d->begun = true;
}

static void found_put_text(struct document *d, const char *key, const char *text)
{
    found_begin_item(d, key);
    ku_json_string(d->out, text);
}

static void found_put_number(struct document *d, const char *key, int64_t n)
{
    found_begin_item(d, key);
    fprintf(d->out, "%lld", (long long)n);
}

static void found_put_bool(struct document *d, const char *key, bool is)
{
    found_begin_item(d, key);
    fputs(is ? "true" : "false", d->out);
}

static void found_put_ranks(struct document *d, const struct found *f)
{
    const char *comma = "";
    found_begin_item(d, "ranks");
    putc('[', d->out);
    for (int i = 0; i < d->launch->size; i++)
        if (f->ranks.bits[i / 8] >> i % 8 & 1) {
            fprintf(d->out, "%s%d", comma, i);
            comma = ", ";
        }
    putc(']', d->out);
}

static char *found_cut(const char *text, int len)
{
    return xformat("%.*s", len, text);
}

static void found_put_cut(struct document *d, const char *key, const char *text, int len)
{
    char *copy = found_cut(text, len);
    if (len > 0)
        found_put_text(d, key, copy);
    free(copy);
}

/* ---- our own form ---- */

static void found_put_place(struct document *d, const char *key, const char *text)
{
    struct ku_place p = ku_place_of(text);
    if (!*text)
        return;
    found_open_item(d, key, '{');
    found_put_cut(d, "file", p.path, p.path_len);
    if (p.line)
        found_put_number(d, "line", p.line);
    found_put_cut(d, "function", p.function, p.function_len);
    found_close_item(d, '}');
}

static void found_write_json(struct document *d)
{
    found_open_item(d, NULL, '{');
    found_put_text(d, "tool", "mpiexec -check");
    found_put_text(d, "version", PACKAGE_VERSION);
    found_put_number(d, "job_ranks", d->launch->size);
    found_put_bool(d, "ended", d->code >= 0);
    if (d->code >= 0)
        found_put_number(d, "exit_code", d->code);
    found_open_item(d, "faults", '[');
    for (const struct found *f = found_all(); f; f = f->next) {
        const struct ku_fault_row *row = &ku_fault_rows[f->kind];
        found_open_item(d, NULL, '{');
        found_put_text(d, "kind", row->name);
        found_put_text(d, "severity", ku_severity_names[row->severity]);
        found_put_text(d, "call", f->call);
        if (*f->argument)
            found_put_text(d, "argument", f->argument);
        found_put_text(d, "text", f->text);
        found_put_place(d, "here", f->here);
        found_put_place(d, "there", f->there);
        found_put_ranks(d, f);
        found_put_number(d, "times", f->times);
        found_close_item(d, '}');
    }
    found_close_item(d, ']');
    found_close_item(d, '}');
}

/* ---- SARIF ---- */

/* As RFC 3986 has it: an absolute path as a URI of a file, another one as a reference relative to it. */
static char *found_uri_of(const char *path, int len)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        die("no memory");
    fputs(len > 0 && path[0] == '/' ? "file://" : "", out);
    for (int i = 0; i < len; i++)
        if (isascii((unsigned char)path[i]) && (isalnum((unsigned char)path[i]) || strchr("/-._~", path[i])))
            putc(path[i], out);
        else
            fprintf(out, "%%%02X", (unsigned char)path[i]);
    fclose(out);
    return text;
}

static void found_put_location(struct document *d, const char *text, const char *message)
{
    struct ku_place p = ku_place_of(text);
    found_open_item(d, NULL, '{');
    if (message) {
        found_put_number(d, "id", 1);
        found_open_item(d, "message", '{');
        found_put_text(d, "text", message);
        found_close_item(d, '}');
    }
    if (p.path_len > 0) {
        char *uri = found_uri_of(p.path, p.path_len);
        found_open_item(d, "physicalLocation", '{');
        found_open_item(d, "artifactLocation", '{');
        found_put_text(d, "uri", uri);
        found_close_item(d, '}');
        if (p.line) {
            found_open_item(d, "region", '{');
            found_put_number(d, "startLine", p.line);
            found_close_item(d, '}');
        }
        found_close_item(d, '}');
        free(uri);
    }
    if (p.function_len > 0) {
        found_open_item(d, "logicalLocations", '[');
        found_open_item(d, NULL, '{');
        found_put_cut(d, "fullyQualifiedName", p.function, p.function_len);
        found_put_text(d, "kind", "function");
        found_close_item(d, '}');
        found_close_item(d, ']');
    }
    found_close_item(d, '}');
}

static void found_put_rules(struct document *d)
{
    found_open_item(d, "rules", '[');
    for (int k = 0; k < KU_FAULT_KINDS; k++) {
        found_open_item(d, NULL, '{');
        found_put_text(d, "id", ku_fault_rows[k].name);
        found_open_item(d, "shortDescription", '{');
        found_put_text(d, "text", ku_fault_rows[k].meaning);
        found_close_item(d, '}');
        found_open_item(d, "defaultConfiguration", '{');
        found_put_text(d, "level", ku_severity_names[ku_fault_rows[k].severity]);
        found_close_item(d, '}');
        found_close_item(d, '}');
    }
    found_close_item(d, ']');
}

static void found_put_result(struct document *d, const struct found *f)
{
    char *words = xformat("%s: %s%s%s", f->call, f->argument, *f->argument ? ": " : "", f->text);
    found_open_item(d, NULL, '{');
    found_put_text(d, "ruleId", ku_fault_rows[f->kind].name);
    found_put_number(d, "ruleIndex", f->kind);
    found_put_text(d, "level", ku_severity_names[ku_fault_rows[f->kind].severity]);
    found_open_item(d, "message", '{');
    found_put_text(d, "text", words);
    found_close_item(d, '}');
    if (*f->here) {
        found_open_item(d, "locations", '[');
        found_put_location(d, f->here, NULL);
        found_close_item(d, ']');
    }
    if (*f->there) {
        found_open_item(d, "relatedLocations", '[');
        found_put_location(d, f->there, "the other place");
        found_close_item(d, ']');
    }
    found_open_item(d, "properties", '{');
    found_put_ranks(d, f);
    found_put_number(d, "times", f->times);
    found_put_text(d, "call", f->call);
    if (*f->argument)
        found_put_text(d, "argument", f->argument);
    found_close_item(d, '}');
    found_close_item(d, '}');
    free(words);
}

static void found_write_sarif(struct document *d)
{
    found_open_item(d, NULL, '{');
    found_put_text(d, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    found_put_text(d, "version", "2.1.0");
    found_open_item(d, "runs", '[');
    found_open_item(d, NULL, '{');
    found_open_item(d, "tool", '{');
    found_open_item(d, "driver", '{');
    found_put_text(d, "name", "Keel mpiexec -check");
    found_put_text(d, "version", PACKAGE_VERSION);
    found_put_rules(d);
    found_close_item(d, '}');
    found_close_item(d, '}');
    found_open_item(d, "invocations", '[');
    found_open_item(d, NULL, '{');
    found_put_bool(d, "executionSuccessful", d->code == 0 || d->code == EXIT_FAULTS);
    if (d->code >= 0)
        found_put_number(d, "exitCode", d->code);
    found_close_item(d, '}');
    found_close_item(d, ']');
    found_open_item(d, "results", '[');
    for (const struct found *f = found_all(); f; f = f->next)
        found_put_result(d, f);
    found_close_item(d, ']');
    found_close_item(d, '}');
    found_close_item(d, ']');
    found_close_item(d, '}');
}

/* ---- text ---- */

static void found_write_text(struct document *d)
{
    for (const struct found *f = found_all(); f; f = f->next) {
        const struct ku_fault_words w = { .kind = f->kind,
                                          .call = f->call,
                                          .argument = f->argument,
                                          .here = f->here,
                                          .there = f->there,
                                          .text = f->text };
        char *who = rank_words(f->ranks.bits, f->ranks.n, d->launch->size);
        fprintf(d->out, "%s%s", f->ranks.n ? who : "", f->ranks.n ? ": " : "");
        ku_fault_show(d->out, &w);
        fprintf(d->out, " %lld time%s\n", (long long)f->times, plural(f->times));
        free(who);
    }
}

static const struct format {
    const char *suffix;
    void (*write)(struct document *d);
} formats[] = { { "txt", found_write_text }, { "json", found_write_json }, { "sarif", found_write_sarif } };

static const struct format *found_format_of(const char *suffix)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].suffix, suffix) == 0)
            return &formats[i];
    return NULL;
}

bool found_format(const char *suffix)
{
    return found_format_of(suffix) != NULL;
}

bool found_write(const struct launch *l, int code)
{
    bool good = true;
    for (int i = 0; i < l->check.noutputs; i++) {
        const char *name = l->check.output[i];
        struct document d = { .out = fopen(name, "we"), .launch = l, .code = code };
        if (d.out) {
            const struct format *f = found_format_of(strrchr(name, '.') + 1);
            f->write(&d);
            if (f->write != found_write_text)
                putc('\n', d.out);
        }
        if (!d.out || ferror(d.out) | (fclose(d.out) != 0)) {
            say("-check-output %s: it cannot be written: %s", name, strerror(errno));
            good = false;
        }
    }
    return good;
}
