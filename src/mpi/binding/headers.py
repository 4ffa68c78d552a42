# SPDX-License-Identifier: BSD-3-Clause
"""mpi.h, mpi_const.h and bodies.h, from the descriptions."""

import re
from kinds import HANDLES

MPI_H = """\
/* mpi.h: MPI @VERSION@ in C and C++, by @ABI_VERSION@.  Generated from src/mpi/binding; do not edit.
 *
 * The first part is the Standard ABI's header.  The second holds what that header lacks: Fortran's integers, handle
 * conversions for Fortran, and the procedures that MPI 3.0 removed. */
#ifndef KEEL_MPI_H
#define KEEL_MPI_H

#ifdef KEEL_MPI_CONST_H
#error "include mpi.h before mpid.h"
#endif

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types --------------------------------------------------------------------------------------------------- */

@INTEGERS@

@HANDLE_TYPES@

typedef struct {
@STATUS_FIELDS@
} MPI_Status;

/* ---- Constants ----------------------------------------------------------------------------------------------- */

@CONSTANTS@

/* ---- Callbacks ----------------------------------------------------------------------------------------------- */

@CALLBACKS@

@CALLBACK_CONSTANTS@

/* A call of what this version does not have yet is told by the compiler, before the linker.  Who only declares it, takes its address or
 * wraps it (PMPI_) is not told. */
#if !defined(KEEL_ABSENT) && defined(__has_attribute)
#if __has_attribute(warning)
#define KEEL_ABSENT(name) __attribute__((warning(#name ": not in this version of Keel MPI")))
#endif
#endif
#ifndef KEEL_ABSENT
#define KEEL_ABSENT(name)
#endif

/* With KEEL_TYPE_TAGS defined, clang compares the types of buffers with their datatypes (-Wtype-safety). */
#if defined(KEEL_TYPE_TAGS) && defined(__clang__)
#define KEEL_TYPED(buffer, datatype) __attribute__((pointer_with_type_tag(KEEL, buffer, datatype)))
@TAGS@
#else
#define KEEL_TYPED(buffer, datatype)
#endif

/* ---- Procedures ---------------------------------------------------------------------------------------------- */

@PROTOTYPES@

/* ==== Beyond the ABI's header ================================================================================= */

typedef int MPI_Fint;
@FORTRAN@

@OUTSIDE_CONSTANTS@

@OUTSIDE_CALLBACKS@

@OUTSIDE@

#ifdef __cplusplus
}
#endif

/* The C++ bindings of MPI-2, for who asks for them. */
#if defined(__cplusplus) && defined(KEEL_CXX)
#include "mpicxx.h"
#endif

#endif
"""

CONST_H = """\
/* mpi_const.h: MPI's constants for code that knows no handles.  Generated from src/mpi/binding; do not edit.
 *
 * The values are the Standard ABI's.  The value of a predefined handle MPI_X is KEEL_MPI_X here. */
#ifndef KEEL_MPI_CONST_H
#ifndef MPI_VERSION /* with mpi.h there is nothing to add */
#define KEEL_MPI_CONST_H

#include <stdint.h>

@INTEGERS@

@CONSTANTS@

#endif
#endif
"""

BODIES_H = """\
/* bodies.h: what the front end expects of each procedure's body.  Generated from src/mpi/binding/api.txt; do not edit.
 * Include it in the file that defines the body. */
#ifndef MPIR_BODIES_H
#define MPIR_BODIES_H

#include "abi.h"
#include "mpid.h"

typedef struct MPIR_HANDLE MPIR_Request;
@OBJECTS@

@PROTOTYPES@

#endif
"""


FORTRAN = """\
typedef struct {
    MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR, MPI_internal[5];
} MPI_F08_status;
#define MPI_F_STATUS_IGNORE ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *)0)
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)0)"""
# Of an ABI in which these are variables.
FORTRAN_VARIABLES = """\
typedef struct {
@FIELDS@
} MPI_F08_status;
extern MPI_Fint *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;"""


def abi_type(decl):
    """The declaration with the ABI's own types, which the front ends know under other names."""
    decl = re.sub(r"\bMPI_\w+_function(_c|_fn)? ", "ABI_Function ", decl)
    decl = re.sub(r"\bMPI_T_(cb_safety|source_order)\b", "int", decl)
    decl = re.sub(r"\bMPI_T_(enum|[cp]var_handle|pvar_session|event_registration|event_instance)\b", r"ABI_T_\1", decl)
    decl = decl.replace("MPI_Fint", "int").replace("MPI_F08_status", "ABI_Status")
    return re.sub(r"\bMPI_(%s|Status)\b" % "|".join(h.short for h in HANDLES.values()), r"ABI_\1", decl)


