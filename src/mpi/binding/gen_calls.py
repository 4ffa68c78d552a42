# SPDX-License-Identifier: BSD-3-Clause
"""What listeners are told of a call (mpid_listen.h): its description, and the function that tells them around it."""

import re
import gen_refused
from headers import abi_type, fill
from kinds import HANDLES

# As in mpid_listen.h: enum MPID_ARG_WHAT, enum MPID_ARG_ACCESS, MPID_ARG_NONE and what follows.
OTHER, INTEGER, RANK, TAG, BUFFER, POINTER, STRING, HANDLE, STATUS = range(9)
VALUE, IN, OUT, INOUT = range(4)
NONE, LENGTHS, ONE = -1, {"size": -2, "local": -3, "neighbors": -4}, -5
OBJECTS = {kind: i + 1 for i, kind in enumerate(k for k in HANDLES if k != "MESSAGE")}
OBJECTS["MESSAGE"] = OBJECTS["REQUEST"]

WHAT = {
    "BUFFER": (BUFFER, INOUT), "CBUFFER": (BUFFER, IN), "POINTER": (POINTER, VALUE), "CPOINTER": (POINTER, VALUE),
    "POINTER_OUT": (POINTER, OUT), "RANK": (RANK, VALUE), "RANK_ANY": (RANK, VALUE), "RANK_IN": (RANK, VALUE), "WIN_RANK": (RANK, VALUE),
    "ROOT": (RANK, VALUE), "TAG": (TAG, VALUE), "TAG_ANY": (TAG, VALUE), "STRING": (STRING, IN), "STRING_ARRAY": (STRING, IN),
    "STRING_OUT": (STRING, OUT), "STATUS": (STATUS, IN), "STATUS_OUT": (STATUS, OUT), "STATUS_INOUT": (STATUS, INOUT),
    "STATUSES_OUT": (STATUS, OUT),
}
SIZES = {"int": 4, "MPI_Fint": 4, "MPI_Count": 8, "MPI_Aint": 8, "MPI_Offset": 8}


def ctype(p, large):
    return (p.kind.large if large else p.kind.small).replace("%", "").replace(" []", "[]").strip()


def base(ctype):
    """int of `const int[]`."""
    return ctype.replace("const ", "").rstrip("[]* ")


def access_of(kind, is_array):
    if kind.endswith("_INOUT"):
        return INOUT
    if kind.endswith("_OUT"):
        return OUT
    return IN if is_array else VALUE


def what_of(p, large):
    kind, text = p.kind.name, ctype(p, large)
    if p.kind.handle:
        return HANDLE, access_of(kind, "[]" in text)
    if kind in WHAT:
        return WHAT[kind]
    if base(text) in SIZES and text.count("[") + text.count("*") <= 1:
        return INTEGER, access_of(kind, "[" in text or "*" in text)
    return OTHER, VALUE


# How a procedure uses a buffer: as in calls.h, MPIR_USE_SIZE and what follows.
USE_SIZE, USE_LOCAL, USE_EACH, USE_PARTITIONS, USE_ROOT, USE_LEAF, USE_ANY, USE_MINE, USE_ORIGIN = 1, 2, 3, 4, 8, 16, 32, 64, 128
USE_COLLECTIVE, USE_INIT, USE_MAKES = 1, 2, 3


def use_of(proc, p):
    """The numbers of calls.h for a buffer."""
    kind = re.sub(r"_init$", "", proc.short)
    kind = kind[1:].capitalize() if re.match("I[a-z]", kind) else kind
    if p.kind.name == "CPOINTER" and proc.chapter == "rma" and p.name == "origin_addr":
        return USE_ORIGIN
    if p.kind.name in ("COMM", "COMM_INOUT") and not p.has("loose") and proc.has("collective"):
        return USE_MAKES if gen_refused.makes(proc) else USE_INIT if proc.short.endswith("_init") else USE_COLLECTIVE
    if p.kind.name not in ("BUFFER", "CBUFFER") or not p.has("of"):
        return 0
    use = USE_ROOT * p.has("root") | USE_LEAF * p.has("leaf") | USE_ANY * p.has("any") | USE_MINE * p.has("mine")
    if p.name in gen_refused.BY_PROCESS.get(kind, ()):
        use |= USE_SIZE
    elif kind == "Reduce_scatter_block":
        use |= USE_LOCAL if p.name == "sendbuf" else USE_LOCAL | USE_MINE
    elif p.has("each") and (p.name, kind) != ("sendbuf", "Neighbor_allgather"):
        use |= USE_EACH if "allgatherv" not in kind else 0
    elif any(q.name == "partitions" for q in proc.params):
        use |= USE_PARTITIONS
    return use


