# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran bindings: the entry points in C (fort_mpi.c, fort_pmpi.c), mpif.h, and the modules mpi and mpi_f08.

One procedure in C serves all three forms where there is no choice buffer: a handle of mpi_f08 is a derived type of one INTEGER, its
status one of eight, and an absent ierror a null pointer.  mpi_f08's choice buffers are descriptors; the procedure for them
(MPI_X_f08ts) makes addresses of them and goes on as the other does."""

import re
from gen_front import exported
from headers import fill
from kinds import HANDLES

C_FILE = """\
/* Generated from src/mpi/binding; do not edit.  The Fortran entry points of @WHICH@. */
#include "fort.h"

@FUNCTIONS@
"""

# How a C type of the small or large binding looks in Fortran.
INTEGERS = {"int": "INTEGER", "MPI_Fint": "INTEGER", "MPI_Aint": "INTEGER(KIND=MPI_ADDRESS_KIND)", "MPI_Count": "INTEGER(KIND=MPI_COUNT_KIND)",
            "MPI_Offset": "INTEGER(KIND=MPI_OFFSET_KIND)"}
RENAMED = {("Precv_init", "dest"): "source", ("Status_get_error", "error"): "err", ("Status_set_error", "error"): "err"}
HANDLE_NAMES = {h.short: h for h in HANDLES.values()}
# Buffers of one block, for which a datatype can stand: all those of these procedures, in each form, or one side's; others have several.
ONE_BLOCK = set("send bsend ssend rsend recv mrecv sendrecv sendrecv_replace bcast pack pack_external unpack unpack_external".split())
ONE_BLOCK_SIDE = {"gather": "sendbuf", "gatherv": "sendbuf", "allgather": "sendbuf", "allgatherv": "sendbuf", "scatter": "recvbuf",
                  "scatterv": "recvbuf"}
STRING_ROOM = {"version": "MPI_MAX_LIBRARY_VERSION_STRING", "name": "MPI_MAX_PROCESSOR_NAME", "string": "MPI_MAX_ERROR_STRING",
               "key": "MPI_MAX_INFO_KEY", "port_name": "MPI_MAX_PORT_NAME", "datarep": "MPI_MAX_DATAREP_STRING"}
# C's double, also where an option of the compiler makes DOUBLE PRECISION something else.
FUNCTIONS = {"MPI_Wtime": "REAL(KIND=8)", "MPI_Wtick": "REAL(KIND=8)", "MPI_Aint_add": "INTEGER(KIND=MPI_ADDRESS_KIND)",
             "MPI_Aint_diff": "INTEGER(KIND=MPI_ADDRESS_KIND)"}
C_ONLY = re.compile(r"MPI_(T_.*|\w+_(c2f|f2c|toint|fromint)|Status_(c2f|f2c|c2f08|f082c)|Keel_.*)$")


def family(proc):
    return "MPIX_" if proc.has("extension") else "MPI_"


def old(proc):
    """Of the first binding: integers where later ones have addresses."""
    return proc.flags.get("removed") or proc.flags.get("deprecated") == "2.0"


def procedures(api, bodies):
    return [p for p in exported(api, bodies) if not C_ONLY.match(p.name)]


def fname(proc, p):
    return RENAMED.get((proc.short, p.name), "index" if p.name == "indx" else p.name)


class Arg:
    """One dummy argument: its name, its declarations, and its type in C."""

    def __init__(self, proc, p, large, wide=False):
        self.proc, self.p, self.large, self.name, self.wide = proc, p, large, fname(proc, p), wide
        self.kind, self.handle = p.kind.name, p.kind.handle
        self.choice = self.kind in ("BUFFER", "CBUFFER") or self.kind == "CPOINTER" or (
            self.kind == "POINTER" and p.name in ("base", "buffer", "location"))
        self.strings = self.kind == "C" and p.decl(large).startswith("char *")  # an array of them, or two-dimensional
        self.string = self.strings or self.kind in ("STRING", "STRING_OUT", "STRING_ARRAY")
        self.function = self.kind == "FUNCTION"
        self.plain_status = self.kind == "C" and "MPI_Fint" in p.decl(large) # an array of INTEGERs in mpi_f08, too
        self.declare()

    @property
    def array(self):
        return "[" in self.decl or self.kind in ("WEIGHTS", "WEIGHTS_OUT", "STATUSES_OUT")

    def declare(self):
        p, kind = self.p, self.kind
        self.asynchronous = nonblocking(self.proc) and self.proc.chapter in ("coll", "topo", "comm")
        self.decl = p.decl(self.large)
        base = re.match(r"(?:const )?(\w+)", self.decl).group(1)
        self.dim = "(%s)" % (p.arg("dim") or (p.arg("len") if p.arg("len") in [q.name for q in self.proc.params] else None) or "*") \
            if self.array and kind != "STRING_ARRAY" else ""
        if kind == "STATUSES_OUT" or p.name in ("array_of_indices", "array_of_info"):
            self.dim = "(*)"
        out = "OUT" if "_OUT" in kind else "INOUT" if "_INOUT" in kind else "IN"
        self.intent = "IN" if self.proc.short == "Cancel" else out
        self.asynchronous &= self.array or kind in ("COMM_OUT", "INT_INOUT")
        self.ctype = "int *"
        if self.choice:
            self.type08 = self.typempi = None
            self.ctype, self.intent = "void *", "IN" if kind == "CBUFFER" or p.name == "origin_addr" and kind == "CPOINTER" or self.proc.short == "Free_mem" else ""
        elif self.function:
            self.type08, self.typempi, self.ctype, self.intent = "PROCEDURE(%s)" % base, "EXTERNAL", "void (*", ""
        elif self.string:
            self.type08 = self.typempi = "CHARACTER(LEN=%s)" % "*"
            self.ctype = "char *"
        elif p.has("logical"):
            self.type08 = self.typempi = "LOGICAL"
            if kind == "POINTER" and self.proc.short.startswith("Abi_get"):
                self.intent = "OUT"
        elif kind in ("STATUS", "STATUS_OUT", "STATUS_INOUT", "STATUSES_OUT") or base == "MPI_F08_status" or \
                (base == "MPI_Fint" and kind == "C"):
            self.type08, self.typempi = ("INTEGER" if self.plain_status else "TYPE(MPI_Status)"), "INTEGER"
            if kind == "C":
                self.intent = ""
                self.typempi = self.type08
            elif kind in ("STATUS_OUT", "STATUSES_OUT"):
                self.intent = ""  # MPI_STATUS_IGNORE may be there
        elif self.handle:
            self.type08, self.typempi = "TYPE(%s)" % self.handle.ctype, "INTEGER"
        elif kind in ("POINTER_OUT", "POINTER"):
            number = old(self.proc) and not self.wide
            attr = p.name in ("attribute_val", "extra_state")
            self.ctype = "int *" if number else "MPI_Aint *"
            self.typempi = "INTEGER" if old(self.proc) else INTEGERS["MPI_Aint"]
            self.type08 = self.typempi if attr else "TYPE(C_PTR)"
            if p.name == "buffer_addr":
                self.typempi, self.ctype = None, "void *"
        else:
            ctype = "int" if old(self.proc) and base == "MPI_Aint" else base
            self.type08 = self.typempi = INTEGERS[ctype]
            self.ctype = ("int" if ctype == "MPI_Fint" else base if self.wide else ctype) + " *"
            if p.name == "array_of_errcodes": # MPI_ERRCODES_IGNORE may be there
                self.intent = ""
            if kind.startswith("WEIGHTS"):
                self.intent = "IN" if kind == "WEIGHTS" else ""
                self.intent = "" if kind == "WEIGHTS_OUT" else "IN"

    # -- in C ------------------------------------------------------------------------------------------------------

    def c_param(self, descriptor=False):
        """descriptor: of mpi_f08; "choice": its strings are as elsewhere."""
        if self.function:
            return "void (*%s)(void)" % self.name
        if descriptor and (self.choice or self.string and descriptor != "choice"):
            return "struct kf_array *" + self.name
        return self.ctype + self.name

    # -- in Fortran ------------------------------------------------------------------------------------------------

    def f08(self, nonblocking):
        if self.choice:
            stays = (nonblocking or attached(self.proc) or self.proc.short.endswith("_end")) and self.proc.chapter != "part"
            words = ["TYPE(*), DIMENSION(..)"] + ["INTENT(IN)"] * (self.intent == "IN") + ["ASYNCHRONOUS"] * stays
            return "%s :: %s" % (", ".join(words), self.name)
        if self.function:
            return "%s :: %s" % (self.type08, self.name)
        dim = self.dim
        if self.kind == "C" and self.type08 == "INTEGER" and self.plain_status:
            dim = "(MPI_STATUS_SIZE)"
        words = [self.type08] + ["INTENT(%s)" % self.intent] * bool(self.intent) + ["ASYNCHRONOUS"] * self.asynchronous
        return "%s :: %s%s" % (", ".join(words), self.name, dim)

    def mpi(self):
        if self.choice or self.typempi is None:
            return "!GCC$ ATTRIBUTES NO_ARG_CHECK :: {0}\n!DIR$ IGNORE_TKR {0}\nTYPE(*), DIMENSION(*) :: {0}".format(self.name)
        if self.function:
            return "EXTERNAL :: " + self.name
        dim = self.dim
        if self.typempi == "INTEGER" and (self.kind in ("STATUS", "STATUS_OUT", "STATUS_INOUT") or self.kind == "C" and "MPI_F" in self.decl):
            dim = "(MPI_STATUS_SIZE)"
        if self.kind == "STATUSES_OUT":
            dim = "(MPI_STATUS_SIZE,*)"
        intent = ", INTENT(%s)" % self.intent if self.intent and self.kind != "C" else ""
        return "%s%s :: %s%s" % (self.typempi, intent, self.name, dim)


def large_in_c(proc, large):
    """MPI_Psend_init's count is of MPI_COUNT_KIND in Fortran, an int in the ABI's C: there it is MPI_Psend_init_c."""
    return large or proc.chapter == "part" and proc.has("large")


def variants(proc):
    return (False, True) if proc.has("large") and not large_in_c(proc, False) else (False,)


def arguments(proc, large, wide=False):
    large = large_in_c(proc, large)
    skip = {"Init": ("argc", "argv"), "Init_thread": ("argc", "argv"), "Info_create_env": ("argc", "argv"), "Pcontrol": ("...",)}
    return [Arg(proc, p, large, wide) for p in proc.visible(large) if p.name not in skip.get(proc.short, ())]


def nonblocking(proc):
    return any(p.kind.name == "REQUEST_OUT" for p in proc.params) or proc.chapter == "rma" or proc.short.endswith("_begin")


def attached(proc):
    """The buffer stays in use after the call, which no copy would do."""
    return any(p.kind.name in ("POINTER", "CPOINTER") for p in proc.params)


def count_and_type(proc, a, byname):
    """The arguments that say what is in a buffer of one block; None: it has several, or nothing says it."""
    name = proc.short.lower().removesuffix("_init")
    name = name[1:] if name[0] == "i" and nonblocking(proc) else name
    of = ["origin_count", "origin_datatype"] if a.name == "origin_addr" and "_accumulate" in name else (a.p.arg("of") or "").split(",")
    one = name in ONE_BLOCK or ONE_BLOCK_SIDE.get(name) == a.name or proc.chapter in ("rma", "io")
    if not one or a.p.has("each") or len(of) != 2 or of[0] not in byname or byname[of[0]].kind != "COUNT":
        return None
    return byname[of[0]], byname[of[1]]


# ---- The entry points in C -----------------------------------------------------------------------------------------

class Body:
    """The body of one procedure: what is done before and after the call in C.  wide: what MPI-1 has as INTEGERs for addresses are
    addresses in C, too (INTEGERs of 8 bytes)."""

    def __init__(self, proc, large, prefix, wide=False):
        self.proc, self.large, self.prefix = proc, large, prefix
        self.args = arguments(proc, large, wide)
        self.before, self.after, self.pass_, self.clean, self.lengths = [], [], [], [], []
        self.language = None
        byname = {a.p.name: a for a in self.args}
        self.index_done = False
        for p in proc.visible(large_in_c(proc, large)):
            arg = byname.get(p.name)
            if arg:
                self.add(arg)
            elif p.name != "...":
                self.pass_.append("0" if p.name == "argc" else "NULL")

    def comm(self):
        return next(("kf_Comm(*%s)" % a.name for a in self.args if a.kind == "COMM"), "MPI_COMM_SELF")

    def add(self, a):
        n, kind, p = a.name, a.kind, a.p
        if a.choice:
            self.pass_.append("kf_buffer(%s)" % n)
        elif a.function:
            self.language = "KF_INT" if old(self.proc) and self.proc.chapter == "attr" else "KF_FORTRAN"
            small, large = p.kind.small, p.kind.large
            ctype = (large if self.large else small).replace("%", "").strip()
            self.pass_.append("(%s)kf_function(%s)" % (ctype, n))
        elif a.string:
            self.string(a)
        elif p.has("logical"):
            self.logical(a)
        elif kind in ("STATUS_OUT", "STATUSES_OUT"):
            self.pass_.append("kf_status%s(%s)" % ("es" * (kind == "STATUSES_OUT"), n))
        elif kind in ("STATUS", "STATUS_INOUT"):
            self.pass_.append("(MPI_Status *)%s" % n)
        elif a.handle:
            self.handles(a)
        elif kind == "C" and "MPI_F" in a.decl:
            self.pass_.append("(%s)%s" % (re.sub(r"%s$" % p.name, "", a.decl), n))
        elif kind in ("POINTER", "POINTER_OUT"):
            self.pointer(a)
        elif kind.startswith("WEIGHTS"):
            self.pass_.append("kf_weights(%s)" % n)
        elif n == "array_of_errcodes":
            self.pass_.append("kf_errcodes(%s)" % n)
        elif kind == "RANGES":
            self.pass_.append("(int (*)[3])%s" % n)
        elif n == "index" and kind == "INT_OUT":
            self.pass_.append(n)
            self.after.append("    if (!rc && *index != MPI_UNDEFINED)\n        ++*index;")
        elif p.name == "array_of_indices":
            self.pass_.append(n)
            self.after.append("    for (int i = 0; (!rc || rc == MPI_ERR_IN_STATUS) && i < *outcount; i++)\n        ++array_of_indices[i];")
        elif n in ("buflen", "pset_len") and kind == "INT_INOUT":
            self.before.append("    int c_len = *%s > 0 ? *%s + 1 : 0;" % (n, n))
            self.pass_.append("&c_len")
            self.after.append("    if (!rc && %s)\n        *%s = c_len > 0 ? c_len - 1 : 0;" % ("*flag" if n == "buflen" else "1", n))
        elif kind in ("AINT_OUT",) and a.ctype == "int *":
            self.before.append("    MPI_Aint %s_o = 0;" % n)
            self.pass_.append("&%s_o" % n)
            self.after.append("    if (!rc)\n        rc = kf_narrow(%s, %s_o);" % (n, n))
        elif a.array and a.ctype == "int *" and "MPI_Aint" in a.decl:
            self.widened(a)
        elif a.decl.endswith("]") or "*" in a.decl:
            self.pass_.append(n)
        else:
            self.pass_.append("*" + n)

    def widened(self, a):
        n = a.name
        self.before.append("    KF_ARRAY(MPI_Aint, %s_o, *count);\n    for (int i = 0; i < *count; i++)\n        %s_o[i] = %s[i];" % (n, n, n))
        self.pass_.append(n + "_o")
        self.clean.append("    KF_FREE(%s_o);" % n)

    def pointer(self, a):
        n, p = a.name, a.p
        if p.name in ("attribute_val", "extra_state"):
            self.language = self.language or ("KF_INT" if old(self.proc) else "KF_FORTRAN")
            if a.kind == "POINTER": # its value; of a generalized request the program's variable, so that a change by a callback is seen
                self.pass_.append(n if self.proc.short == "Grequest_start" else "(void *)(MPI_Aint)*%s" % n)
                return
            self.before.append("    MPI_Aint word = 0;")
            self.pass_.append("&word")
            self.after.append("    if (!rc && *flag)\n        *%s = (%s)word;" % (n, a.ctype[:-2]))
        elif p.name == "buffer_addr":
            self.before.append("    void *address = NULL;")
            self.pass_.append("&address")
            self.after.append("    kf_detached(%s, address);" % n)
        else:
            self.pass_.append(n)

    def handles(self, a):
        n, h, kind = a.name, a.handle, a.kind
        if kind.endswith("_OUT") and "S_" not in kind:
            self.before.append("    %s %s_o = 0;" % (h.ctype, n))
            self.pass_.append("&%s_o" % n)
            self.after.append("    if (%s_o)\n        *%s = kf_integer(%s_o);" % (n, n, n))
        elif kind.endswith("_INOUT") and "S_" not in kind:
            self.before.append("    %s %s_o = kf_%s(*%s);" % (h.ctype, n, h.short, n))
            self.pass_.append("&%s_o" % n)
            self.after.append("    *%s = kf_integer(%s_o);" % (n, n))
        elif a.array:
            self.array_of_handles(a)
        else:
            self.pass_.append("kf_%s(*%s)" % (h.short, n))

    def array_of_handles(self, a):
        n, h, kind = a.name, a.handle, a.kind
        count = self.count_of(a)
        self.before.append("    int %s_n = %s;\n    KF_ARRAY(%s, %s_o, %s_n);" % (n, count, h.ctype, n, n))
        if kind.endswith("_OUT"):
            self.before.append("    for (int i = 0; i < %s_n; i++)\n        %s_o[i] = 0;" % (n, n))
        else:
            self.before.append("    for (int i = 0; i < {0}_n; i++)\n        {0}_o[i] = kf_{1}({0}[i]);".format(n, h.short))
        self.pass_.append(n + "_o")
        if kind.endswith(("_OUT", "_INOUT")):
            self.after.append("    for (int i = 0; i < {0}_n; i++)\n        if ({0}_o[i])\n            {0}[i] = kf_integer({0}_o[i]);".format(n))
        self.clean.append("    KF_FREE(%s_o);" % n)

    def count_of(self, a):
        length = a.p.arg("len")
        if length in [x.p.name for x in self.args]:
            return ("kf_is_root(%s, *root) ? (int)*%s : 0" % (self.comm(), length)) if self.proc.chapter == "spawn" else "(int)*" + length
        buffer = "sendbuf" if a.name.startswith("send") else "recvbuf"
        if length == "size":
            return "kf_size(%s, sendbuf, %d)" % (self.comm(), buffer == "sendbuf")
        return "kf_neighbors(%s, %d)" % (self.comm(), buffer == "sendbuf")

    def logical(self, a):
        n, kind = a.name, a.kind
        if kind == "POINTER":
            self.pass_.append(n)
        elif kind == "INT":
            self.pass_.append("kf_is_true(*%s)" % n)
        elif kind == "INT_OUT":
            self.before.append("    int %s_o = 0;" % n)
            self.pass_.append("&%s_o" % n)
            self.after.insert(0, "    if (!rc)\n        *%s = kf_logical(%s_o);" % (n, n))
        else:
            count = a.p.arg("dim")
            count = "*" + count if count else "kf_dims(%s)" % self.comm()
            self.before.append("    int %s_n = %s;\n    KF_ARRAY(int, %s_o, %s_n);" % (n, count, n, n))
            if kind == "INTS":
                self.before.append("    for (int i = 0; i < {0}_n; i++)\n        {0}_o[i] = kf_is_true({0}[i]);".format(n))
            else: # what the call leaves alone stays as it is
                self.before.append("    for (int i = 0; i < {0}_n; i++)\n        {0}_o[i] = -1;".format(n))
                self.after.append("    for (int i = 0; !rc && i < {0}_n; i++)\n        if ({0}_o[i] != -1)\n            {0}[i] = kf_logical({0}_o[i]);".format(n))
            self.pass_.append(n + "_o")
            self.clean.append("    KF_FREE(%s_o);" % n)

    def string(self, a):
        n = a.name
        self.lengths.append(n)
        if a.strings: # significant at the root alone
            self.before.append("    %s%s_o = kf_%s(%s, %s_len, %skf_is_root(%s, *root));" % (
                "char ***" if n == "array_of_argv" else "char **", n, n, n, n, "" if n == "argv" else "*count, ", self.comm()))
            self.pass_.append(n + "_o")
            self.clean.append("    free(%s_o);" % n)
            return
        if a.kind != "STRING_OUT":
            both = self.proc.chapter == "info" or n in ("key", "value")
            self.before.append("    KF_ARRAY(char, %s_o, (int64_t)%s_len + 1);\n    kf_string_in(%s_o, %s, %s_len, %d);" % (n, n, n, n, n, both))
            self.pass_.append(n + "_o")
            self.clean.append("    KF_FREE(%s_o);" % n)
            return
        room, done = STRING_ROOM.get(n, "MPI_MAX_OBJECT_NAME"), "!rc"
        if self.proc.short == "Info_get":
            room, done = "(int64_t)kf_positive(*valuelen) + 1", "!rc && *flag"
        elif self.proc.short == "Info_get_string":
            room, done = "(int64_t)kf_positive(*buflen) + 2", "!rc && *flag && c_len_given"
        elif self.proc.short == "Session_get_nth_pset":
            room, done = "(int64_t)kf_positive(*pset_len) + 2", "!rc && c_len_given"
        if "c_len_given" in done:
            self.before.append("    const int c_len_given = *%s;" % ("buflen" if "Info" in self.proc.short else "pset_len"))
            done = done.replace("c_len_given", "c_len_given > 0")
        self.before.append("    KF_ARRAY(char, %s_o, %s);\n    %s_o[0] = '\\0';" % (n, room, n))
        self.pass_.append(n + "_o")
        self.after.append("    if (%s)\n        kf_string_out(%s, %s_len, %s_o);" % (done, n, n, n))
        self.clean.append("    KF_FREE(%s_o);" % n)

    def params(self, descriptor=False):
        words = [a.c_param(descriptor) for a in self.args]
        if self.has_ierror():
            words.append("int *ierror")
        if not descriptor or descriptor == "choice":
            words += ["size_t %s_len" % n for n in self.lengths]
        return words or ["void"]

    def has_ierror(self):
        return self.proc.name not in FUNCTIONS and self.proc.short != "Pcontrol"

    def name(self):
        return self.proc.short + ("_c" if self.large else "")

    def text(self):
        call = "%s%s(%s)" % (self.prefix + family(self.proc), self.proc.short + "_c" * large_in_c(self.proc, self.large), ", ".join(self.pass_))
        if not self.has_ierror():
            result = "void" if self.proc.short == "Pcontrol" else self.proc.returns
            code = "    %s%s;" % ("" if result == "void" else "return ", call)
        else:
            result = "void"
            if self.proc.short in ("Init", "Init_thread", "Session_init"):
                self.before.append("    kf_begin();")
            # a value of MPI_Get_attr may need the flag: it comes first
            steps = self.before
            if self.language:
                steps = steps + ["    PMPI_Keel_call_from(%s);" % self.language]
            steps = steps + ["    int rc = %s;" % call]
            if self.language:
                steps.append("    PMPI_Keel_call_from(KF_C);")
            code = "\n".join(steps + self.after + self.clean + ["    if (ierror)\n        *ierror = rc;"])
        return "static %s f_%s(%s)\n{\n%s\n}\n" % (result, self.name(), ", ".join(self.params()), code)

    def detaches(self):
        return any(a.p.name == "buffer_addr" for a in self.args)


def stand_in(body, a, requests):
    """What kf_ function finds something to stand for a section, as C; None: its address does."""
    proc, n, mode = body.proc, a.name, "KF_IN" if a.kind == "CBUFFER" else "KF_INOUT"
    if proc.short in ("Get_address", "Address", "F_sync_reg") or proc.short.endswith("_end"):
        return None
    if proc.short in ("Fetch_and_op", "Compare_and_swap"):
        return "kf_first(%s, *datatype)" % n
    if attached(proc) and not requests:
        return "MPI_ERR_BUFFER" # it stays in use
    if requests:
        return "kf_keep(&%s_s, %s, %s, %s)" % (n, n, mode, "false" if proc.short.endswith("_init") else "true")
    return "kf_copy(&%s_s, %s)" % (n, n)


def descriptor_body(body, native=False):
    """MPI_X_f08ts: addresses, or a datatype or a copy for what is not contiguous; then the other one.  native: the procedure is not
    BIND(C); gfortran has descriptors of its own and strings as ever."""
    proc, later = body.proc, nonblocking(body.proc)
    requests = any(a.kind == "REQUEST_OUT" for a in body.args)
    before, given, after, undo = [], [], [], ""
    words = {a.name: a.name + "->base_addr" * (a.string and not native) for a in body.args}
    byname = {x.p.name: x for x in body.args}
    for a in body.args:
        n = a.name
        if not a.choice:
            continue
        s = n + "_s"
        mode = "KF_IN" if a.kind == "CBUFFER" else "KF_INOUT"
        one = count_and_type(proc, a, byname)
        what = stand_in(body, a, requests)
        if one:
            count, datatype = one
            before.append("    %s %s_n = *%s;\n    int %s_t = *%s;" % (count.ctype[:-2], n, count.name, n, datatype.name))
            words[count.name], words[datatype.name] = "&%s_n" % n, "&%s_t" % n
            what = "kf_describe(&%s, %s, *%s, *%s)" % (s, n, count.name, datatype.name) if later else \
                "kf_represent(&%s, %s, *%s, *%s)" % (s, n, count.name, datatype.name)
        before.append("    struct kf_section %s = { .at = kf_base(%s) };" % (s, n))
        if what:
            before.append("    if (kf_scattered(%s)) {\n        int bad = %s;" % (n, what))
            before.append("        if (bad) {\n%s            kf_fail(%s, bad, ierror);\n            return;\n        }" % (undo, body.comm()))
            if one:
                before.append("        if (%s.type) {\n            %s_n = 1;\n            %s_t = %s.type;\n        }" % (s, n, n, s))
            elif "kf_keep" in what:
                before.append("        *request = kf_integer(MPI_REQUEST_NULL);")
                given.append("    if ((bad_copy = kf_give(&%s, *request)) != 0)\n        kf_fail(%s, bad_copy, ierror);" % (s, body.comm()))
            before.append("    }")
        undo += "            kf_close(&%s, NULL);\n" % s
        words[n] = s + ".at"
        after.append("    kf_close(&%s, %s);" % (s, n if mode == "KF_INOUT" else "NULL"))
    tail = ["ierror"] if body.has_ierror() else []
    length = "%s_len" if native else "%s->elem_len"
    call = "    f_%s(%s);" % (body.name(), ", ".join([words[a.name] for a in body.args] + tail + [length % n for n in body.lengths]))
    given = ["    int bad_copy;"] + given if given else []
    if native:
        params = body.params("choice")
        for i, a in enumerate(body.args):
            if a.choice:
                params[i] = params[i].replace("struct kf_array *" + a.name, "const struct kf_gfortran *%s_g" % a.name)
                before.insert(0, "    struct kf_room {0}_r;\n    struct kf_array *{0} = kf_from_gfortran(&{0}_r, {0}_g);".format(a.name))
        return "static void d_%s(%s)\n{\n%s\n}\n" % (body.name(), ", ".join(params), "\n".join(before + [call] + given + after))
    return "static void d_%s(%s)\n{\n%s\n}\n" % (body.name(), ", ".join(body.params(True)), "\n".join(before + [call] + given + after))


def symbols(body, prefix, descriptors=True):
    """The names of a procedure in Fortran and what they stand for.  descriptors: of mpi_f08's choice buffers; else they are addresses."""
    low, choice = (prefix + family(body.proc) + body.name()).lower(), descriptors and any(a.choice for a in body.args)
    rows = [] if body.large and choice else [(low, "f_")]
    if choice:
        rows.append((low + "_f08ts", "d_"))
    elif body.proc.chapter != "attr" or not old(body.proc):
        rows.append((low + "_f08", "f_"))
    if body.proc.short in ("Alloc_mem", "Win_allocate", "Win_allocate_shared", "Win_shared_query"):
        rows.append((low + "_cptr", "f_"))
    return rows


