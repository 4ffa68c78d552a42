# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h and the modules mpi and mpi_f08: constants, types, and an interface for each procedure."""

import re
from gen_fortran import FUNCTIONS, Body, arguments, nonblocking, old, own_name, procedures, variants
from headers import EXTENSIONS, fill
from kinds import HANDLES

MPIF_H = """\
! mpif.h: MPI @VERSION@ for Fortran, in fixed and in free form.  Generated from src/mpi/binding; do not edit.
@CONSTANTS@
@SENTINELS@
@EXTERNALS@
"""

# Sentinels: name, type in mpif.h and mpi, type in mpi_f08, its COMMON block.
SENTINELS = [
    ("MPI_BOTTOM", "INTEGER", "", None, "bottom"), ("MPI_IN_PLACE", "INTEGER", "", None, "in_place"),
    ("MPI_BUFFER_AUTOMATIC", "INTEGER", "", None, "buffer_automatic"),
    ("MPI_STATUS_IGNORE", "INTEGER", "(MPI_STATUS_SIZE)", ("TYPE(MPI_Status)", ""), "status_ignore"),
    ("MPI_STATUSES_IGNORE", "INTEGER", "(MPI_STATUS_SIZE,1)", ("TYPE(MPI_Status)", "(1)"), "statuses_ignore"),
    ("MPI_ERRCODES_IGNORE", "INTEGER", "(1)", None, "errcodes_ignore"), ("MPI_UNWEIGHTED", "INTEGER", "(1)", None, "unweighted"),
    ("MPI_WEIGHTS_EMPTY", "INTEGER", "(1)", None, "weights_empty"), ("MPI_ARGV_NULL", "CHARACTER", "(1)", None, "argv_null"),
    ("MPI_ARGVS_NULL", "CHARACTER", "(1,1)", None, "argvs_null"),
]
# Constants of Fortran alone; LOGICAL ones differ by form.
OWN = [("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3), ("MPI_ADDRESS_KIND", 8), ("MPI_COUNT_KIND", 8),
       ("MPI_OFFSET_KIND", 8), ("MPI_INTEGER_KIND", "KIND(0)")] + EXTENSIONS
CALLBACKS = ["MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN", "MPI_COMM_NULL_DELETE_FN", "MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN",
             "MPI_TYPE_NULL_DELETE_FN", "MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN", "MPI_WIN_NULL_DELETE_FN"]
CONVERSIONS = [("MPI_CONVERSION_FN_NULL", "INTEGER"), ("MPI_CONVERSION_FN_NULL_C", "INTEGER(KIND=MPI_COUNT_KIND)")]
OLD_CALLBACKS = ["MPI_NULL_COPY_FN", "MPI_DUP_FN", "MPI_NULL_DELETE_FN"]
C_CONSTANT = re.compile(r"MPI(_T_|_F_|X_)|MPI_(ARGVS?_NULL|CONVERSION_FN_NULL)")

ADDRESS = "INTEGER(KIND=MPI_ADDRESS_KIND)"


def attr_callbacks(short, handle):
    low = {"Comm": "comm", "Type": "datatype", "Win": "win"}[short]
    return """\
SUBROUTINE MPI_{0}_copy_attr_function(old{1}, {2}_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
IMPORT
TYPE({3}) :: old{1}
INTEGER :: {2}_keyval, ierror
{4} :: extra_state, attribute_val_in, attribute_val_out
LOGICAL :: flag
END SUBROUTINE
SUBROUTINE MPI_{0}_delete_attr_function({1}, {2}_keyval, attribute_val, extra_state, ierror)
IMPORT
TYPE({3}) :: {1}
INTEGER :: {2}_keyval, ierror
{4} :: attribute_val, extra_state
END SUBROUTINE
""".format(short, low, {"Comm": "comm", "Type": "type", "Win": "win"}[short], handle, ADDRESS)


def abstract():
    text = ["ABSTRACT INTERFACE"]
    for name, kind in (("MPI_User_function", "INTEGER"), ("MPI_User_function_c", "INTEGER(KIND=MPI_COUNT_KIND)")):
        text.append("SUBROUTINE %s(invec, inoutvec, len, datatype)\nIMPORT\nTYPE(C_PTR), VALUE :: invec, inoutvec\n%s :: len\n"
                    "TYPE(MPI_Datatype) :: datatype\nEND SUBROUTINE" % (name, kind))
    for short, handle in (("Comm", "MPI_Comm"), ("Type", "MPI_Datatype"), ("Win", "MPI_Win")):
        text.append(attr_callbacks(short, handle))
    for short in ("Comm", "Win", "File", "Session"):
        text.append("SUBROUTINE MPI_{0}_errhandler_function({1}, error_code)\nIMPORT\nTYPE(MPI_{0}) :: {1}\nINTEGER :: error_code\n"
                    "END SUBROUTINE".format(short, short.lower()))
    text.append("""\
SUBROUTINE MPI_Grequest_query_function(extra_state, status, ierror)
IMPORT
{0} :: extra_state
TYPE(MPI_Status) :: status
INTEGER :: ierror
END SUBROUTINE
SUBROUTINE MPI_Grequest_free_function(extra_state, ierror)
IMPORT
{0} :: extra_state
INTEGER :: ierror
END SUBROUTINE
SUBROUTINE MPI_Grequest_cancel_function(extra_state, complete, ierror)
IMPORT
{0} :: extra_state
LOGICAL :: complete
INTEGER :: ierror
END SUBROUTINE
SUBROUTINE MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
IMPORT
TYPE(MPI_Datatype) :: datatype
{0} :: extent, extra_state
INTEGER :: ierror
END SUBROUTINE""".format(ADDRESS))
    for name, kind in (("MPI_Datarep_conversion_function", "INTEGER"), ("MPI_Datarep_conversion_function_c", "INTEGER(KIND=MPI_COUNT_KIND)")):
        text.append("SUBROUTINE %s(userbuf, datatype, count, filebuf, position, extra_state, ierror)\nIMPORT\n"
                    "TYPE(C_PTR), VALUE :: userbuf, filebuf\nTYPE(MPI_Datatype) :: datatype\n%s :: count\n"
                    "INTEGER(KIND=MPI_OFFSET_KIND) :: position\n%s :: extra_state\nINTEGER :: ierror\nEND SUBROUTINE" % (name, kind, ADDRESS))
    return "\n".join(text) + "\nEND INTERFACE"


def constants(abi):
    """(name, value, handle type or None, wide)"""
    for cls, ctype, _, rows in abi.groups + abi.outside:
        for name, value in rows:
            if C_CONSTANT.match(name) or cls in ("buffer-address", "ignored-input") or cls.startswith("mpi_t") or cls == "predefined-callback":
                continue
            if cls == "string-length-limit":
                value -= 1  # without the terminating null character
            handle = ctype if cls.startswith("handle:") else None
            yield name, value, handle, ctype == "MPI_Offset"


def wrapped(line):
    """A line of free form, continued where it is too long."""
    out = []
    while len(line) > 120:
        at = max(line.rfind(", ", 0, 116), line.rfind(",", 0, 116)) + 1
        out.append(line[:at] + " &")
        line = "  " + line[at:].lstrip()
    return "\n".join(out + [line])


def both_forms(line):
    """For mpif.h: columns 7 to 72 of fixed form."""
    assert len(line) <= 66, line
    return "      " + line


def mpif_constants(abi, subarrays):
    rows = []
    for name, value in OWN:
        rows += ["INTEGER %s" % name, "PARAMETER (%s=%s)" % (name, value)]
    for name, value, _, wide in constants(abi):
        rows += ["INTEGER%s %s" % ("(KIND=8)" * wide, name), "PARAMETER (%s=%d)" % (name, value)]
    for name, value in (("MPI_SUBARRAYS_SUPPORTED", subarrays), ("MPI_ASYNC_PROTECTS_NONBLOCKING", False)):
        rows += ["LOGICAL %s" % name, "PARAMETER (%s=%s)" % (name, ".TRUE." if value else ".FALSE.")]
    return rows


def sentinels(f08):
    rows = []
    for name, ctype, dim, other, block in SENTINELS:
        if f08 and other:
            ctype, dim = other
        rows += ["%s %s%s" % (ctype, name, dim), "COMMON /MPI_FORTRAN_%s/ %s" % (block.upper(), name)]
    return rows


def mpif_h(api, abi, bodies):
    names = [n for n in FUNCTIONS if n in {p.name for p in procedures(api, bodies)}]
    externals = []
    for name in names:
        kind = FUNCTIONS[name].replace("MPI_ADDRESS_KIND", "8")
        for prefix in ("", "P"):
            externals += ["%s %s" % (kind, prefix + name.upper()), "EXTERNAL %s" % (prefix + name.upper())]
    externals += ["EXTERNAL " + n for n in CALLBACKS + OLD_CALLBACKS + [c[0] for c in CONVERSIONS]]
    fixed = lambda rows: "\n".join(both_forms(r) for r in rows)
    return fill(MPIF_H, VERSION="5.0", CONSTANTS=fixed(mpif_constants(abi, False)), SENTINELS=fixed(sentinels(False)),
                EXTERNALS=fixed(externals))


# ---- Modules -------------------------------------------------------------------------------------------------------

def sorted_args(args):
    """What array bounds name is declared before them."""
    return sorted(args, key=lambda a: bool(a.dim) and a.dim != "(*)")


def interface(proc, large, prefix, f08, name=None, specific=None, bind=None, cptr=False):
    """The lines of one procedure's interface body."""
    args = arguments(proc, large)
    dummies = [a.name for a in args]
    ierror = proc.name not in FUNCTIONS and proc.short != "Pcontrol"
    head = "SUBROUTINE"
    if proc.name in FUNCTIONS:
        head = FUNCTIONS[proc.name] + " FUNCTION"
    lines = [wrapped("%s %s(%s)%s" % (head, specific, ", ".join(dummies + ["ierror"] * ierror),
                                      ' BIND(C,NAME="%s")' % bind if bind else "")), "IMPORT"]
    for a in sorted_args(args):
        text = a.f08(nonblocking(proc)) if f08 else a.mpi()
        if cptr and a.p.name == "baseptr":
            text = "TYPE(C_PTR), INTENT(OUT) :: baseptr"
        lines += text.split("\n")
    if ierror:
        lines.append("INTEGER, %sINTENT(OUT) :: ierror" % ("OPTIONAL, " if f08 else ""))
    lines.append("END %s" % head.split()[-1])
    return "\n".join(lines)


def signature(proc, large):
    """What generic resolution tells apart: kinds and ranks."""
    sizes = {"MPI_ADDRESS_KIND": "8", "MPI_COUNT_KIND": "8", "MPI_OFFSET_KIND": "8"}
    words = [re.sub(r"MPI_\w+_KIND", lambda m: sizes[m.group(0)], a.type08 or "*") + a.dim for a in arguments(proc, large)]
    return [re.sub(r"\(.*\)$", "()", w) if w.startswith("INTEGER(") and w.count("(") > 1 else w for w in words]


def f08_interfaces(api, bodies, prefix):
    out = []
    for proc in procedures(api, bodies):
        if proc.flags.get("removed"):
            continue
        if old(proc): # as in the module mpi
            out.append("INTERFACE\n%s\nEND INTERFACE" % interface(proc, False, prefix, False, specific=prefix + proc.name))
            continue
        specifics = []
        for large in variants(proc):
            if large and signature(proc, True) == signature(proc, False):
                continue
            body = Body(proc, large, prefix)
            choice = any(a.choice for a in body.args)
            name = prefix + proc.name + ("_c" if large else "") + ("_f08ts" if choice else "_f08")
            block = interface(proc, large, prefix, True, specific=name, bind=name.lower() + "_" if choice else None)
            if large and own_name(proc):
                out.append("INTERFACE %s_c\n%s\nEND INTERFACE" % (prefix + proc.name, block))
            else:
                # INTEGERs of 8 bytes leave nothing to tell the two apart by (build-modules)
                specifics.append("!BEGIN LARGE\n%s\n!END LARGE" % block if large else block)
        out.append("INTERFACE %s\n%s\nEND INTERFACE" % (prefix + proc.name, "\n".join(specifics)))
    return "\n".join(out)


def mpi_interfaces(api, bodies, prefix):
    out = []
    for proc in procedures(api, bodies):
        name = prefix + proc.name
        text = interface(proc, False, prefix, False, specific=name)
        if any(p.name == "baseptr" for p in proc.params):
            other = interface(proc, False, prefix, False, specific=name + "_cptr", cptr=True)
            out.append("INTERFACE %s\n%s\n%s\nEND INTERFACE" % (name, text, other))
        else:
            out.append("INTERFACE\n%s\nEND INTERFACE" % text)
    return "\n".join(out)


def types_module():
    """The operators are ELEMENTAL, so that an array of handles can be compared."""
    lines = ["MODULE mpi_f08_types", "USE, INTRINSIC :: iso_c_binding, ONLY: c_ptr", "IMPLICIT NONE", "PRIVATE :: c_ptr"]
    for h in HANDLES.values():
        lines += ["TYPE, BIND(C) :: %s" % h.ctype, "INTEGER :: MPI_VAL", "END TYPE"]
    lines += ["TYPE, BIND(C) :: MPI_Status", "INTEGER :: MPI_SOURCE, MPI_TAG, MPI_ERROR", "INTEGER, PRIVATE :: MPI_INTERNAL(5)", "END TYPE"]
    bodies = []
    for op, word in (("==", "equal"), ("/=", "unequal")):
        lines.append("INTERFACE OPERATOR(%s)" % op)
        for h in HANDLES.values():
            name = "keel_%s_%s" % (h.short.lower(), word)
            lines.append("MODULE PROCEDURE %s" % name)
            bodies += ["ELEMENTAL LOGICAL FUNCTION %s(a, b)" % name, "TYPE(%s), INTENT(IN) :: a, b" % h.ctype,
                       "%s = a%%MPI_VAL %s b%%MPI_VAL" % (name, op), "END FUNCTION"]
        lines.append("END INTERFACE")
    return "\n".join(lines + ["CONTAINS"] + bodies + ["END MODULE"])


SIZEOF_KINDS = [("INTEGER", k) for k in (1, 2, 4, 8, 16)] + [("REAL", k) for k in (4, 8, 10, 16)] + \
               [("COMPLEX", k) for k in (4, 8, 10, 16)] + [("LOGICAL", k) for k in (1, 2, 4, 8)] + [("CHARACTER", None)]


def if_kind(kind, size, lines):
    """What build-modules leaves out where the compiler does not know the kind."""
    return ["!BEGIN KIND %s(%d)" % (kind, size)] + lines + ["!END KIND"] if size else lines


def sizeof():
    """The generic interfaces: procedures of the module, as no kind of LOGICAL but one could be an argument of C's."""
    names = []
    for kind, size in SIZEOF_KINDS:
        names += if_kind(kind, size, ["MODULE PROCEDURE MPI_Sizeof_%s%s" % (kind, size or "")])
    return "\n".join("INTERFACE %sMPI_Sizeof\n%s\nEND INTERFACE" % (prefix, "\n".join(names)) for prefix in ("", "P"))


def sizeof_bodies(f08):
    rows = []
    for kind, size in SIZEOF_KINDS:
        rows += if_kind(kind, size, [
            "SUBROUTINE MPI_Sizeof_%s%s(x, size, ierror)" % (kind, size or ""),
            "%s(%s), DIMENSION(..), INTENT(IN) :: x" % (kind, "KIND=%d" % size if size else "LEN=*"), "INTEGER, INTENT(OUT) :: size",
            "INTEGER, %sINTENT(OUT) :: ierror" % ("OPTIONAL, " if f08 else ""), "size = STORAGE_SIZE(x) / 8",
            "IF (PRESENT(ierror)) ierror = MPI_SUCCESS" if f08 else "ierror = MPI_SUCCESS", "END SUBROUTINE"])
    return "\n".join(rows)


def sync_reg(f08):
    rows = []
    for prefix in ("", "P"):
        if f08:
            rows += ["INTERFACE %sMPI_F_sync_reg" % prefix,
                     'SUBROUTINE {0}MPI_F_sync_reg_f08ts(buf) BIND(C,NAME="{1}mpi_f_sync_reg_f08ts_")'.format(prefix, prefix.lower()),
                     "TYPE(*), DIMENSION(..), ASYNCHRONOUS :: buf", "END SUBROUTINE", "END INTERFACE"]
        else:
            rows += ["INTERFACE", "SUBROUTINE %sMPI_F_sync_reg(buf)" % prefix, "!GCC$ ATTRIBUTES NO_ARG_CHECK :: buf",
                     "!DIR$ IGNORE_TKR buf", "TYPE(*), DIMENSION(*) :: buf", "END SUBROUTINE", "END INTERFACE"]
    return "\n".join(rows)


def predefined_callbacks(f08):
    rows = ["INTERFACE"]
    for name in CALLBACKS + OLD_CALLBACKS:
        early = name in OLD_CALLBACKS
        number = "INTEGER" if early else ADDRESS
        handle = "INTEGER"
        if f08 and not early:
            handle = "TYPE(%s)" % {"COMM": "MPI_Comm", "TYPE": "MPI_Datatype", "WIN": "MPI_Win"}[name.split("_")[1]]
        if "DELETE" in name:
            rows += ["SUBROUTINE %s(object, keyval, attribute_val, extra_state, ierror)" % name, "IMPORT", "%s :: object" % handle,
                     "INTEGER :: keyval, ierror", "%s :: attribute_val, extra_state" % number, "END SUBROUTINE"]
        else:
            rows += [wrapped("SUBROUTINE %s(oldobject, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)" % name),
                     "IMPORT", "%s :: oldobject" % handle, "INTEGER :: keyval, ierror",
                     "%s :: extra_state, attribute_val_in, attribute_val_out" % number, "LOGICAL :: flag", "END SUBROUTINE"]
    for name, kind in CONVERSIONS if f08 else ():
        rows += ["SUBROUTINE %s(userbuf, datatype, count, filebuf, position, extra_state, ierror)" % name, "IMPORT",
                 "TYPE(C_PTR), VALUE :: userbuf, filebuf", "TYPE(MPI_Datatype) :: datatype", "%s :: count" % kind,
                 "INTEGER(KIND=MPI_OFFSET_KIND) :: position", "%s :: extra_state" % ADDRESS, "INTEGER :: ierror", "END SUBROUTINE"]
    rows.append("END INTERFACE")
    rows += ["EXTERNAL :: " + name for name, _ in CONVERSIONS if not f08]
    return "\n".join(rows)


def mpi_module(api, abi, bodies):
    lines = ["MODULE mpi", "USE mpi_f08_types", "USE, INTRINSIC :: iso_c_binding, ONLY: c_ptr", "IMPLICIT NONE", "PRIVATE :: c_ptr"]
    lines += mpif_constants(abi, False) + sentinels(False)
    lines += [predefined_callbacks(False), sizeof(), sync_reg(False)] + [mpi_interfaces(api, bodies, x) for x in ("", "P")]
    return "\n".join(lines + ["CONTAINS", sizeof_bodies(False), "END MODULE"])


def f08_module(api, abi, bodies):
    lines = ["MODULE mpi_f08", "USE mpi_f08_types", "USE, INTRINSIC :: iso_c_binding, ONLY: c_ptr", "IMPLICIT NONE", "PRIVATE :: c_ptr"]
    lines += ["INTEGER, PARAMETER :: %s = %s" % row for row in OWN if row[0] not in ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR")]
    lines += ["INTEGER, PARAMETER :: %s = %s" % row for row in OWN if row[0] in ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR")]
    for name, value, handle, wide in constants(abi):
        if handle:
            lines.append("TYPE({0}), PARAMETER :: {1} = {0}({2})".format(handle, name, value))
        else:
            lines.append("INTEGER%s, PARAMETER :: %s = %d" % ("(KIND=MPI_OFFSET_KIND)" * wide, name, value))
    lines += ["LOGICAL, PARAMETER :: MPI_SUBARRAYS_SUPPORTED = .TRUE., MPI_ASYNC_PROTECTS_NONBLOCKING = .TRUE."]
    lines += sentinels(True) + [abstract(), predefined_callbacks(True), sizeof(), sync_reg(True)]
    lines += [f08_interfaces(api, bodies, x) for x in ("", "P")]
    return "\n".join(lines + ["CONTAINS", sizeof_bodies(True), "END MODULE"])


def modules(api, abi, bodies):
    head = "! %s  Generated from src/mpi/binding; do not edit.\n"
    wrap = lambda text: "\n".join(wrapped(line) for line in text.split("\n")) + "\n"
    return {"mpi_f08_types.f90": head % "Types that the modules mpi and mpi_f08 have in common." + wrap(types_module()),
            "mpi.f90": head % "USE mpi." + wrap(mpi_module(api, abi, bodies)),
            "mpi_f08.f90": head % "USE mpi_f08." + wrap(f08_module(api, abi, bodies))}