def fill(template, **parts):
    for name, text in parts.items():
        template = template.replace("@%s@" % name, text)
    left = re.search(r"@[A-Z][A-Za-z_]*@", template)
    assert not left, "the template still says " + left.group(0)
    return template


def heading(text):
    return "/* %s */" % text.replace("mpi_t", "MPI_T").replace("-", " ")


def value_text(ctype, value):
    """How a constant's value is written: handles and pointers in hex, as casts."""
    if ctype == "int":
        return "(%d)" % value if value < 0 else str(value)
    pointer = ctype.replace("*", " *").replace("* *", "**").replace("* *", "**")
    return "((%s)%s)" % (pointer, hex(value) if value > 9 else str(value))


def enum_of(rows, name=None):
    body = ",\n".join("    %s = %s" % (n, v) for n, v in rows)
    return ("typedef enum %s {\n%s\n} %s;" % (name, body, name)) if name else "enum {\n%s\n};" % body


def constants(groups, symbols=()):
    """The constants of mpi.h, but for those that need the callbacks' types.  symbols: the variables whose addresses some are."""
    parts, late = [], []
    for cls, ctype, form, rows in groups:
        if form == "enum":
            text = enum_of(rows, None if ctype == "int" else ctype)
        elif form == "symbol":
            text = "\n".join("extern char %s[];\n#define %s ((%s)(void *)%s)" % (symbols[n], n, ctype, symbols[n]) for n, _ in rows)
        elif form == "data":
            text = "\n".join("extern %s const %s;" % (ctype.replace("*", " *"), n) for n, _ in rows)
        else:
            text = "\n".join("#define %s %s" % (n, value_text(ctype, v)) for n, v in rows)
        (late if "_function" in ctype else parts).append(heading(cls) + "\n" + text)
    return "\n\n".join(parts), "\n\n".join(late)


def callback_typedef(name, text):
    m = re.match(r"(\w+)\((.*)\)$", text)
    return "typedef %s %s(%s);" % (m.group(1), name, m.group(2)) if m else "typedef %s %s;" % (text, name)


def absent(proc, here, large=False):
    """What is said of a procedure that has no body, so that calls of it are told."""
    return "" if proc.name in here else " KEEL_ABSENT(%s%s)" % (proc.name, "_c" * large)


# The types that are what they are called in C and C++.
TAGGED = {
    "CHAR": "char", "SIGNED_CHAR": "signed char", "UNSIGNED_CHAR": "unsigned char", "SHORT": "short", "UNSIGNED_SHORT": "unsigned short",
    "INT": "int", "UNSIGNED": "unsigned", "LONG": "long", "UNSIGNED_LONG": "unsigned long", "LONG_LONG": "long long",
    "UNSIGNED_LONG_LONG": "unsigned long long", "FLOAT": "float", "DOUBLE": "double", "LONG_DOUBLE": "long double",
    "INT8_T": "int8_t", "INT16_T": "int16_t", "INT32_T": "int32_t", "INT64_T": "int64_t",
    "UINT8_T": "uint8_t", "UINT16_T": "uint16_t", "UINT32_T": "uint32_t", "UINT64_T": "uint64_t",
    "AINT": "MPI_Aint", "OFFSET": "MPI_Offset", "COUNT": "MPI_Count",
}


def tags(abi):
    """What tells clang which types the datatypes are of; where they are addresses it cannot be told."""
    values = {} if abi.symbols else abi.values()
    return "\n".join("static const int keel_tag_%s __attribute__((type_tag_for_datatype(KEEL, %s), unused)) = 0x%x;" %
                     (name, ctype, values["MPI_" + name]) for name, ctype in TAGGED.items() if "MPI_" + name in values)


def typed(proc, large):
    """Which buffers are of which datatypes."""
    params = proc.visible(large)
    names = [p.name for p in params]
    found = []
    for p in params:
        of = (p.arg("of") or "").split(",")[1:] if p.has("of") else []
        if p.name == "origin_addr" and not of:
            of = [n for n in ("origin_datatype", "datatype") if n in names][:1]
        if of and of[0] in names and params[names.index(of[0])].kind.name == "DATATYPE_USE":
            found.append(" KEEL_TYPED(%d, %d)" % (names.index(p.name) + 1, names.index(of[0]) + 1))
    return "".join(found)


def prototypes(procs, here):
    lines = []
    for p in procs:
        for prefix in ("", "P"):
            own = here | {p.name} if prefix else here
            for large in (False, True)[:2 if p.has("large") else 1]:
                lines.append(p.prototype(prefix, large) + typed(p, large) + absent(p, own, large) + ";")
    return "\n".join(lines)


