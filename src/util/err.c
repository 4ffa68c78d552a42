/* SPDX-License-Identifier: BSD-3-Clause */
#include "err.h"
#include <stdarg.h>
#include <stdio.h>
#include "own.h"

static _Thread_local void *last;
static struct ku_err spare;

struct ku_err *ku_err_last(void)
{
    return last ? last : ku_own(&last, sizeof(struct ku_err), &spare);
}

int ku_err_set(int code, const char *arg, const char *fmt, ...)
{
    struct ku_err now = { .code = code }; /* apart: what is said may quote what was said before */
    va_list ap;
    snprintf(now.arg, sizeof now.arg, "%s", arg ? arg : "");
    va_start(ap, fmt);
    vsnprintf(now.text, sizeof now.text, fmt, ap);
    va_end(ap);
    *ku_err_last() = now;
    return code;
}

void ku_err_clear(void)
{
    struct ku_err *e = ku_err_last();
    e->code = 0;
    e->arg[0] = e->text[0] = 0;
}
