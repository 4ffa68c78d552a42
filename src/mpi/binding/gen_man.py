# SPDX-License-Identifier: BSD-3-Clause
"""Man pages of section 3: one a procedure, one line for MPI_X_c, and MPI(3), which leads to all."""

import re
from headers import fill
from kinds import HANDLES

PAGE = """\
.\\" Generated from src/mpi/binding; do not edit.
.TH @NAME@ 3 "" "Keel @VERSION@" "MPI 5.0"
.SH NAME
@NAMES@ \\- @SUMMARY@
.SH SYNOPSIS
.B #include <mpi.h>
.ad l
.nh
@SYNOPSIS@
.hy
.ad b
.SH ARGUMENTS
@ARGUMENTS@
.SH DESCRIPTION
@DESCRIPTION@
.SH RETURN VALUE
@RETURN@
.SH ERRORS
@ERRORS@
.SH STANDARD
@STANDARD@
.SH SEE ALSO
@SEE@
"""

OVERVIEW = """\
.\\" Generated from src/mpi/binding; do not edit.
.TH MPI 3 "" "Keel @VERSION@" "MPI 5.0"
.SH NAME
MPI \\- the Message Passing Interface, as Keel has it
.SH SYNOPSIS
.B #include <mpi.h>
.br
.B mpicc \\-O2 \\-o prog prog.c
.br
.B mpiexec \\-n 4 ./prog
.SH DESCRIPTION
Keel is an MPI library with the Standard ABI of MPI 5.0.
.BR mpicc (1)
(C++: mpicxx, Fortran: mpifort) compiles,
.BR mpiexec (1)
starts the ranks on one host or several,
.BR mpi_info (1)
shows what was built, the KEEL_* variables and the counters.
The documents are in share/doc/keel below the folder where Keel is installed; README.md there leads to them.
.PP
Each procedure has a page of its own name. Where it ends in [_c], there is a second form with counts of the type
MPI_Count. In Fortran (mpif.h, use mpi, use mpi_f08) procedures have the same names and one more argument, ierror.
@CHAPTERS@
.SH SEE ALSO
.BR mpicc (1),
.BR mpiexec (1),
.BR mpi_bench (1),
.BR mpi_info (1)
"""

# What a kind can be wrong about, beyond handles.
ERRORS = {
    "COUNT": ("MPI_ERR_COUNT", "is negative"),
    "NUMBER": ("MPI_ERR_COUNT", "is negative"),
    "COUNTS": ("MPI_ERR_COUNT", "has a negative element"),
    "RANK": ("MPI_ERR_RANK", "is neither a rank of the communicator nor MPI_PROC_NULL"),
    "RANK_ANY": ("MPI_ERR_RANK", "is neither a rank of the communicator, MPI_ANY_SOURCE nor MPI_PROC_NULL"),
    "RANK_IN": ("MPI_ERR_RANK", "is no rank of the communicator"),
    "WIN_RANK": ("MPI_ERR_RANK", "is no rank of the window's group"),
    "ROOT": ("MPI_ERR_ROOT", "is no rank of the communicator"),
    "TAG": ("MPI_ERR_TAG", "is negative"),
    "TAG_ANY": ("MPI_ERR_TAG", "is negative and not MPI_ANY_TAG"),
    "STATUSES_OUT": ("MPI_ERR_IN_STATUS", "tells of operations that failed: each has its class in MPI_ERROR"),
}
DIRECTIONS = (("_INOUT", "in and out"), ("_OUT", "out"))
MEANINGS = {"indx": "index of an operation", "extra_state": "what the functions are passed", "flag": "true if so"}


def direction(p):
    name = p.kind.name
    if name == "BUFFER":
        return "out" if p.name.startswith("recv") or p.name in ("buf", "outbuf") else "in and out"
    if name == "TOOL" and "*" in p.kind.small:
        return "out" if p.name in ("enumtype", "ordering", "event_registration") else "in and out"
    for ending, text in DIRECTIONS:
        if name.endswith(ending):
            return text
    return "in"


def meaning(p):
    if p.meaning:
        text = p.meaning[0].upper() + p.meaning[1:].rstrip(".;")
    else:
        text = MEANINGS.get(p.name, p.name.replace("_", " ")).capitalize()
    if p.has("inplace") and p.name == p.arg("inplace"):
        text += ", or MPI_IN_PLACE"
    if p.kind.name in ("STATUS_OUT", "STATUSES_OUT"):
        text += ", or MPI_STATUS%s_IGNORE" % ("ES" if p.kind.name == "STATUSES_OUT" else "")
    if p.has("null"):
        h = p.kind.handle
        text += "; %s %s allowed" % ("MPI_%s_NULL" % h.kind, "elements are" if p.kind.name.startswith(h.kind + "S") else "is")
    return text + "."


