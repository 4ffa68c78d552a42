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
    struct ku_err *e = ku_err_last();
    va_list ap;
    e->code = code;
    snprintf(e->arg, sizeof e->arg, "%s", arg ? arg : "");
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    return code;
}

void ku_err_clear(void)
{
    struct ku_err *e = ku_err_last();
    e->code = 0;
    e->arg[0] = e->text[0] = 0;
}
