# SPDX-License-Identifier: BSD-3-Clause
"""A library in place of libmpi_abi that writes down the arguments of each call and returns known values, so that a test can call every
procedure of a binding without MPI and see what arrives in C.

recorder_c(api) is its source.  A call is told as one line: the name, then a word for each argument,

    buffer        @N: the integer there       handle, number   N
    array         N,N,N (its first three)     string           'text'
    status        S(source,tag,error) or, to be filled, status or ignore
    function      fnN for MPI's own, fn       NULL, IN_PLACE, AUTOMATIC, UNWEIGHTED, EMPTY: the constants

and what it returns is out(i, p): a value for each OUT argument i.  Where a procedure reads, `given` says what the tests pass."""

import re

QUERIES = {  # what bindings ask to know how long an array is: three, always
    "MPI_Comm_size": {"size": 3}, "MPI_Comm_remote_size": {"size": 3}, "MPI_Comm_test_inter": {"flag": 0}, "MPI_Cartdim_get": {"ndims": 3},
    "MPI_Topo_test": {"status": "MPI_DIST_GRAPH"}, "MPI_Dist_graph_neighbors_count": {"indegree": 3, "outdegree": 3},
    "MPI_Comm_rank": {"rank": 0}, "MPI_Waitsome": {"outcount": 3}, "MPI_Testsome": {"outcount": 3},
    "MPI_Request_get_status_some": {"outcount": 3},
}
WORDS = ("attribute_val", "extra_state")  # pointers that are values
C_HEAD = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "mpi.h"

static char call[4096];
static int calls, checks, wrong;

static void put_begin(const char *name)
{
    snprintf(call, sizeof call, "%s", name);
    calls += strncmp(name, "PMPI_", 5) != 0;
}
static void put_word(const char *format, long long v)
{
    size_t n = strlen(call);
    snprintf(call + n, sizeof call - n, format, v);
}
static void put_text(const char *s)
{
    size_t n = strlen(call);
    snprintf(call + n, sizeof call - n, s ? " '%s'" : " NULL", s);
}
static void put_buffer(const void *p)
{
    if ((intptr_t)p < 16)
        put_word((intptr_t)p == 0 ? " NULL" : (intptr_t)p == 1 ? " IN_PLACE" : (intptr_t)p == 2 ? " AUTOMATIC" : " ?%lld", (intptr_t)p);
    else
        put_word(" @%lld", *(const int *)p);
}
/* What is received: the test sees it in its own variable. */
static void put_fill(void *p)
{
    if ((intptr_t)p >= 16)
        *(int *)p += 1000;
}
static void put_array(const void *p, size_t size, int n)
{
    if ((intptr_t)p < 16)
        put_word((intptr_t)p == 0 ? " NULL" : (intptr_t)p == 10 ? " UNWEIGHTED" : (intptr_t)p == 11 ? " EMPTY" : " ?%lld", (intptr_t)p);
    for (int i = 0; (intptr_t)p >= 16 && i < n; i++)
        put_word(i ? ",%lld" : " %lld", size == 4 ? ((const int *)p)[i] : ((const int64_t *)p)[i]);
}
static void put_out(void *p, size_t size, int64_t first)
{
    for (int i = 0; (intptr_t)p >= 16 && i < 3; i++)
        size == 4 ? (void)(((int *)p)[i] = (int)first + i) : (void)(((int64_t *)p)[i] = first + i);
}
static void put_status(const MPI_Status *s)
{
    put_word(" S(%lld,", s->MPI_SOURCE);
    put_word("%lld,", s->MPI_TAG);
    put_word("%lld)", s->MPI_ERROR);
}
static void put_statuses(MPI_Status *s, int n, int first)
{
    put_word(s ? " status" : " ignore", 0);
    for (int i = 0; s && i < n; i++) {
        s[i].MPI_SOURCE = first + 10 * i;
        s[i].MPI_TAG = first + 10 * i + 1;
        s[i].MPI_ERROR = first + 10 * i + 2;
    }
}
static void put_function(intptr_t fn)
{
    put_word(fn < 16 ? " fn%lld" : " fn", fn);
}