def mpi_h(api, abi, here):
    """here: the names of the procedures that the library has."""
    values = abi.values()
    early, late = constants(abi.groups, abi.symbols)
    fields = [re.sub(r"^(\w+)\s*(\S+?)(\[\d+\])?$", r"\1 \2\3", field_decl(n, t)) for n, t in abi.status]
    handles = ["typedef %s%s;" % ("int " if s == "int" else "struct %s *" % s, n) for n, _, s in abi.handles] + \
              ["typedef struct %s *%s;" % (s, n) for n, s in abi.opaque]
    by_chapter = []
    for chapter, title in api.chapters.items():
        procs = [p for p in api.procs if p.chapter == chapter and not p.has("outside")]
        if procs:
            by_chapter.append("/* %s */\n%s" % (title.capitalize(), prototypes(procs, here)))
    return fill(
        MPI_H,
        VERSION="%d.%d" % (values["MPI_VERSION"], values["MPI_SUBVERSION"]),
        ABI_VERSION=abi.owner + "'s ABI" if abi.owner else
        "its Standard ABI (version %d.%d)" % (values["MPI_ABI_VERSION"], values["MPI_ABI_SUBVERSION"]),
        FORTRAN=fill(FORTRAN_VARIABLES, FIELDS="\n".join("    %s" % f.replace("int ", "MPI_Fint ") + ";" for f in fields))
        if abi.owner else FORTRAN,
        INTEGERS="\n".join("typedef %s %s;" % (t, n) for n, t in abi.integers),
        HANDLE_TYPES="\n".join(handles),
        STATUS_FIELDS="\n".join("    %s;" % f for f in fields),
        CONSTANTS=early,
        CALLBACKS="\n".join(callback_typedef(n, t) for n, t, outside in api.callbacks if not outside),
        CALLBACK_CONSTANTS=late,
        TAGS=tags(abi),
        PROTOTYPES="\n\n".join(by_chapter),
        OUTSIDE_CONSTANTS=constants(abi.outside)[0],
        OUTSIDE_CALLBACKS="\n".join(callback_typedef(n, t) for n, t, outside in api.callbacks if outside),
        OUTSIDE=prototypes([p for p in api.procs if p.has("outside") and p.has("since")], here) + "\n\n" + extensions(api, here),
    )


EXTENSIONS = [("MPIX_ERR_PROC_FAILED", 16301), ("MPIX_ERR_PROC_FAILED_PENDING", 16302), ("MPIX_ERR_REVOKED", 16303)]


def extensions(api, here):
    """What is beyond MPI: its names begin with MPIX_."""
    rows = ["#define %s %d" % row for row in EXTENSIONS]
    text = prototypes([p for p in api.procs if p.has("extension")], here)
    return "/* User-Level Failure Mitigation (doc/failures.md). */\n" + "\n".join(rows) + "\n\n" + text


def field_decl(name, ctype):
    base, bracket, size = ctype.partition("[")
    return "%s %s%s%s" % (base, name, bracket, size)


def const_h(abi):
    parts = []
    for cls, ctype, form, rows in abi.groups + abi.outside:
        if ctype in ("int", "MPI_Offset") or form == "enum":
            text = enum_of(rows)
        elif cls.startswith("handle:") or cls == "mpi_t-handle" or "_function" in ctype:
            text = enum_of([("KEEL_" + n, v) for n, v in rows])
        elif ctype.startswith("MPI_"):
            continue
        else:
            text = "\n".join("#define %s %s" % (n, value_text(ctype, v)) for n, v in rows)
        parts.append(heading(cls) + "\n" + text)
    return fill(CONST_H, INTEGERS="\n".join("typedef %s %s;" % (t, n) for n, t in abi.integers),
                CONSTANTS="\n\n".join(parts))


def told(proc):
    """What a body gets besides the procedure's own parameters."""
    return ["bool large"] if proc.has("tells-large") else []


def body_prototype(proc):
    params = [with_name(p.kind.body, p.name) for p in proc.params if p.kind.body] + told(proc)
    return "%s MPIR_%s(%s)" % (proc.returns, proc.short, ", ".join(params) or "void")


def with_name(ctype, name):
    if "(*)" in ctype:
        return ctype.replace("(*)", "(*%s)" % name)
    return ctype + ("" if ctype.endswith("*") else " ") + name


def has_body(proc):
    """Could a body be written for it?  (Not the conversions, which are generated, nor the Fortran statuses.)"""
    foreign = any(p.kind.name in ("FINT", "C") and "MPI_" in p.kind.small for p in proc.params)
    return proc.returns in ("int", "double", "MPI_Aint") and not foreign \
        and not proc.has("body") and not proc.short.endswith("_toint")


def bodies_h(api):
    objects = sorted({h.obj for h in HANDLES.values()} - {"MPIR_Request"})
    return fill(BODIES_H, OBJECTS="\n".join("typedef struct %s %s;" % (o, o) for o in objects),
                PROTOTYPES="\n".join(body_prototype(p) + ";" for p in api.procs if has_body(p)))
