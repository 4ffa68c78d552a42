/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c: see trace.h.
 *
 * Shown are the place itself and the callers up to main; of this library's frames only the MPI procedure that the
 * program has called, and none of those by which libc ends a program (abort). */
#define _GNU_SOURCE
#include "trace.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "hang.h"
#include "pmi/launch/job/launch.h"
#include "pmi/launch/output/report.h"
#include "pmi/pmi.h"

enum { FRAMES = 64, SHOWN = 8 };
static const double MOST_SECONDS = 1; /* of looking, in all: a thousand ranks may crash at once */

struct frame {
    char *where, *module;
    char function[128];
};

/* "f" of "file.c:12 (f)" and of "f+0x1c in program"; "" if there is none. */
static void name_function(struct frame *f)
{
    const char *open = strstr(f->where, " ("), *plus = strstr(f->where, "+0x");
    size_t n = strlen(f->where);
    if (open && f->where[n - 1] == ')')
        snprintf(f->function, sizeof f->function, "%.*s", (int)(f->where + n - 1 - (open + 2)), open + 2);
    else if (plus && strstr(plus, " in "))
        snprintf(f->function, sizeof f->function, "%.*s", (int)(plus - f->where), f->where);
}

static bool is_procedure(const struct frame *f)
{
    return strncasecmp(f->function, "MPI_", 4) == 0 || strncasecmp(f->function, "PMPI_", 5) == 0;
}

static bool is_library(const struct frame *f)
{
    static const char *const names[] = { "libmpi_abi.", "libmpifort_abi", "libmpi.so.", "libmpifort.so.",
                                         "libmpi_mpifh.so." };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(f->module, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_libc(const struct frame *f)
{
    return strncmp(f->module, "libc.", 5) == 0 || strncmp(f->module, "libpthread", 10) == 0;
}

/* What of libc calls main, or a thread's function. */
static bool is_start(const struct frame *f)
{
    return strncmp(f->function, "__libc_start", 12) == 0 || strcmp(f->function, "start_thread") == 0;
}

/* The frames up to main; how many. */
static int read_frames(pid_t pid, const struct pmi_trace *t, struct frame *f)
{
    uint64_t address[FRAMES];
    int n = hang_frames(pid, t, address, FRAMES), got = 0;
    for (int i = 0; i < n; i++) {
        struct frame one = { .where = hang_where(pid, address[i] + (i == 0), false),
                             .module = hang_module(pid, address[i] - (i > 0)) };
        if (!one.where || !one.module) {
            free(one.where);
            free(one.module);
            break;
        }
        name_function(&one);
        f[got++] = one;
        if (is_start(&one) || strcmp(one.function, "main") == 0)
            break;
    }
    return got;
}

/* The first frame to be shown. */
static int first_frame(const struct pmi_trace *t, const struct frame *f, int n)
{
    int i = 0;
    if (t->signal == 0) { /* the caller of the MPI procedure, which may have left its own frame by a jump */
        while (i < n && !is_procedure(&f[i]) && !is_library(&f[0]))
            i++;
        while (i < n && (is_procedure(&f[i]) || is_library(&f[i])))
            i++;
    } else if (!t->at_address) { /* it was sent: by raise, abort, kill */
        while (i < n && is_libc(&f[i]))
            i++;
        i = i == n ? 0 : i;
    }
    return i;
}

static void put_frames(FILE *out, const struct pmi_trace *t, const struct frame *f, int n)
{
    int shown = 0;
    for (int i = first_frame(t, f, n); i < n && shown < SHOWN; i++) {
        if (shown > 0 && (is_start(&f[i]) || (is_library(&f[i]) && !is_procedure(&f[i]))))
            continue;
        fprintf(out, "%s%s", shown++ == 0 ? TRACE_FIRST : TRACE_MORE, f[i].where);
    }
}

char *trace_text(pid_t pid, const struct pmi_trace *t)
{
    static double spent;
    double start = now();
    struct frame f[FRAMES];
    char *text = NULL;
    size_t bytes;
    if (spent > MOST_SECONDS)
        return NULL;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    if (t->signal && t->at_address && (t->signal == SIGSEGV || t->signal == SIGBUS))
        fprintf(out, "address 0x%llx", (unsigned long long)t->address);
    int n = read_frames(pid, t, f);
    put_frames(out, t, f, n);
    for (int i = 0; i < n; i++) {
        free(f[i].where);
        free(f[i].module);
    }
    if (fclose(out) != 0 || bytes == 0) {
        free(text);
        text = NULL;
    }
    spent += now() - start;
    return text;
}
