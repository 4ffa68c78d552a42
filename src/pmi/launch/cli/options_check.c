/* SPDX-License-Identifier: BSD-3-Clause */
/* options_check.c: -check and what goes with it.  The ranks learn of it by KEEL_CHECK, and so does the mpiexec of
 * a job that they spawn. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "pmi/launch/output/found.h"
#include "util/faults.h"

/* Words behind each other; those of several options are all meant. */
static void options_check_words(struct parse *p, const char *words)
{
    const char *old = p->launch->check.words;
    p->launch->check.words = xformat("%s%s%s", old ? old : "", old && *old && *words ? "," : "", words);
}

void do_check(struct parse *p, char **v)
{
    struct ku_fault_choice choice;
    size_t len = 0;
    const char *words = v[0] ? v[0] : "", *bad = ku_fault_choose(words, &choice, &len);
    if (bad)
        refuse(p,
               "%s: \"%.*s\" is not known; expected error, warning, note, strict, or kinds of faults "
               "(doc/checking.md), each with - before it to leave it out",
               p->name, (int)len, bad);
    options_check_words(p, words);
}

void do_check_keep_exit(struct parse *p, char **v)
{
    (void)v;
    options_check_words(p, "keep-exit");
}

void do_check_output(struct parse *p, char **v)
{
    struct check *c = &p->launch->check;
    const char *dot = strrchr(v[0], '.');
    if (!dot || !found_format(dot + 1)) {
        refuse(p, "%s %s: expected a name that ends in .txt, .json or .sarif", p->name, v[0]);
        return;
    }
    c->output = xgrow(c->output, (size_t)c->noutputs + 1, sizeof *c->output);
    c->output[c->noutputs++] = v[0];
    options_check_words(p, "");
}

void do_check_suppress(struct parse *p, char **v)
{
    char *wrong = suppress_read(v[0]);
    if (wrong)
        refuse(p, "%s %s", p->name, wrong);
    free(wrong);
    options_check_words(p, "");
}

void options_check(struct parse *p)
{
    const char *words = p->launch->check.words;
    if (words)
        env_for_all(p, xformat("KEEL_CHECK=%s", *words ? words : "1"));
}