def with_address(body):
    """The procedure that brings the address of a buffer back."""
    return body.text().replace("kf_detached(buffer_addr, address);", "if (!rc)\n        *(void **)buffer_addr = address;")


def detach_f08(body, name):
    """mpi_f08 gets the address of the buffer, the others do not (3.6)."""
    n = body.name()
    return with_address(body).replace(" f_%s(" % n, " g_%s(" % n) + "KF_NAME(%s, g_%s)\n" % (name, n)


# ---- INTEGERs of 8 bytes -------------------------------------------------------------------------------------------

class Wide:
    """A procedure with INTEGERs of 8 bytes, around the one with those of 4: it converts, and refuses a number that C could not have.
    Counts are the large ones of C, as they are INTEGERs of this size: nothing is to be converted, and nothing is too large."""

    guarded = 0 # the lines before the others

    def __init__(self, body, descriptor):
        self.body, self.proc, self.descriptor = body, body.proc, descriptor
        self.names = {a.p.name: a for a in body.args}
        self.before, self.pass_, self.after, self.clean, self.numbers = [], [], [], [], []
        for a in body.args:
            self.add(a)

    def converted(self, a):
        return a.ctype == "int *" and not a.function

    def value(self, name):
        """An integer argument's value."""
        return "(int)*" + name

    def length(self, a):
        """How many entries an array has, as far as the call may look at them."""
        n, p, proc = a.name, a.p, self.proc.short
        given = p.arg("len") if p.arg("len") in self.names else p.arg("dim")
        side = n == "sendtypes"
        if given == "3,n":
            return "3 * (int)*n"
        if given:
            return self.value(given)
        if n in ("sendtypes", "recvtypes"):
            if "eighbor" in proc:
                return "kf_neighbors(%s, %d)" % (self.comm(), side)
            return "kf_size(%s, %s, %d)" % (self.comm(), "sendbuf" + "->base_addr" * self.descriptor, side)
        if n == "array_of_maxprocs":
            return "(kf_is_root(%s, (int)*root) ? (int)*count : 0)" % self.comm()
        if n in ("coords", "remain_dims"):
            return "kf_dims(%s)" % self.comm()
        if proc == "Dist_graph_create":
            return "kf_total(degrees, (int)*n)"
        if n in ("sourceweights", "destweights"):
            return self.value([x for x in self.names if x in ("indegree", "maxindegree")][0] if n[0] == "s" else
                              [x for x in self.names if x in ("outdegree", "maxoutdegree")][0])
        if n == "edges":
            return "(*nnodes > 0 ? (int)index[*nnodes - 1] : 0)"
        raise ValueError("%s: how long is %s?" % (self.proc.name, n))

    def comm(self):
        return next("kf_Comm((int)*%s)" % a.name for a in self.body.args if a.kind == "COMM")

    def add(self, a):
        n, kind = a.name, a.kind
        if not self.converted(a):
            self.pass_.append(n)
            return
        if kind == "POINTER" and a.p.has("logical"): # of the size that another argument tells
            self.pass_.append("(int *)" + n)
            return
        if n == "array_of_errcodes": # how many there are the root alone knows before
            count = "(int)*maxprocs" if self.proc.short == "Comm_spawn" else "kf_total(array_of_maxprocs, (int)*count)"
            self.before.append("    const int64_t %s_n = kf_is_sentinel(%s) || !kf_is_root(%s, (int)*root) ? 0 : %s;\n    KF_ARRAY(int, %s_v, %s_n);" %
                               (n, n, self.comm(), count, n, n))
            self.pass_.append("%s_n > 0 ? %s_v : (int *)kf_constants.errcodes_ignore" % (n, n))
            self.after.append("    kf_widen(%s, %s_v, %s_n);" % (n, n, n))
            self.clean.append("    KF_DONE(%s);" % n)
            return
        status = "STATUS" in kind or kind == "C" and "MPI_F" in a.decl or a.plain_status
        out = "OUT" in kind or kind == "C" and "MPI_F" in a.decl
        if status or a.array:
            count = "MPI_F_STATUS_SIZE" if status else self.length(a)
            if kind == "STATUSES_OUT":
                count = "(int64_t)MPI_F_STATUS_SIZE * %s" % self.length(a)
            self.before.append("    KF_INTEGERS(%s, %s);" % (n, count))
            if not status and not out and not a.handle:
                self.numbers.append("(!kf_is_sentinel(%s) && kf_are_large(%s, %s))" % (n, n, count) if kind == "WEIGHTS" else
                                    "kf_are_large(%s, %s)" % (n, count))
            self.pass_.append("%s_i" % n)
            if out:
                self.after.append("    kf_widen(%s, %s_i, %s_n);" % (n, n, n))
            self.clean.append("    KF_DONE(%s);" % n)
            return
        self.before.append("    int %s_i = (int)*%s;" % (n, n))
        if not a.handle and (not out or "INOUT" in kind) and not a.p.has("logical"):
            self.numbers.append("kf_are_large(%s, 1)" % n)
        self.pass_.append("&%s_i" % n)
        if out:
            self.after.append("    *%s = %s_i;" % (n, n))

    def guard(self, large):
        """The large form, where a number is too large for this one.  False: all of its numbers have 8 bytes."""
        tests = []
        for a, b in zip(self.body.args, large.args):
            if a.ctype != b.ctype and self.converted(a):
                tests.append("kf_are_large(%s, %s)" % (a.name, self.length(a) if a.array else "1"))
        names = [a.name for a in self.body.args] + ["ierror"]
        if not tests:
            return False
        self.guarded = 1
        self.numbers = [x for x in self.numbers if x not in tests]
        self.before.insert(0, "    if (%s) {\n        j_%s(%s);\n        return;\n    }" % (" || ".join(tests), large.name(), ", ".join(names)))
        return True

    def text(self):
        body = self.body
        pre = "d_" if self.descriptor else "f_"
        params = [a.c_param(self.descriptor) if not self.converted(a) else "int64_t *" + a.name for a in body.args]
        pass_ = list(self.pass_)
        if body.has_ierror():
            params.append("int64_t *ierror")
            pass_.append("&ierror_i")
            self.before.insert(0, "    int ierror_i;")
            self.clean.append("    if (ierror)\n        *ierror = ierror_i;")
        if not self.descriptor:
            params += ["size_t %s_len" % n for n in body.lengths]
            pass_ += ["%s_len" % n for n in body.lengths]
        if self.numbers and body.has_ierror():
            comm = self.comm() if any(a.kind == "COMM" for a in body.args) else "MPI_COMM_SELF"
            at = 1 + self.guarded
            self.before.insert(at, "    if (%s) {\n        kf_too_large(%s, ierror);\n        return;\n    }" % (" || ".join(self.numbers), comm))
        code = self.before + ["    %s%s(%s);" % (pre, body.name(), ", ".join(pass_))] + self.after + self.clean
        return "static void %s%s(%s)\n{\n%s\n}\n" % ("k_" if self.descriptor else "j_", body.name(), ", ".join(params or ["void"]),
                                                    "\n".join(code))