def arguments(proc):
    rows = []
    for p in proc.params:
        if p.kind.name == "VARARGS":
            continue
        only = " Of %s_c alone." % proc.name if p.has("large-only") else ""
        rows.append(".TP\n.I %s\n(%s) %s%s" % (p.name, direction(p), meaning(p), only))
    return "\n".join(rows) or "None."


def synopsis(proc):
    lines = [proc.prototype() + ";"]
    if proc.has("large"):
        lines.append(proc.prototype("", True) + ";")
    return "\n".join(".HP 4\n.BI \"%s\"" % re.sub(r"\b(%s)\b(?=[,)\[])" % "|".join(p.name for p in proc.params if p.name != "..."),
                                            r'" \1 "', line) if proc.params else ".HP 4\n.B " + line for line in lines)


def description(proc):
    says = [proc.summary[0].upper() + proc.summary[1:] + ("" if proc.summary.endswith("?") else ".")]
    if proc.has("collective"):
        says.append("Collective: every process of the communicator calls it.")
    if proc.has("large"):
        says.append("%s_c (MPI %s) takes 64-bit counts." % (proc.name, proc.flags["large"]))
    if any(p.has("undefined") for p in proc.params):
        says.append("A result that an int does not hold is MPI_UNDEFINED; %s." %
                    ("%s_c gives it" % proc.name if proc.has("large") else "the variant with MPI_Count gives it"))
    if proc.has("always"):
        says.append("It may be called at any time, also before MPI_Init and after MPI_Finalize.")
    if proc.has("world"):
        says.append("It is about the world model, MPI_Init to MPI_Finalize: a session is not enough.")
    if any(p.kind.name == "FUNCTION" for p in proc.params) and proc.has("large"):
        says.append("The function given to %s_c gets 64-bit counts." % proc.name)
    for flag, word in (("deprecated", "Deprecated"), ("removed", "Removed from the standard")):
        if proc.has(flag):
            use = proc.flags.get("use") or ("MPI_" + proc.flags["body"] if proc.has("body") else None)
            says.append("%s since MPI %s%s." % (word, proc.flags[flag], "; use %s" % use if use else ""))
    return "\n".join(says)


def errors(proc):
    if proc.returns != "int":
        return "None."
    if proc.short.startswith("T_"):
        return tool_errors(proc)
    rows = {}
    for p in proc.params:
        if p.kind.handle and not p.kind.name.endswith("_OUT") and not p.has("loose"):
            h = p.kind.handle
            what = "is no live %s" % h.word + (" or is not committed" if "_USE" in p.kind.name else "")
            rows.setdefault(h.errclass, []).append((p.name, what))
        elif p.kind.name.endswith(("_OUT", "_INOUT")) and p.kind.name not in ("STATUS_OUT", "STATUSES_OUT", "POINTER_OUT"):
            rows.setdefault("MPI_ERR_ARG", []).append((p.name, "is NULL"))
        if p.kind.name in ERRORS:
            errclass, what = ERRORS[p.kind.name]
            rows.setdefault(errclass, []).append((p.name, what))
        elif p.kind.name in ("BUFFER", "CBUFFER") and p.has("of"):
            rows.setdefault("MPI_ERR_BUFFER", []).append((p.name, "is NULL, and there is data to move"))
        elif p.kind.name == "COUNT_OUT" and not p.has("undefined") and proc.has("large"):
            rows.setdefault("MPI_ERR_VALUE_TOO_LARGE", []).append((p.name, "would be more than an int holds"))
    if any(p.kind.name == "RANK_ANY" for p in proc.params) and any(p.kind.name == "BUFFER" for p in proc.params):
        rows.setdefault("MPI_ERR_TRUNCATE", []).append(("buf", "is too small for the message"))
    text = [".TP\n.B %s\n%s" % (errclass, join_same(whats)) for errclass, whats in rows.items()]
    if not proc.has("always"):
        text.append(".TP\n.B MPI_ERR_OTHER\nMPI is not initialised, or already finalised%s." % ("" if proc.has("world") else ", and there is no session"))
    return "\n".join(text) or "None of its arguments can be wrong."