def arg(proc, p, names, large):
    what, access = what_of(p, large)
    text = ctype(p, large)
    length = p.arg("len") if p.has("len") else None
    number = NONE
    if "[]" in text or p.kind.name.startswith(("STATUSES", "WEIGHTS")):
        number = LENGTHS.get(length, names.index(length) if length in names else NONE)
    elif what in (INTEGER, HANDLE, STATUS, RANK, TAG):
        number = ONE
    of = (p.arg("of") or "").split(",") if p.has("of") else [""]
    count, datatype = (names.index(n) if n in names else NONE for n in (of + [""])[:2])
    size = SIZES.get(base(text), 0) if what in (INTEGER, RANK, TAG) else 0
    use = use_of(proc, p)
    if use & USE_ORIGIN:
        count, datatype = (names.index(n) if n in names else NONE for n in (p.name.replace("addr", "count"), p.name.replace("addr", "datatype")))
        datatype = names.index("datatype") if datatype == NONE else datatype
    numbers = (what, access, size, OBJECTS[p.kind.handle.kind] if p.kind.handle else 0, number, count, datatype, use)
    return "|".join([p.name, text] + [str(n) for n in numbers])


def description(proc, large):
    """name, and of each argument its name, its type, and the numbers of struct MPID_Arg in their order."""
    params = proc.visible(large)
    names = [p.name for p in params]
    return ";".join([proc.name + "_c" * large] + [arg(proc, p, names, large) for p in params])


# Apart from what programs run without listeners.
TELLING = """\
static __attribute__((noinline, section(".text.unlikely.told"))) @PROTO@
{
    static const struct MPID_Procedure *told_procedure;
    const void *const told_arg[] = { @ADDRESSES@ };
    struct MPIR_Call told_call;
    MPID_Call_name = "@NAME@"; /* for what is told of its thread */
    int told_locked = @ENTER@;
    if (unlikely(!MPIR_Call_enter(&told_call, &told_procedure,
                    @TEXT@,
                    told_arg, &MPIR_Abi_@ABI@, __builtin_return_address(0)))) {
        int told_error = MPIR_Call_refuse(&told_call);
        @LEAVE@(&told_locked);
        return told_error;
    }
@CALL@
    told_value = MPIR_Call_leave(&told_call, told_value);
    @LEAVE@(&told_locked);
    return told_value;
}

"""


def is_told(proc):
    return proc.returns == "int" and not proc.short.startswith("T_") and not any(p.kind.name == "VARARGS" for p in proc.params)


def proto(proc, large):
    return abi_type(proc.prototype("", large)).replace(" " + proc.name + "_c" * large + "(", " told_%s(" % (proc.name + "_c" * large))


def telling(proc, large, abi, call):
    """The function that tells listeners of a call; `call` are the statements that make it, and define `told_value`."""
    params = proc.visible(large)
    silent = proc.has("always")
    text = description(proc, large)
    pieces = [text[i:i + 100] for i in range(0, len(text), 100)]
    return fill(TELLING, PROTO=proto(proc, large), ADDRESSES=", ".join("&" + p.name for p in params) or "NULL",
                NAME=proc.name + "_c" * large, TEXT="\n                    ".join('"%s"' % piece for piece in pieces), ABI=abi.name, CALL=call,
                ENTER="front_enter_silently()" if silent else "front_enter_told()",
                LEAVE="front_leave_silently" if silent else "front_leave")


# Before anything else of a procedure: without a listener nothing, where the process has one thread.
CHECK = """\
    if (unlikely(!MPIR_PLAIN) && unlikely(MPIR_ENV(listened)) && !MPIR_Call_passes())
        return told_@CALL@(@ARGS@);
"""


def check(proc, large):
    return fill(CHECK, CALL=proc.name + "_c" * large, ARGS=", ".join(p.name for p in proc.visible(large)))


HANDLE_VALUE = """\
static uint64_t handle_value(int kind, const void *handles, int64_t i)
{
    switch (kind) {
@CASES@
    }
    return 0;
}
"""


def handle_value(abi):
    cases = ["    case MPIR_KIND_%s:\n        return front_value_%s(((const ABI_%s *)handles)[i]);" % (k, HANDLES[k].short, HANDLES[k].short)
             for _, k, _ in abi.handles if k in HANDLES and k != "MESSAGE"]
    return fill(HANDLE_VALUE, CASES="\n".join(cases))
