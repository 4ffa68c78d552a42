# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of parameters: their C types in MPI_X and MPI_X_c, and what a body gets.

A row is NAME small large body, where % stands for the parameter's name; `=` repeats the column before.  gen_front.py says
how each is converted and checked.  Weights are pointers, not arrays: gcc warns of an array at MPI_UNWEIGHTED's address."""

ROWS = """
BUFFER           | void *%               | =                     | void *
CBUFFER          | const void *%         | =                     | const void *
POINTER          | void *%               | =                     | void *
CPOINTER         | const void *%         | =                     | const void *
POINTER_OUT      | void *%               | =                     | void *
COUNT            | int %                 | MPI_Count %           | MPI_Count
STRIDE           | int %                 | MPI_Count %           | MPI_Count
DISP_UNIT        | int %                 | MPI_Aint %            | MPI_Count
AINT_COUNT       | MPI_Aint %            | MPI_Count %           | MPI_Count
AINT_STRIDE      | MPI_Aint %            | MPI_Count %           | MPI_Count
AINT             | MPI_Aint %            | =                     | MPI_Aint
COUNT64          | MPI_Count %           | =                     | MPI_Count
OFFSET           | MPI_Offset %          | =                     | MPI_Offset
FINT             | MPI_Fint %            | =                     | int
INT              | int %                 | =                     | int
NUMBER           | int %                 | =                     | int
RANK             | int %                 | =                     | int
RANK_ANY         | int %                 | =                     | int
RANK_IN          | int %                 | =                     | int
WIN_RANK         | int %                 | =                     | int
ROOT             | int %                 | =                     | int
TAG              | int %                 | =                     | int
TAG_ANY          | int %                 | =                     | int
ARGC             | int *%                | =                     | int *
ARGV             | char ***%             | =                     | char ***
STRING           | const char *%         | =                     | const char *
STRING_ARRAY     | const char %[]        | =                     | const char *
STRING_OUT       | char *%               | =                     | char *
INT_OUT          | int *%                | =                     | int *
INT_INOUT        | int *%                | =                     | int *
COUNT_OUT        | int *%                | MPI_Count *%          | MPI_Count *
COUNT_INOUT      | int *%                | MPI_Count *%          | MPI_Count *
DISP_UNIT_OUT    | int *%                | MPI_Aint *%           | MPI_Count *
AINT_OUT         | MPI_Aint *%           | =                     | MPI_Aint *
AINT_COUNT_OUT   | MPI_Aint *%           | MPI_Count *%          | MPI_Count *
AINT_COUNT_INOUT | MPI_Aint *%           | MPI_Count *%          | MPI_Count *
COUNT64_OUT      | MPI_Count *%          | =                     | MPI_Count *
OFFSET_OUT       | MPI_Offset *%         | =                     | MPI_Offset *
INTS             | const int %[]         | =                     | const int *
INTS_OUT         | int %[]               | =                     | int *
INTS_INOUT       | int %[]               | =                     | int *
WEIGHTS          | const int *%          | =                     | const int *
WEIGHTS_OUT      | int *%                | =                     | int *
RANGES           | int %[][3]            | =                     | int (*)[3]
AINTS_OUT        | MPI_Aint %[]          | =                     | MPI_Aint *
COUNTS64_OUT     | MPI_Count %[]         | =                     | MPI_Count *
COUNTS           | const int %[]         | const MPI_Count %[]   | MPIR_Counts
COUNTS_MUTABLE   | int %[]               | =                     | MPIR_Counts
STRIDES          | const int %[]         | const MPI_Count %[]   | MPIR_Counts
DISPLS           | const int %[]         | const MPI_Aint %[]    | MPIR_Counts
AINTS_COUNTS     | const MPI_Aint %[]    | const MPI_Count %[]   | MPIR_Counts
AINTS            | const MPI_Aint %[]    | =                     | MPIR_Counts
AINTS_MUTABLE    | MPI_Aint %[]          | =                     | MPIR_Counts
STATUS           | const MPI_Status *%   | =                     | const MPIR_Status *
STATUS_OUT       | MPI_Status *%         | =                     | MPIR_Status *
STATUS_INOUT     | MPI_Status *%         | =                     | MPIR_Status *
STATUSES_OUT     | MPI_Status *%         | =                     | MPIR_Status *
REQUESTS         | const MPI_Request %[] | =                     | MPIR_Request *const *
REQUESTS_INOUT   | MPI_Request %[]       | =                     | MPIR_Request **
DATATYPES        | const MPI_Datatype %[]| =                     | MPIR_Datatype *const *
DATATYPES_USE    | const MPI_Datatype %[]| =                     | MPIR_Datatype *const *
DATATYPES_MUTABLE| MPI_Datatype %[]      | =                     | MPIR_Datatype *const *
DATATYPES_OUT    | MPI_Datatype %[]      | =                     | MPIR_Datatype **
INFOS            | const MPI_Info %[]    | =                     | MPIR_Info *const *
DATATYPE_USE     | MPI_Datatype %        | =                     | MPIR_Datatype *
"""

