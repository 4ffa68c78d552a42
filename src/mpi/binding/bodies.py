# SPDX-License-Identifier: BSD-3-Clause
"""Finds the bodies: functions MPIR_Xxx at the start of a line, and what their parameters' types are."""

import re
from api import Bad
from headers import told, with_name

START = re.compile(r"^(int|double|MPI_Aint) MPIR_(\w+)\(", re.M)
WIDE = {"int64_t", "MPI_Offset", "MPI_Aint", "intptr_t", "ssize_t"}


class Body:
    def __init__(self, name, returns, types, where):
        self.name, self.returns, self.types, self.where = name, returns, types, where

    def prototype(self):
        return "%s MPIR_%s(%s);" % (self.returns, self.name, ", ".join(self.types) or "void")


def scan(paths):
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group(0)), f.read(), flags=re.S)
        for m in START.finditer(text):
            depth, at = 1, m.end()
            while depth and at < len(text):
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
            after = re.match(r"\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?([{;])", text[at:])
            if after and after.group(1) == "{":
                where = "%s:%d" % (path, text.count("\n", 0, m.start()) + 1)
                found[m.group(2)] = Body(m.group(2), m.group(1), param_types(text[m.end():at - 1]), where)
    return found


def param_types(text):
    text = re.sub(r"\s+", " ", text.strip())
    if text in ("", "void"):
        return []
    return [param_type(p.strip()) for p in text.split(",")]


def param_type(param):
    """'const int ranks[]' -> 'const int *'; 'int (*ranges)[3]' and 'int ranges[][3]' -> 'int (*)[3]'"""
    param = param.replace("__attribute__((unused))", "").strip()
    m = re.match(r"(.*?)\(\*\w*\)(\[.*)$", param) or re.match(r"(.*?)\w+\[\](\[.*)$", param)
    if m:
        return m.group(1).strip() + " (*)" + m.group(2)
    m = re.match(r"(.*?)(\w+)?((?:\[\w*\])?)$", param)
    base = m.group(1).strip()
    if not base:  # only a type, no name
        base = m.group(2)
    return base + " *" * bool(m.group(3)) if not (base.endswith("*") and m.group(3)) else base + "*"


def plain(ctype):
    """A type without what doesn't matter to a caller: const, struct tags, which 64-bit integer."""
    ctype = re.sub(r"\bstruct MPIR_HANDLE\b", "MPIR_Request", ctype)
    ctype = re.sub(r"\b(const|struct|restrict)\b", "", ctype)
    ctype = re.sub(r"\w+", lambda m: "MPI_Count" if m.group(0) in WIDE else m.group(0), ctype)
    ctype = re.sub(r"\bint32_t\b", "int", ctype)
    return re.sub(r"\s+", "", ctype)


def fits(want, got):
    """'' if a front that thinks of `want` may call with `got`; 'wide' if it must give an int64_t * for an int *."""
    want, got = plain(want), plain(got)
    if want == got or {want, got} == {"int", "MPI_Count"}:
        return ""
    if (want, got) == ("int*", "MPI_Count*"):
        return "wide"
    return None


def match(proc, body):
    """Checks the body's signature against the description; returns the names of parameters to widen."""
    params = [p for p in proc.params if p.kind.body]
    more = told(proc)
    expect = "%s MPIR_%s(%s)" % (body.returns, body.name,
                                 ", ".join([with_name(p.kind.body, p.name) for p in params] + more))
    if len(params) + len(more) != len(body.types) or body.types[len(params):] != [param_type(m) for m in more]:
        raise Bad("%s: MPIR_%s has %d parameters, expected %d: %s" % (body.where, body.name, len(body.types),
                                                                      len(params) + len(more), expect))
    wide = set()
    for p, got in zip(params, body.types):
        how = fits(p.kind.body, got)
        if how is None:
            raise Bad("%s: parameter %s of MPIR_%s is '%s', expected '%s': %s" % (body.where, p.name, body.name, got,
                                                                                  p.kind.body, expect))
        if how == "wide":
            wide.add(p.name)
    return wide


def bodies_of(api, found):
    """{procedure: its body}, by its own name or by the one that serves it too."""
    result = {}
    for proc in api.procs:
        body = found.get(proc.short) or found.get(proc.flags.get("body", ""))
        if body:
            result[proc.name] = body
    return result