def is_large_in_wide(proc):
    """Does the large form of C have the same arguments, so that it serves INTEGERs of 8 bytes?"""
    return len(variants(proc)) > 1 and [a.name for a in arguments(proc, True)] == [a.name for a in arguments(proc, False)]


def makes_datatype(proc):
    """What its constructor was given is asked for with MPI_Type_get_contents, which knows nothing of large counts."""
    return any(p.kind.name == "DATATYPE_OUT" for p in proc.params)


def constructor(proc, prefix):
    large, small = Body(proc, True, prefix, True), Wide(Body(proc, False, prefix, True), False)
    first = [large.text(), Wide(large, False).text()] if small.guard(large) else []
    names = ["KF_NAME(%s, j_%s)" % (name, proc.short) for name, _ in symbols(small.body, prefix)]
    return first + [small.body.text(), small.text()] + names + [""]


def c_file_wide(api, bodies, prefix):
    parts = []
    for proc in procedures(api, bodies):
        large = is_large_in_wide(proc)
        if large and makes_datatype(proc):
            parts += constructor(proc, prefix)
            continue
        body = Body(proc, large, prefix, True)
        choice = any(a.choice for a in body.args)
        kinds = {"f_": "f_"} if proc.name in FUNCTIONS else {"f_": "j_", "d_": "k_"}
        parts.append(body.text())
        if proc.name not in FUNCTIONS:
            parts.append(Wide(body, False).text())
        if choice and proc.name not in FUNCTIONS:
            parts += [descriptor_body(body), Wide(body, True).text()]
        detach = any(a.p.name == "buffer_addr" for a in body.args)
        small = Body(proc, False, prefix, True)
        for name, what in symbols(small, prefix):
            if detach and name.endswith("_f08"):
                text = detach_f08(body, name)
                parts.append(text[:text.rindex("KF_NAME")])
                parts.append(Wide(body, False).text().replace(" f_", " g_").replace(" j_", " h_"))
                parts.append("KF_NAME(%s, h_%s)" % (name, body.name()))
            else:
                parts.append("KF_NAME(%s, %s%s)" % (name, kinds[what], body.name()))
        if large and own_name(proc):
            for suffix in ("", "_f08"):
                parts.append("KF_NAME(%s, j_%s)" % ((prefix + proc.name).lower() + "_c" + suffix, body.name()))
        parts.append("")
    return fill(C_FILE, WHICH=prefix + "MPI for INTEGERs of 8 bytes", FUNCTIONS="\n".join(parts))


