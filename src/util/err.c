#include "err.h"
#include <stdarg.h>
#include <stdio.h>

static _Thread_local struct ku_err last;

int ku_err_set(int code, const char *arg, const char *fmt, ...)
{
    va_list ap;
    last.code = code;
    snprintf(last.arg, sizeof last.arg, "%s", arg ? arg : "");
    va_start(ap, fmt);
    vsnprintf(last.text, sizeof last.text, fmt, ap);
    va_end(ap);
    return code;
}

struct ku_err *ku_err_last(void)
{
    return &last;
}

void ku_err_clear(void)
{
    last.code = 0;
    last.arg[0] = last.text[0] = 0;
}