# The codes of MPI_T's procedures, by what their names have, and of their arguments by kind.
TOOL_ERRORS = (
    ("T_", "MPI_T_ERR_NOT_INITIALIZED", "MPI_T_init_thread has not been called, or MPI_T_finalize as often as it."),
    ("_get_index", "MPI_T_ERR_INVALID_NAME", "There is nothing of that name."),
    ("pvar_(handle|start|stop|read|write|reset|session_free)", "MPI_T_ERR_INVALID_SESSION", "The session is not alive."),
    ("(cvar_(handle_free|read|write)|pvar_(handle_free|start|stop|read|write|reset)|enum_|event_(copy|read|handle_[fgs]|register"
     "|callback|set|get_source|get_timestamp))", "MPI_T_ERR_INVALID_HANDLE", "The handle is not alive, or not of that session."),
    ("_((?<!handle_)(?<!callback_)(?<!enum_)get_info|handle_alloc|get_item|get_num_events|get_cvars|get_pvars|get_events|get_categories|source_get_timestamp|event_read)$",
     "MPI_T_ERR_INVALID_INDEX", "The index is out of range."),
    ("_(handle_alloc|session_create)$", "MPI_T_ERR_MEMORY", "There is no memory for it."),
    ("cvar_write", "MPI_T_ERR_CVAR_SET_NOT_NOW", "The variable can be set only while MPI is not initialized."),
    ("cvar_write", "MPI_T_ERR_CVAR_SET_NEVER", "The variable cannot be set any more."),
    ("pvar_(start|stop)$", "MPI_T_ERR_PVAR_NO_STARTSTOP", "The variable is continuous."),
    ("pvar_(write|reset)$", "MPI_T_ERR_PVAR_NO_WRITE", "The variable is read-only."),
    ("pvar_readreset", "MPI_T_ERR_PVAR_NO_ATOMIC", "The variable is read-only."),
    ("T_[a-z]", "MPI_T_ERR_INVALID", "Another argument is not what it must be, or NULL where a result is asked for."),
)


def tool_errors(proc):
    return "\n".join(".TP\n.B %s\n%s" % (code, says) for pattern, code, says in TOOL_ERRORS
                     if re.search(pattern, proc.short) and not (proc.short == "T_init_thread" and "NOT_INIT" in code))


def join_same(whats):
    """'a or b is no live group.' for arguments with the same fault"""
    by_fault = {}
    for name, what in whats:
        by_fault.setdefault(what, []).append(name)
    return " ".join("%s %s." % (" or ".join("\\fI%s\\fR" % n for n in names), what) for what, names in by_fault.items())


def page(proc, exported, version):
    names = [proc.name] + [proc.name + "_c"] * proc.has("large")
    see = [p.name for p in exported if p.section == proc.section and p is not proc][:12] or ["mpiexec"]
    standard = "MPI 5.0" + (", \\(lq%s\\(rq" % proc.section if proc.section else "")
    if proc.has("outside"):
        standard = "Not in MPI's Standard ABI." + ("" if not proc.section or not proc.has("since") else " MPI 5.0, \\(lq%s\\(rq" % proc.section)
    standard += "; since MPI %s." % proc.flags["since"] if proc.has("since") else " It is Keel's own."
    tool = "MPI_SUCCESS, or one of these codes; no error handler is called."
    result = tool if proc.short.startswith("T_") else "The result." if proc.returns != "int" or proc.short.endswith("_toint") else \
        "MPI_SUCCESS, or an error class after the error handler has returned; MPI_Error_string tells what was wrong."
    return fill(PAGE, NAME=proc.name, NAMES=", ".join(names), SUMMARY=proc.summary, SYNOPSIS=synopsis(proc),
                ARGUMENTS=arguments(proc), DESCRIPTION=description(proc), RETURN=result, ERRORS=errors(proc),
                STANDARD=standard,
                SEE=",\n".join(".BR %s (%s)" % (s, "1" if s == "mpiexec" else "3") for s in see), VERSION=version)


def overview(api, exported, version):
    """What there is, by chapters."""
    text = ""
    for chapter, title in api.chapters.items():
        names = [p.name + ("[_c]" if p.has("large") else "") for p in exported if p.chapter == chapter]
        if names:
            text += ".SS %s\n.nh\n%s\n.hy\n" % (title[0].upper() + title[1:], ",\n".join(names))
    return fill(OVERVIEW, VERSION=version, CHAPTERS=text.rstrip("\n"))


def pages(api, exported, version):
    """{file name: text}"""
    made = {"MPI.3": overview(api, exported, version)} if exported else {}
    for proc in exported:
        made[proc.name + ".3"] = page(proc, exported, version)
        if proc.has("large"):
            made[proc.name + "_c.3"] = ".so man3/%s.3\n" % proc.name
    return made