def own_name(proc):
    """MPI_X_c is no overload where only a procedure's interface differs."""
    return any(p.kind.name == "FUNCTION" for p in proc.params)


def mpich_spelling(name, large):
    """What MPICH's modules call a procedure of mpi_f08: a large one mpi_x_f08_large up to MPICH 4.1, mpi_x_c_f08 from 4.2 on."""
    m = re.match(r"(p?)(mpix?_\w+?)(_c)?(_f08(?:ts)?)$", name)
    if not m:
        return [name]
    base = m.group(2).replace("_", "r_", 1) if m.group(1) else m.group(2)
    of_now = m.group(1) + base + (m.group(3) or "") + m.group(4)
    return [m.group(1) + base + m.group(4) + "_large", of_now] if large else [of_now]


def pcontrol_f08():
    """In MPICH's mpi_f08 it has an ierror."""
    return "static void g_Pcontrol(int *level, int *ierror)\n{\n    f_Pcontrol(level);\n    if (ierror)\n        *ierror = MPI_SUCCESS;\n}\n"


def name_rows(body, rows):
    """rows: (a name, which of the procedure's functions it stands for)."""
    return ["KF_NAME(%s, %s%s)" % (name, what, body.name()) for name, what in rows]


def keel_names(body, prefix):
    rows = symbols(body, prefix)
    if not body.detaches():
        return [body.text()] + name_rows(body, rows)
    return [body.text()] + name_rows(body, rows[:1]) + [detach_f08(body, rows[1][0])]