# Handles: kind, MPI's type, the object's type, what a message calls it, the error class of a bad one, the null handle.
HANDLE_ROWS = """
COMM       | MPI_Comm       | MPIR_Comm       | communicator      | MPI_ERR_COMM
GROUP      | MPI_Group      | MPIR_Group      | group             | MPI_ERR_GROUP
DATATYPE   | MPI_Datatype   | MPIR_Datatype   | datatype          | MPI_ERR_TYPE
OP         | MPI_Op         | MPIR_Op         | operation         | MPI_ERR_OP
REQUEST    | MPI_Request    | MPIR_Request    | request           | MPI_ERR_REQUEST
MESSAGE    | MPI_Message    | MPIR_Request    | message           | MPI_ERR_REQUEST
ERRHANDLER | MPI_Errhandler | MPIR_Errhandler | error handler     | MPI_ERR_ERRHANDLER
INFO       | MPI_Info       | MPIR_Info       | info object       | MPI_ERR_INFO
WIN        | MPI_Win        | MPIR_Win        | window            | MPI_ERR_WIN
FILE       | MPI_File       | MPIR_File       | file              | MPI_ERR_FILE
SESSION    | MPI_Session    | MPIR_Session    | session           | MPI_ERR_SESSION
"""

# The types of MPI_T that are no handles, and what a body gets; its handles are opaque numbers there (MPIR_T_handle).
TOOL_BODY = {"MPI_T_cb_safety": "int", "MPI_T_source_order": "int"}


class Handle:
    def __init__(self, kind, ctype, obj, word, errclass):
        self.kind, self.ctype, self.obj, self.word, self.errclass = kind, ctype, obj, word, errclass
        self.short = ctype[4:]  # Comm
        self.null = "KEEL_MPI_%s_NULL" % kind


class Kind:
    def __init__(self, name, small, large, body, handle=None):
        self.name, self.small, self.large, self.body, self.handle = name, small, large, body, handle


def cells(rows):
    return [[c.strip() for c in line.split("|")] for line in rows.strip().split("\n")]


HANDLES = {row[0]: Handle(*row) for row in cells(HANDLE_ROWS)}
KINDS = {}
for name, small, large, body in cells(ROWS):
    KINDS[name] = Kind(name, small, small if large == "=" else large, body)
for h in HANDLES.values():
    KINDS[h.kind] = Kind(h.kind, h.ctype + " %", h.ctype + " %", h.obj + " *", h)
    KINDS[h.kind + "_OUT"] = Kind(h.kind + "_OUT", h.ctype + " *%", h.ctype + " *%", h.obj + " **", h)
    KINDS[h.kind + "_INOUT"] = Kind(h.kind + "_INOUT", h.ctype + " *%", h.ctype + " *%", h.obj + " **", h)
for name in KINDS:
    if name.startswith("DATATYPE"):
        KINDS[name].handle = HANDLES["DATATYPE"]
    elif name.startswith("REQUEST"):
        KINDS[name].handle = HANDLES["REQUEST"]
KINDS["INFOS"].handle = HANDLES["INFO"]


def kind_of(word):
    """The kind a word of api.txt names; FUNCTION(small,large) and C(type;large type) carry their types along."""
    if word.startswith("FUNCTION("):
        types = word[9:-1].split(",")
        return Kind("FUNCTION", types[0] + " *%", types[-1] + " *%", "MPIR_Callback")
    if word.startswith("C(MPI_T_"):
        ctype = declarator(word[2:-1])
        return Kind("TOOL", ctype, ctype, TOOL_BODY.get(word[2:-1].rstrip(" *"), "MPIR_T_handle") + ctype[-3:-1] * ("*" in ctype))
    if word.startswith("C("):
        types = [declarator(t) for t in word[2:-1].split(";")]
        return Kind("C", types[0], types[-1], word[2:-1].split(";")[-1].replace("[]", "*").replace("* *", "**"))
    if word == "VARARGS":
        return Kind("VARARGS", "...", "...", None)
    return KINDS[word]


def declarator(ctype):
    """'char *[]' -> 'char *%[]'"""
    at = ctype.find("[")
    base, tail = (ctype, "") if at < 0 else (ctype[:at], ctype[at:])
    return base + ("%" if base.endswith("*") else " %") + tail