/* A word * may be anything. */
static int same(const char *a, const char *want)
{
    for (; *a && *want; a++, want++)
        if (*want == '*')
            a += strcspn(a, " ") - 1;
        else if (*a != *want)
            return 0;
    return *a == (*want == '*' ? want[1] : *want);
}
void recorder_check(const char *want)
{
    checks++;
    if (!same(call, want) && ++wrong < 100)
        printf("wrong call\n   want: %s\n   came: %s\n", want, call);
    if (calls > 1 && ++wrong < 100)
        printf("%s: %d calls of C\n", want, calls);
    calls = 0;
    call[0] = 0;
}
void recorder_check_(const char *want, size_t len)
{
    char s[4096];
    snprintf(s, sizeof s, "%.*s", (int)len, want);
    recorder_check(s);
}
void recorder_value(const char *what, long long got, long long want)
{
    checks++;
    if (got != want && ++wrong < 100)
        printf("%s: is %lld; expected %lld\n", what, got, want);
}
void recorder_value_(const char *what, const int64_t *got, const int64_t *want, size_t len)
{
    char s[200];
    snprintf(s, sizeof s, "%.*s", (int)len, what);
    recorder_value(s, *got, *want);
}
int recorder_done(int least)
{
    printf("%d checks, %d wrong\n", checks, wrong);
    return wrong != 0 || checks < least;
}
int recorder_done_(const int *least)
{
    return recorder_done(*least);
}
"""


def size_of(decl):
    return 4 if re.match(r"(const )?(int|MPI_Fint)\b", decl) else 8


def is_array(p, large):
    return "[" in p.decl(large) or p.kind.name in ("WEIGHTS", "WEIGHTS_OUT")


def is_out(p):
    return p.kind.name.endswith(("_OUT", "_INOUT")) or p.kind.name == "POINTER" and p.has("logical")


def small(proc):
    """Fortran has an INTEGER where C has an address."""
    return bool(proc and (proc.flags.get("removed") or proc.flags.get("deprecated") == "2.0"))


def value(i, p, large, proc=None):
    """The number that an OUT argument gets: of a handle, of an integer, the first of an array."""
    if p.has("logical"):
        return 1
    if p.kind.handle:
        return 0x900 + 10 * i
    return (5000000000 if size_of(p.decl(large)) == 8 and not small(proc) else 0) + 300 + 10 * i


def given(i, p, large, proc=None):
    """What a test passes: the number of a handle, an integer, the first of an array."""
    if p.has("logical"):
        return 1
    if p.kind.handle:
        return 0x300 + 10 * i
    if p.name in ("degrees", "index", "indx") and p.kind.name == "INTS": # say how long another array is, which has nine entries
        return 1
    return (6000000000 if size_of(p.decl(large)) == 8 and not small(proc) else 0) + 40 + 10 * i


def counts(proc):
    """The parameters that say how long arrays are: three."""
    names = {p.arg(k) for p in proc.params for k in ("len", "dim")} | {"n", "count", "incount", "maxindex", "maxedges", "nnodes", "ndims", "maxdims"}
    return {p.name for p in proc.params if p.name in names and not is_out(p)}


def name_of(proc, prefix):
    """prefix: MPI_ or PMPI_; a procedure beyond MPI has an X there."""
    return prefix[:-1] + "X" * bool(proc.has("extension")) + "_" + proc.short


def record(proc, large, prefix):
    lines = ['put_begin("%s");' % (name_of(proc, prefix) + "_c" * large)]
    tail = []
    for i, p in enumerate(proc.visible(large)):
        n, kind, decl = p.name, p.kind.name, p.decl(large)
        wide = size_of(decl)
        if kind == "VARARGS":
            continue
        if kind in ("BUFFER", "CBUFFER") or kind in ("POINTER", "CPOINTER") and n not in WORDS and not p.has("logical"):
            lines.append("put_buffer(%s);" % n)
            if kind == "BUFFER":
                tail.append("put_fill(%s);" % n)
        elif kind == "POINTER" and p.has("logical"):
            lines.append('put_word(" %%lld", *(int *)%s);' % n)
            if proc.short.startswith("Abi_get"):
                tail.append("*(int *)%s = 1;" % n)
        elif kind == "POINTER": # of a generalized request: where it is
            lines.append('put_word(" %%lld", %s%s);' % ("*(int64_t *)" if proc.short == "Grequest_start" else "(intptr_t)", n))
        elif kind == "POINTER_OUT":
            tail.append("*(int64_t *)%s = %d;" % (n, 7000 + i))
        elif kind in ("STRING", "STRING_ARRAY"):
            lines.append("put_text(%s);" % n)
        elif kind == "STRING_OUT":
            tail.append('strcpy(%s, "str%d");' % (n, i))
        elif kind in ("STATUS", "STATUS_INOUT"):
            lines.append("put_status(%s);" % n)
            if kind == "STATUS_INOUT":
                tail.append("%s->MPI_TAG += 1000;" % n)
        elif kind in ("STATUS_OUT", "STATUSES_OUT"):
            tail.append("put_statuses(%s, %d, %d);" % (n, 3 if kind == "STATUSES_OUT" else 1, 200 + i))
        elif kind == "FUNCTION":
            lines.append("put_function((intptr_t)%s);" % n)
        elif kind in ("ARGC", "ARGV"):
            lines.append("put_word(%s ? \" there\" : \" NULL\", 0);" % n)
        elif kind == "C" and decl.startswith("char"):
            lines.append("put_word(%s ? \" there\" : \" NULL\", 0);" % n)
        elif kind in ("C", "TOOL") and n != "level":
            return None # a conversion
        elif is_array(p, large):
            if "OUT" not in kind or "INOUT" in kind:
                lines.append("put_array(%s, %d, %d);" % (n, wide, 9 if kind == "RANGES" else 3))
            if "OUT" in kind:
                tail.append("put_out((void *)%s, %d, %d);" % (n, wide, value(i, p, large, proc)) if not p.has("logical") else
                            "%s[0] = %s[2] = 1, %s[1] = 0;" % (n, n, n))
        elif "*" in decl:
            if kind.endswith("_INOUT"):
                lines.append('put_word(" %%lld", (long long)(intptr_t)*%s);' % n if p.kind.handle else 'put_word(" %%lld", *%s);' % n)
            v = QUERIES.get(proc.name, {}).get(n, value(i, p, large, proc))
            base = re.match(r"(\w+)", decl).group(1)
            tail.append("*%s = (%s)%s%s;" % (n, base, "(intptr_t)" * bool(p.kind.handle), v))
        elif p.kind.handle:
            lines.append('put_word(" %%lld", (intptr_t)%s);' % n)
        else:
            lines.append('put_word(" %%lld", %s);' % n)
    result = {"int": "return 0;", "double": "return 2.5;", "MPI_Aint": "return 77;"}.get(proc.returns)
    if not result:
        return None
    return "%s\n{\n    %s\n}" % (proc.prototype(prefix[:-4], large), "\n    ".join(lines + tail + [result]))


def recorder_c(api, names):
    parts = [C_HEAD]
    for proc in api.procs:
        if proc.name not in names:
            continue
        if proc.name == "MPI_Keel_call_from": # said before the call that counts
            parts.append("%s { return language & 0; }" % proc.prototype("P"))
            continue
        m = re.match(r"MPI_(\w+)_fromint$", proc.name)
        if m:
            parts.append("%s { return (%s)(intptr_t)%s; }" % (proc.prototype("P"), proc.returns, proc.params[0].name))
            continue
        for large in (False, True):
            if large and not proc.has("large"):
                continue
            for prefix in ("MPI_", "PMPI_"):
                parts.append(record(proc, large, prefix) or "%s { return (%s)0; }" % (proc.prototype(prefix[:-4], large), proc.returns))
    return "\n".join(parts) + "\n"


def line(proc, large, prefix, unused=(), null=(), own=(), more=None):
    """What is told of a call with `given`; unused: statuses that the binding leaves out; null: pointers that are NULL; own: what the
    binding has something of its own for; more: {argument: what is added to it}."""
    words = [name_of(proc, prefix) + "_c" * large]
    late = []
    three = counts(proc)
    for i, p in enumerate(proc.visible(large)):
        n, kind = p.name, p.kind.name
        g = given(i, p, large, proc)
        if kind == "VARARGS":
            continue
        if kind in ("BUFFER", "CBUFFER") or kind in ("POINTER", "CPOINTER") and n not in WORDS and not p.has("logical"):
            words.append("@%d" % (1000 + i))
        elif kind == "POINTER":
            words.append("*" if n in own else str(g if p.has("logical") else 5000 + i))
        elif kind in ("STRING", "STRING_ARRAY"):
            words.append("'in%d'" % i)
        elif kind in ("STATUS", "STATUS_INOUT"):
            words.append("S(%d,%d,%d)" % (100 + i, 101 + i, 102 + i))
        elif kind in ("STATUS_OUT", "STATUSES_OUT"):
            late.append("ignore" if n in unused else "status")
        elif kind == "FUNCTION":
            words.append("fn*")
        elif kind in ("ARGC", "ARGV") or kind == "C" and p.decl().startswith("char"):
            words.append("NULL" if n in null else "there")
        elif kind in ("STRING_OUT", "POINTER_OUT"):
            pass
        elif is_array(p, large):
            if "OUT" not in kind or "INOUT" in kind:
                words.append("1,0,1" if p.has("logical") else ",".join(str(g + k) for k in range(9 if kind == "RANGES" else 3)))
        elif "*" in p.decl(large):
            if kind.endswith("_INOUT"):
                words.append(str(g + (more or {}).get(n, 0)))
        else:
            words.append(str((3 if n in three else g) + (more or {}).get(n, 0)))
    return " ".join(words + late)