def mpich_names(body, prefix):
    """Those of MPICH's modules, whose choice buffers in mpi_f08 are gfortran's own descriptors.  A buffer's address is brought back in all
    forms, as MPICH does."""
    rows = [(n, what) for name, what in symbols(body, prefix) for n in mpich_spelling(name, body.large)]
    parts = [with_address(body)]
    if body.proc.short == "Pcontrol":
        rows = [(name, "g_" if name.endswith("_f08") else what) for name, what in rows]
        parts.append(pcontrol_f08())
    if body.proc.short.startswith("Remove_error_"): # MPICH 4.0's MPIX_Delete_error_class and its like, in mpi_f08
        rows.append(("p" * bool(prefix) + "mpi" + "r" * bool(prefix) + body.proc.name[3:].lower().replace("remove", "delete") + "_f08", "f_"))
    parts += name_rows(body, rows)
    if body.proc.short in ("Status_f082f", "Status_f2f08"):
        parts.append("KF_SPELL(__mpi_f08_types_MOD_%s, f_%s)" % ((prefix + body.proc.name).lower(), body.name()))
    return parts


def openmpi_names(body, prefix):
    """Those of Open MPI's modules.  Up to 5 mpi_f08 has addresses (MPI_X_f08), in 6 gfortran's descriptors (MPI_X_f08ts)."""
    rows, short = symbols(body, prefix, False), body.proc.short
    low = (prefix + family(body.proc) + body.name()).lower()
    if any(a.choice for a in body.args):
        rows.append((low + "_f08ts", "d_"))
    if short in ("Comm_attach_buffer", "Session_attach_buffer") and not body.large:
        rows.append((low + "_fts", "d_")) # 6's module mpi
    if short in ("Type_get_contents", "Type_get_envelope") and body.large:
        rows.append((low.removesuffix("_c") + "_f08_c", "f_")) # 6
    if short == "Ineighbor_alltoallv" and prefix:
        rows.append((low + "_init_f08", "f_")) # 5
    if short in ("Psend_init", "Precv_init"): # 5's have no info (openmpi_modules.inc)
        rows = [row for row in rows if not row[0].endswith("_f08")]
    if short == "Buffer_detach":
        return [body.text()] + name_rows(body, rows[:1]) + [detach_f08(body, rows[1][0])]
    return [with_address(body)] + name_rows(body, rows)


def c_file(api, bodies, prefix, names=keel_names, also=()):
    """names: the procedure and its names in one MPI's modules; also: [(another name, MPI_X)]."""
    parts = []
    for proc in procedures(api, bodies):
        for large in variants(proc):
            body = Body(proc, large, prefix)
            text, *rows = names(body, prefix)
            parts.append(text)
            if any(a.choice for a in body.args):
                parts.append(descriptor_body(body, names != keel_names))
            others = [(prefix + other).lower() + form for other, proc_name in also if proc_name == proc.name and not large for form in ("", "_f08")]
            parts += ["KF_NAME(%s, f_%s)" % (other, body.name()) for other in others] + rows + [""]
    return fill(C_FILE, WHICH=prefix + "MPI", FUNCTIONS="\n".join(parts))


INT_HANDLES = """\
/* Of both languages alike, but for files. */
#define kf_is_named(datatype) (((uint32_t)(datatype) >> 30 & 3) != 3)
static inline int kf_same(int handle)
{
    return handle;
}
static inline int kf_file_integer(MPI_File file)
{
    return PMPI_File_c2f(file);
}
#define kf_integer(handle) _Generic((handle), MPI_File: kf_file_integer, default: kf_same)(handle)
"""


POINTER_HANDLES = """\
/* The library knows which are predefined. */
#define kf_is_named(datatype) (((datatype) & ~0xfff) == 0)
"""


def pointer_handles_h():
    """The same of an ABI whose INTEGERs are numbers of its own: what C's procedures say."""
    rows, integers = [], []
    for h in HANDLES.values():
        short = "Type" if h.short == "Datatype" else h.short
        rows.append("static inline {0} kf_{1}(int f)\n{{\n    return PMPI_{2}_f2c(f);\n}}".format(h.ctype, h.short, short))
        integers.append("%s: PMPI_%s_c2f" % (h.ctype, short))
    return "/* Generated from src/mpi/binding; do not edit. */\n" + POINTER_HANDLES + "\n".join(rows) + \
        "\n#define kf_integer(handle) _Generic((handle), %s)(handle)\n" % ", ".join(integers)


def module_constants(abi):
    """The named constants of mpi_f08 that are handles, each of one INTEGER, as gfortran calls them."""
    rows = ["KF_CONSTANT(%s, %d)" % (name.lower(), value) for cls, _, form, rows in abi.groups if form == "symbol" for name, value in rows]
    return "/* Generated from src/mpi/binding; do not edit. */\n" + "\n".join(rows) + "\n"


def int_handles_h():
    """The same of an ABI whose handles are ints in C."""
    rows = ["static inline {0} kf_{1}(int f)\n{{\n    return {2};\n}}".format(
        h.ctype, h.short, "PMPI_File_f2c(f)" if h.kind == "FILE" else "f") for h in HANDLES.values()]
    return "/* Generated from src/mpi/binding; do not edit. */\n" + INT_HANDLES + "\n".join(rows) + "\n"


def handle_h(api, bodies):
    """The handles of INTEGERs: predefined ones are their own values, the others the library knows."""
    names = {p.name for p in exported(api, bodies)}
    rows = []
    for h in HANDLES.values():
        short = "Type" if h.short == "Datatype" else h.short
        other = "PMPI_%s_fromint(f)" % short
        if "MPI_%s_fromint" % short not in names: # none is ever made
            other = "(%s)NULL" % h.ctype
        rows.append("static inline {0} kf_{1}(int f)\n{{\n    return (f & ~0xfff) == 0 ? ({0})(intptr_t)f : {2};\n}}".format(
            h.ctype, h.short, other))
    return "/* Generated from src/mpi/binding; do not edit. */\n" + "\n".join(rows) + "\n"
