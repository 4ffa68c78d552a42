# SPDX-License-Identifier: BSD-3-Clause
"""The front ends: PMPI_X and weak MPI_X for each procedure that has a body."""

import re
from api import Bad
from bodies import match
import gen_calls
import gen_maps
import gen_pointers
import gen_refused
from headers import abi_type, fill, field_decl
from kinds import HANDLES

ABI_H = """\
/* front_abi.h: the @ABI@ ABI as the front ends see it.  Generated from src/mpi/binding; do not edit. */
#ifndef FRONT_ABI_H
#define FRONT_ABI_H

#include "mpi/binding/front.h"

@TYPES@

typedef struct {
@STATUS_FIELDS@
} @STATUS_ATTRIBUTE@ABI_Status;

typedef void ABI_Function(void);
extern const struct MPIR_Abi MPIR_Abi_@ABI@;

/* Between the ABI's handles and their native values (object.h). */
@CODING@

@MAPS@@STATUS_HEAD@
static inline void front_status_in(MPIR_Status *s, const ABI_Status *a)
{
    s->MPI_SOURCE = @SOURCE_IN@;
    s->MPI_TAG = @TAG_IN@;
    s->MPI_ERROR = @ERROR_IN@;
@COUNT_IN@
}
/* MPI_ERROR is left alone. */
static inline void front_status_out(const MPIR_Status *s, ABI_Status *a)
{
    a->MPI_SOURCE = @SOURCE_OUT@;
    a->MPI_TAG = @TAG_OUT@;
@COUNT_OUT@
}
/* Of a call that completes requests, with MPI_ERROR, which the body has left alone unless the status is the empty one. */
static inline void front_status_back(const MPIR_Status *s, ABI_Status *a)
{
    front_status_out(s, a);
@ERROR_BACK@
}
static inline void front_statuses_in(MPIR_Status *s, const ABI_Status *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        front_status_in(&s[i], &a[i]);
}
static inline void front_statuses_out(const MPIR_Status *s, ABI_Status *a, int64_t n, bool with_error)
{
    for (int64_t i = 0; i < n; i++) {
        front_status_out(&s[i], &a[i]);
        if (with_error)
            a[i].MPI_ERROR = @ERROR_OUT@;
    }
}
/* The same of the form that completes all: there may be empty ones. */
static inline void front_statuses_back(const MPIR_Status *s, ABI_Status *a, int64_t n, bool with_error)
{
    if (with_error)
        front_statuses_out(s, a, n, true);
    else
        for (int64_t i = 0; i < n; i++)
            front_status_back(&s[i], &a[i]);
}

@ARRAYS@

/* Of requests that are complete and have not failed, and of null ones. */
static inline void front_statuses_of(MPIR_Request *const *requests, ABI_Status *statuses, int n)
{
    MPIR_Status none;
    MPIR_Status_empty(&none);
    for (int i = 0; i < n; i++) {
        front_status_out(requests[i] ? &requests[i]->s : &none, &statuses[i]);
        if (unlikely(!MPIR_Request_is_active(requests[i])))
            statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
}

/* MPI_Waitall of requests of the ADI, not many, of which none fails. False: nothing has been done but wait, perhaps; or a request
 * is there twice, and its second handle, which names none any more, is left for the long way to tell of. */
static inline bool front_waitall(int count, ABI_Request *handles, ABI_Status *statuses)
{
    MPIR_Request *r[FRONT_SMALL];
    struct ku_slab_pile done = { NULL, NULL, 0 };
    bool plain = true, twice = false;
    if (unlikely((unsigned)count > FRONT_SMALL || !handles))
        return false;
    for (int i = 0; i < count; i++) {
        r[i] = front_made_Request(handles[i]);
        if (unlikely(!r[i] && handles[i] != front_native_Request(@NULL_REQUEST@)) || (r[i] && (unsigned)r[i]->handle_type > MPIR_RECV))
            return false;
        plain &= !r[i] || (atomic_load_explicit(&r[i]->is_complete, memory_order_acquire) && !r[i]->errval);
    }
    if (!plain && !MPIR_Requests_wait(count, r))
        return false;
    if (statuses)
        front_statuses_of(r, statuses, count);
    for (int i = 0; i < count; i++) {
        if (unlikely(r[i] && !(r[i]->obj.gen & 1))) {
            twice = true;
            continue;
        }
        if (likely(r[i] && !(r[i]->obj.flags & MPIR_REQUEST_PERSISTENT) && r[i]->comm &&
                   r[i]->comm->obj.flags & KEEL_OBJ_PREDEFINED)) {
            ku_slab_pile(&done, r[i]);
            handles[i] = front_native_Request(@NULL_REQUEST@);
            continue;
        }
        if (r[i])
            MPIR_Request_retire(&r[i]);
        if (!r[i])
            handles[i] = front_native_Request(@NULL_REQUEST@);
    }
    ku_slab_free_pile(&MPIR_slab[MPIR_KIND_REQUEST], &done);
    return !twice;
}

/* The place of a request that an earlier look at this array found complete (any.h), or -1. */
static inline int front_noted(const ABI_Request *handles, int count)
{
    while (unlikely(handles && handles == MPIR_Any.array)) {
        const struct MPIR_Found *f = &MPIR_Any.found[MPIR_Any.next];
        int place = f->index < count && MPIR_Any_holds(f, front_value_Request(handles[f->index])) ? f->index : -1;
        if (++MPIR_Any.next == MPIR_Any.n)
            MPIR_Any_forget();
        if (place >= 0)
            return place;
    }
    return -1;
}

#endif
"""

# A status with a field of 8 bytes, which in Fortran is an array of INTEGERs and lies where one may.
PACKED = "__attribute__((packed, aligned(4))) "

# How a status holds its count and cancelled flag: head, in, out.
COUNTS = {
    "internal": ("/* The count and the cancelled flag of a status live in the ABI's private ints. */", """\
    s->cancelled = a->MPI_internal[0];
    memcpy(&s->count, &a->MPI_internal[1], sizeof s->count);""", """\
    a->MPI_internal[0] = s->cancelled;
    memcpy(&a->MPI_internal[1], &s->count, sizeof s->count);"""),
    "ucount": ("", """\
    s->cancelled = a->_cancelled;
    s->count = (int64_t)a->_ucount;""", """\
    a->_cancelled = s->cancelled;
    a->_ucount = (size_t)s->count;"""),
    "bits": ("/* The cancelled flag lies between the halves of the count. */", """\
    s->cancelled = a->count_hi_and_cancelled & 1;
    s->count = (int64_t)(a->count_hi_and_cancelled >> 1) * (1ll << 32) + (uint32_t)a->count_lo;""", """\
    a->count_lo = (int32_t)(uint32_t)s->count;
    a->count_hi_and_cancelled = (int32_t)((uint32_t)((uint64_t)s->count >> 32) << 1) | (s->cancelled != 0);"""),
}

# The object of a handle where that takes no call, or NULL; `made`: only of one that is not predefined.
CODING_KNOWN = """\
#define front_made_@SHORT@(handle) MPIR_Object_made(MPIR_KIND_@SLAB@, front_value_@SHORT@(handle))
#define front_known_@SHORT@(handle) front_known(MPIR_KIND_@SLAB@, front_value_@SHORT@(handle))
"""

CODING_POINTER = """\
static inline uint64_t front_value_@SHORT@(ABI_@SHORT@ handle)
{
    return (uint64_t)(uintptr_t)handle;
}
static inline ABI_@SHORT@ front_native_@SHORT@(uint64_t value)
{
    return (ABI_@SHORT@)(uintptr_t)value;
}
"""

ARRAY_IN = """\
/* An array of handles to one of objects; null handles become NULL where they may. */
static inline int front_objects_@SHORT@(const ABI_@SHORT@ *handles, @OBJ@ **objects, int64_t n, bool null, const char *arg)
{
    int err = MPI_SUCCESS;
    if (unlikely(!handles && n > 0))
        return MPIR_front_bad_pointer(arg);
    for (int64_t i = 0; i < n; i++) {
        uint64_t value = front_value_@SHORT@(handles[i]);
        objects[i] = NULL;
        if (!(null && value == @NULL@) && unlikely(!(objects[i] = @LOOKUP@)))
            return @ERROR@;
    }
    return err;
}
/* What the call set to NULL becomes the null handle. */
static inline void front_nulls_@SHORT@(@OBJ@ *const *objects, ABI_@SHORT@ *handles, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!objects[i])
            handles[i] = front_native_@SHORT@(@NULL@);
}
/* Handles for the objects a call has put into an array. */
static inline void front_handles_@SHORT@(@OBJ@ *const *objects, ABI_@SHORT@ *handles, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (objects[i])
            handles[i] = front_native_@SHORT@(MPIR_Object_handle(objects[i]));
}
"""

FILE_HEAD = """\
/* Generated from src/mpi/binding; do not edit.  @TITLE@ */
#include "front_abi.h"

@BODIES@

@FUNCTIONS@
"""

MUTANT_H = """\
/* A library to test the tests with: the body of the procedure that MUTATE_MPI names does nothing. */
static bool front_mutated(const char *name)
{
    const char *which = getenv("MUTATE_MPI");
    return which && strcmp(name, which) == 0;
}
"""

# A status is as many Fortran integers as C ints, in the same places.
STATUS_COPY = """\
    if (unlikely((uintptr_t)@SOURCE@ < FRONT_PAGE || (uintptr_t)@TARGET@ < FRONT_PAGE)) { /* MPI_STATUS_IGNORE, too */
        int err = MPIR_front_bad_pointer((uintptr_t)@SOURCE@ < FRONT_PAGE ? "@SOURCE@" : "@TARGET@");
        return @ERROR@(MPIR_front_fail(front_target(NULL), "@CALL@", err));
    }
    memmove(@TARGET@, @SOURCE@, sizeof(ABI_Status));
    return MPI_SUCCESS;"""

# Another name of a procedure.
ALSO = """\
FRONT_EXPORT @OTHER@ __attribute__((weak, alias("@NAME@")));
"""

FUNCTION = """\
FRONT_EXPORT @DECL@;
FRONT_EXPORT @WEAK@ __attribute__((weak, alias("@NAME@")));
@DECL@
{
@CODE@
}
"""

def abi_h(abi, maps):
    handles = [HANDLES[kind] for _, kind, _ in abi.handles]
    types = ["typedef %s ABI_%s;" % ("int" if struct == "int" else "struct %s *" % struct, HANDLES[kind].short)
             for _, kind, struct in abi.handles]
    types += ["typedef struct %s *%s;" % (struct, name.replace("MPI_", "ABI_")) for name, struct in abi.opaque]
    types += ["typedef struct %s %s;" % (h.obj, h.obj) for h in handles if h.obj != "MPIR_Request"]
    types = [t.replace("* ABI", "*ABI") for t in types]
    arrays = []
    for h in (HANDLES["REQUEST"], HANDLES["DATATYPE"], HANDLES["INFO"]):
        lookup = "MPIR_Object_of(MPIR_KIND_%s, value)" % h.kind
        error = "MPIR_front_bad_handle(MPIR_KIND_%s, false, value, arg, i)" % h.kind
        if h.kind == "REQUEST":
            lookup, error = "front_request(false, value, arg, i, &err)", "err"
        arrays.append(fill(ARRAY_IN, SHORT=h.short, OBJ=h.obj, NULL=h.null, LOOKUP=lookup, ERROR=error))
    head, count_in, count_out = COUNTS[abi.count]
    statuses = {}
    for field, family in (("SOURCE", "rank"), ("TAG", "tag"), ("ERROR", "error")):
        statuses[field + "_IN"] = maps.apply("in", family, "a->MPI_" + field)
        statuses[field + "_OUT"] = maps.apply("out", family, "s[i].MPI_ERROR" if field == "ERROR" else "s->MPI_" + field)
    # what a program has there need not be a code, and stays then
    changed = "" if maps.identical else "    if (s->MPI_ERROR != %s)\n    " % statuses["ERROR_IN"]
    statuses["ERROR_BACK"] = "%s    a->MPI_ERROR = %s;" % (changed, maps.apply("out", "error", "s->MPI_ERROR"))
    if maps.identical:
        coding = "\n".join(fill(CODING_POINTER, SHORT=h.short) for h in handles)
    elif abi.coding == "symbols":
        coding = gen_pointers.coding(maps)
    else:
        coding = "\n".join([gen_maps.CODING_HEAD, gen_maps.tables(maps, True)] +
                           [gen_maps.coding(maps, HANDLES[kind], ctype) for _, kind, ctype in abi.handles])
    coding += "".join(fill(CODING_KNOWN, SHORT=h.short, SLAB="REQUEST" if h.kind == "MESSAGE" else h.kind) for h in handles
                      if "front_known_%s(" % h.short not in coding)
    return fill(ABI_H, ABI=abi.name, TYPES="\n".join(types),
                STATUS_ATTRIBUTE=PACKED if abi.count == "ucount" else "", STATUS_FIELDS="\n".join("    %s;" % field_decl(n, t) for n, t in abi.status),
                CODING=coding, MAPS="" if maps.identical else maps.definitions() + gen_maps.VALUES_H + "\n", STATUS_HEAD=head,
                COUNT_IN=count_in, COUNT_OUT=count_out, ARRAYS="\n".join(arrays), NULL_REQUEST=HANDLES["REQUEST"].null, **statuses)


def indent(statements):
    return "".join("    " + line + "\n" for s in statements for line in s.split("\n"))


def returns(nulls, fail, how="return %s;"):
    """The end of a function: statements for a call that fails run before its error handler, which may not return."""
    if not nulls:
        return ["    " + how % ("likely(!err) ? MPI_SUCCESS : " + fail)]
    return ["    if (likely(!err))\n        " + how % "MPI_SUCCESS"] + nulls + ["    " + how % fail]


# Procedures that make an object, and are given its error handler: errors of the call are its, too.
GIVEN = {"Session_init": "SESSION", "Comm_create_from_group": "COMM", "Intercomm_create_from_groups": "COMM"}


class Front:
    """One function: the parts of its text, filled in parameter by parameter."""

    def __init__(self, proc, large, wide, abi, mutant):
        self.proc, self.large, self.wide, self.abi = proc, large, wide, abi
        self.decls, self.steps, self.checks, self.loads, self.args, self.after, self.frees = [], [], [], [], [], [], []
        self.late = []
        self.call = proc.name + ("_c" if large else "")
        self.names = {p.name: p for p in proc.params}
        self.mutant, self.uses_target = mutant, False
        # What completes requests records itself whose error it met (MPIR_Err_request).
        self.completes = proc.short.startswith(("Wait", "Test"))
        self.status_way = "back" if self.completes or proc.short.startswith("Request_get_status") else "out"
        self.picks = proc.short in ("Waitany", "Testany") # one of many: what others they find complete is noted
        self.comm = next((p for p in proc.params if p.kind.name in ("COMM", "COMM_INOUT") and not p.has("loose")), None)
        # Whose error handler it is: the one given for what is to be made, the communicator's, a window's, a session's, a group's.
        self.given = GIVEN.get(proc.short)
        kinds = ("WIN", "WIN_INOUT", "SESSION", "SESSION_INOUT", "GROUP", "GROUP_INOUT")
        if proc.chapter == "io": # a file's, or those of no file
            kinds = ("FILE", "FILE_INOUT")
        owners = sorted((kinds.index(p.kind.name), i) for i, p in enumerate(proc.params) if p.kind.name in kinds and not p.has("loose"))
        self.owner = self.comm if proc.chapter != "io" else None
        self.owner = self.owner or (proc.params[owners[0][1]] if owners else None)

    # -- conditions ------------------------------------------------------------------------------------------------

    def significance(self, p):
        """What must hold for the parameter to matter in this process."""
        parts = []
        for attr, text in (("root", "at_root"), ("leaf", "at_leaf"), ("any", "root != MPI_PROC_NULL")):
            if p.has(attr):
                parts.append(text)
        if p.has("inplace"):
            parts.append("%s != MPI_IN_PLACE" % p.arg("inplace"))
        if p.has("automatic"):
            parts.append("%s != MPI_BUFFER_AUTOMATIC" % p.arg("automatic"))
        if p.has("not-first"):
            parts.append("(%s_o->adi.rank > 0 || %s == MPI_IN_PLACE)" % (self.comm.name, p.arg("not-first")))
        return parts

    def condition(self, p):
        parts = self.significance(p)
        if p.has("each"): # what is needed often is looked at first
            parts.append("(uintptr_t)%s < FRONT_PAGE && %s" % (p.name, self.neighbors(p)))
        target = next((q.name for q in self.proc.params if q.kind.name == "WIN_RANK"), None)
        if target and p.kind.name in ("CBUFFER", "BUFFER"): # nothing of it is touched: bindings give NULL
            parts.append("(uintptr_t)%s < FRONT_PAGE && %s != MPI_PROC_NULL" % (p.name, target))
        return " && ".join(parts)

    def check(self, p, text):
        """Add a check made only when checks are on, where the parameter is significant."""
        cond = self.condition(p)
        self.checks.append("(%s(err = %s))" % (cond + " && " if cond else "", text))

    def check_late(self, p, text):
        """The same, after the arrays that it reads have been checked."""
        before, self.checks = self.checks, []
        self.check(p, text)
        self.late, self.checks = self.late + self.checks, before

    def step(self, p, text):
        """Add a test that is always made, where the parameter is significant; `text` is true on failure."""
        cond = self.condition(p)
        if cond:
            text = "%s && %s" % (cond, text)
        self.steps.append("    if (%s)\n        goto done;" % text)

    def length(self, p):
        n = p.arg("len")
        if n == "size":
            return "%s_o->adi.remote_size" % self.comm.name
        if n == "local":
            return "%s_o->adi.size" % self.comm.name
        if n == "neighbors":
            return self.neighbors(p)
        return n

    def neighbors(self, p):
        return "MPIR_front_neighbors(%s_o, %s)" % (self.comm.name, "true" if p.name.startswith("s") else "false")

    # -- one method a family of kinds ------------------------------------------------------------------------------

    def add(self, p):
        name, kind = p.name, p.kind.name
        if kind == "VARARGS":
            return
        if p.has("large-only") and not self.large:
            self.add_absent(p)
        elif p.kind.handle:
            self.add_handle(p)
        elif kind.startswith("STATUS"):
            self.add_status(p)
        elif kind == "FUNCTION":
            self.add_callback(p)
        elif p.kind.body == "MPIR_Counts":
            self.args.append("FRONT_COUNTS(%s)" % name)
            if p.has("len"):
                self.check(p, 'MPIR_front_check_counts(FRONT_COUNTS(%s), %s, "%s", "%s", %s)' %
                           (name, self.length(p), name, self.proc.name, self.narrow()))
        elif p.kind.body == "MPI_Count *" and kind not in ("COUNT64_OUT", "OFFSET_OUT", "COUNTS64_OUT") \
                or name in self.wide:
            self.add_count_out(p)
        else:
            self.args.append(name)
            self.add_plain_check(p)

    def add_absent(self, p):
        self.args.append("0" if p.kind.name == "COUNT" else "NULL")

    def narrow(self):
        return "false" if self.large or not self.proc.has("large") else "true"

    def add_plain_check(self, p):
        name, kind = p.name, p.kind.name
        comm = self.comm.name + "_o" if self.comm else None
        if kind in ("COUNT", "NUMBER", "AINT_COUNT"):
            self.check(p, 'check_count(%s, "%s", "%s", %s)' % (name, name, self.proc.name, self.narrow()))
        elif kind in ("RANK", "RANK_ANY", "RANK_IN") and comm:
            self.check(p, 'check_%s(%s, %s, "%s")' % (kind.lower(), comm, name, name))
        elif kind == "TAG":
            self.check(p, 'check_tag(%s, "%s")' % (name, name))
        elif kind == "TAG_ANY" and comm:
            self.check(p, 'check_tag_any(%s, %s, "%s")' % (comm, name, name))
        elif kind in ("INT_OUT", "INT_INOUT", "AINT_OUT", "COUNT64_OUT", "OFFSET_OUT", "POINTER_OUT", "STRING") \
                or kind == "STRING_OUT" and self.proc.chapter not in ("info", "session"):
            self.check(p, 'check_pointer(%s, "%s")' % (name, name))
        elif kind == "INTS_OUT" and p.has("len"):
            self.check(p, '%s <= 0 ? MPI_SUCCESS : check_pointer(%s, "%s")' % (self.length(p), name, name))
        elif kind in ("BUFFER", "CBUFFER") and p.has("of"):
            self.add_buffer_check(p)

    def add_buffer_check(self, p):
        name, of = p.name, p.arg("of").split(",")
        if p.has("inplace") and p.has("leaf"):
            self.checks.append('(%s == MPI_IN_PLACE && !at_root && (err = MPIR_front_bad_in_place(%s_o, "%s")))' %
                               (name, self.comm.name, name))
        if len(of) == 1:
            self.check(p, 'check_bytes(%s, %s, "%s")' % (name, of[0], name))
            return
        count, ctype = of
        if count == "1" or self.names[count].kind.name == "COUNT":
            self.check(p, 'check_buffer(%s, %s, %s_o, "%s")' % (name, count, ctype, name))
            return
        text = 'check_buffers(%s, &(struct front_data)%s, "%s")' % (name, self.blocks(p), name)
        if p.has("mine"):
            own = 'check_buffer(%s, MPIR_counts_get(FRONT_COUNTS(%s), %s_o->adi.rank), %s_o, "%s")' % (name, count, self.comm.name, ctype, name)
            text = "%s == MPI_IN_PLACE ? %s : %s" % (p.arg("mine"), text, own)
        self.check_late(p, text)

    def apart(self):
        """Of a procedure that reads one buffer of a type and fills another: they must not be the same memory.  (MPI_Sendrecv copies.)"""
        buffers = {kind: [p for p in self.proc.params if p.kind.name == kind and "," in str(p.arg("of"))]
                   for kind in ("CBUFFER", "BUFFER")}
        if not all(buffers.values()) or self.proc.chapter == "rma":
            return
        read, filled = buffers["CBUFFER"][0], buffers["BUFFER"][0]
        if self.proc.chapter == "pt2pt":
            return
        conditions = ["unlikely(%s == %s)" % (read.name, filled.name)] + self.significance(read) + self.significance(filled)
        in_place = next((p.name for p in (read, filled) if p.has("inplace") and p.arg("inplace") == p.name), None)
        self.late.append('(%s &&\n                  (err = MPIR_front_check_apart(%s, &(struct front_data)%s,\n'
                         '                                                &(struct front_data)%s, "%s", "%s", %s)))' %
                         (" && ".join(dict.fromkeys(conditions)), read.name, self.data(read), self.data(filled), read.name, filled.name,
                          '"%s"' % in_place if in_place else "NULL"))

    def blocks(self, p):
        """What of a buffer with an array of counts is read or filled, as an initializer of struct front_data."""
        count, ctype = p.arg("of").split(",")
        displs = next((d for d in ("displs", p.name[0] + "displs") if d in self.names), None)
        return "{ .n = %s, .counts = FRONT_COUNTS(%s)%s, .%s = %s_o }" % (
            self.length(self.names[count]), count, ", .displs = FRONT_COUNTS(%s)" % displs if displs else "",
            "type" if self.names[ctype].kind.name == "DATATYPE_USE" else "types", ctype)

    def data(self, p):
        """The same of any buffer."""
        count, ctype = p.arg("of").split(",")
        if self.names[count].kind.name == "COUNT":
            return "{ .n = %s, .count = %s, .type = %s_o }" % (self.neighbors(p) if p.has("each") else "1", count, ctype)
        if any(q.has("mine") for q in self.proc.params): # what is written is the first part of what may be read
            return "{ .n = 1, .count = MPIR_counts_get(FRONT_COUNTS(%s), %s_o->adi.rank), .type = %s_o }" % (count, self.comm.name, ctype)
        return self.blocks(p)

    def nulls(self):
        """Statements for a call that fails: what it was to put a handle into gets the null handle.  Arrays are left alone: their length is
        what the caller allows, which may be more than it has."""
        outs = [p for p in self.proc.params if p.kind.handle and p.kind.name.endswith("_OUT") and not p.has("len")]
        null = "    if (%s)\n        *%s = front_native_%s(%s);"
        return [null % (p.name, p.name, p.kind.handle.short, p.kind.handle.null) for p in outs]

    def add_count_out(self, p):
        name = p.name
        if self.large and p.kind.large.startswith("MPI_Count"):
            self.args.append(name)
            self.check(p, 'check_pointer(%s, "%s")' % (name, name))
            return
        ctype = p.decl(self.large).split(" *")[0]
        self.decls.append("MPI_Count %s_v = 0;" % name)
        self.args.append("&%s_v" % name)
        self.check(p, 'check_pointer(%s, "%s")' % (name, name))
        if p.kind.name.endswith("INOUT"):
            self.loads.append("    %s_v = *%s;" % (name, name))
        if ctype != "int":
            self.after.append("    if (!err)\n        *%s = (%s)%s_v;" % (name, ctype, name))
        elif p.has("undefined"):
            self.after.append("    if (!err)\n        *%s = %s_v > INT_MAX ? MPI_UNDEFINED : (int)%s_v;" % (name, name, name))
        else:
            self.after.append('    if (!err && unlikely(%s_v > INT_MAX))\n        err = MPIR_front_too_large(%s_v, "%s", call);\n'
                              "    else if (!err)\n        *%s = (int)%s_v;" % (name, name, name, name, name))

    def lookup(self, h, value, name):
        if h.obj == "MPIR_Request":
            return 'front_request(%s, %s, "%s", -1, &err)' % ("true" if h.kind == "MESSAGE" else "false", value, name)
        if h.kind == "COMM" and self.proc.has("early"):
            return 'front_comm_early(%s, "%s", &err)' % (value, name)
        if h.kind in ("COMM", "WIN", "FILE") and self.proc.has("revoked"):
            return 'front_revoked(MPIR_KIND_%s, %s, "%s", &err)' % (h.kind, value, name)
        return 'front_object(MPIR_KIND_%s, %s, "%s", &err)' % (h.kind, value, name)

    def add_handle(self, p):
        h, name, kind = p.kind.handle, p.name, p.kind.name
        if kind.startswith(("REQUESTS", "DATATYPES", "INFOS")):
            self.add_handle_array(p)
            return
        self.decls.append("%s *%s_o = NULL;" % (h.obj, name))
        if kind.endswith("_OUT"):
            self.args.append("&%s_o" % name)
            self.check(p, 'check_pointer(%s, "%s")' % (name, name))
            self.after.append("    if (!err)\n        *%s = front_native_%s(front_handle(%s_o, %s));" %
                              (name, h.short, name, h.null))
            return
        inout = kind.endswith("_INOUT")
        value = "front_value_%s(%s%s)" % (h.short, "*" if inout else "", name)
        if inout:
            self.step(p, 'unlikely((err = check_pointer(%s, "%s")))' % (name, name))
        if p.has("loose"):
            self.steps.append("    %s_o = MPIR_Object_of(MPIR_KIND_%s, %s);" % (name, h.kind, value))
        else:
            null = "%s != %s && " % (value, h.null) if p.has("null") else ""
            none = "!(%s_o = %s)" % (name, self.lookup(h, value, name))
            if kind == "DATATYPE_USE" and self.proc.chapter == "pt2pt" and self.peers(p):
                none += " &&\n        !(%s_o = MPIR_front_no_data(%s == %s, %s, %s, &err))" % (
                    name, value, h.null, name.replace("type", "count").replace("datacount", "count"), self.peers(p))
            self.step(p, "%sunlikely(%s)" % (null, none))
        self.args.append(("&%s_o" if inout else "%s_o") % name)
        if inout:
            # one that is still there keeps the name that the program has for it, which may be one of several
            self.after.append("    if (!%s_o)\n        *%s = front_native_%s(%s);" % (name, name, h.short, h.null))
        if p is self.owner and self.given:
            self.steps.append("    if (!target.object)\n        target = front_target(%s_o);" % name)
        if p is self.owner and inout: # the call may free it
            self.uses_target = True
            self.steps.append("    target = front_target(%s_o);" % name)
        if p is self.comm:
            if "root" in self.names:
                self.steps.append("    if (MPIR_ENV(check_args) && unlikely((err = check_root(%s_o, root))))\n"
                                  "        goto done;" % name)
        elif h.obj == "MPIR_Request" and not self.comm and not self.completes:
            self.uses_target = True
            self.steps.append("    target = front_target_request(%s_o);" % name)
        if kind == "DATATYPE_USE":
            self.check(p, 'check_committed(%s_o, "%s")' % (name, name))

    def add_handle_array(self, p):
        h, name, kind = p.kind.handle, p.name, p.kind.name
        n = self.length(p)
        self.decls.append("%s *%s_small[FRONT_SMALL], **%s_o = NULL;" % (h.obj, name, name))
        self.frees.append("    front_free(%s_o, %s_small);" % (name, name))
        if n in self.names:
            self.step(p, 'unlikely((err = check_count(%s, "%s", "%s", %s)))' % (n, n, self.proc.name, self.narrow()))
        self.step(p, 'unlikely(!(%s_o = front_alloc(%s_small, sizeof *%s_o, %s, "%s", &err)))' %
                  (name, name, name, n, name))
        self.args.append("%s_o" % name)
        if kind.endswith("S_OUT"):
            self.loads.append("    front_clear((void **)%s_o, %s);" % (name, n))
            self.after.append("    if (!err)\n        front_handles_%s(%s_o, %s, %s);" % (h.short, name, name, n))
            return
        types = kind == "DATATYPES_USE"
        self.step(p, 'unlikely((err = front_objects_%s(%s, %s_o, %s, %s, "%s")))' %
                  (h.short, name, name, n, "true" if p.has("null") or types else "false", name))
        if types:
            self.step(p, 'unlikely((err = MPIR_front_types_of_some(%s_o, FRONT_COUNTS(%s), %s, "%s")))' %
                      (name, name.replace("types", "counts"), n, name))
            self.check(p, 'MPIR_front_check_types(%s_o, %s, "%s")' % (name, n, name))
        if kind == "REQUESTS_INOUT":
            self.after.append("    front_nulls_%s(%s_o, %s, %s);" % (h.short, name, name, n))
        if kind.startswith("REQUESTS") and not self.completes:
            self.uses_target = True
            self.steps.append("    target = front_target_requests(%s_o, %s);" % (name, n))

    def add_status(self, p):
        name, kind = p.name, p.kind.name
        if kind == "STATUSES_OUT":
            n = self.length(p)
            self.decls.append("MPIR_Status %s_small[FRONT_SMALL], *%s_o = NULL;" % (name, name))
            self.frees.append("    front_free(%s_o, %s_small);" % (name, name))
            self.step(p, '%s && unlikely(!(%s_o = front_alloc(%s_small, sizeof *%s_o, %s, "%s", &err)))' %
                      (name, name, name, name, n, name))
            if "outcount" in self.names:  # as many as are complete are looked at: there may be no more
                n = "err && err != MPI_ERR_IN_STATUS ? 0 : *outcount"
            else:
                self.loads.append("    if (%s_o)\n        front_statuses_in(%s_o, %s, %s);" % (name, name, name, n))
            out = "out" if "outcount" in self.names else "back"
            self.after.append("    if (%s_o)\n        front_statuses_%s(%s_o, %s, %s, err == MPI_ERR_IN_STATUS);" %
                              (name, out, name, name, n))
            self.args.append("%s_o" % name)
            return
        self.decls.append("MPIR_Status %s_o;" % name)
        if kind == "STATUS_OUT":
            self.loads.append("    if (%s)\n        front_status_in(&%s_o, %s);" % (name, name, name))
            self.after.append("    if (%s)\n        front_status_%s(&%s_o, %s);" % (name, self.status_way, name, name))
            self.args.append("%s ? &%s_o : NULL" % (name, name))
            return
        self.step(p, 'unlikely((err = check_pointer(%s, "%s")))' % (name, name))
        self.loads.append("    front_status_in(&%s_o, %s);" % (name, name))
        self.args.append("&%s_o" % name)
        if kind == "STATUS_INOUT":
            self.after.append("    front_statuses_out(&%s_o, %s, 1, true);" % (name, name))

    def add_callback(self, p):
        large = self.large and p.kind.small != p.kind.large
        extra = "extra_state" if "extra_state" in self.names else "NULL"
        self.args.append("(MPIR_Callback){ %s, %s, %s, front_abi_of(&MPIR_Abi_%s) }" %
                         (p.name, "MPIR_CALL_LARGE" if large else "MPIR_CALL_SMALL", extra, self.abi.name))
        if self.proc.chapter in ("op", "errhan", "ext"):
            self.check(p, 'check_pointer((const void *)%s, "%s")' % (p.name, p.name))

    # -- putting it together ---------------------------------------------------------------------------------------

    def peers(self, p):
        """What says that there is nobody to send data of the type to, or to have them from; None: that can't be said."""
        names = {"sendtype": ("dest",), "recvtype": ("source",)}.get(p.name, ("dest", "source"))
        peers = ["%s == MPI_PROC_NULL" % n for n in names if n in self.names and self.names[n].kind.name in ("RANK", "RANK_ANY")]
        if "message" in self.names:
            peers = ["message && front_value_Message(*message) == KEEL_MPI_MESSAGE_NO_PROC"]
        return " && ".join(peers) or None

    def order(self):
        """First what errors go to (a communicator: conditions need it, too); then the rest as they come."""
        return [self.owner] + [p for p in self.proc.params if p is not self.owner] if self.owner else self.proc.params

    def code(self):
        args = {}
        if self.given:
            self.uses_target = True
            self.steps.append("    target = MPIR_front_given(MPIR_Object_of(MPIR_KIND_ERRHANDLER, front_value_Errhandler(errhandler)),\n"
                              "                              MPIR_KIND_%s);" % self.given)
        for p in self.order():
            at = len(self.args)
            self.add(p)
            args[p.name] = self.args[at:]
        self.apart()
        ordered = [a for p in self.proc.params for a in args[p.name]]
        if self.proc.has("tells-large"):
            ordered.append("true" if self.large else "false")
        call = "MPIR_%s(%s)" % (self.body, ", ".join(ordered))
        if self.mutant:
            call = 'front_mutated("%s") ? 0 : %s' % (self.proc.name, call)
        if self.proc.returns != "int":
            return "    return %s;" % call
        target = "target" if self.uses_target else "front_target(%s)" % (self.owner.name + "_o" if self.owner else "NULL")
        lines = ['    static const char call[] = "%s";' % self.call, "    int err = MPI_SUCCESS;"] + \
            ["    struct front_target target = { NULL, 0 };"] * self.uses_target + ["    " + d for d in self.decls] + [""]
        nulls = self.nulls()
        if not self.proc.has("always"):
            lines.append("    if (unlikely(%s)) {\n%s        return MPIR_Err_state(call);\n    }" %
                         ("MPIR_ENV(phase) != MPIR_RUNNING" if self.proc.has("world") else "!MPIR_ENV(up)", indent(nulls)))
        steps = self.steps
        if any(p.has("root") or p.has("leaf") for p in self.proc.params):
            rooted = [s for s in steps if s.startswith("    if (MPIR_ENV(check_args) && unlikely((err = check_root")]
            at = steps.index(rooted[0]) + 1
            steps.insert(at, "    at_root = front_is_root({0}_o, root);\n    at_leaf = front_is_leaf({0}_o, root);\n"
                             "    (void)at_leaf;".format(self.comm.name))
            lines.insert(2, "    bool at_root = false, at_leaf = false;")
        if self.picks:
            lines += ["    int noted = front_noted(array_of_requests, count);",
                      "    const ABI_Request *all = array_of_requests;",
                      "    if (noted >= 0) {\n        array_of_requests += noted;\n        count = 1;\n    }"]
            self.after += ["    if (noted >= 0 && *indx == 0)\n        *indx = noted;\n    else\n        MPIR_Any_of(all);"]
        lines += steps
        checks = self.checks + self.late
        if checks:
            lines.append("    if (likely(MPIR_ENV(check_args)) &&\n        unlikely(%s))\n        goto done;" %
                         (" ||\n                 ".join(checks)))
        counted = gen_refused.counted(self) and any("goto done" in line for line in lines)
        if counted:
            lines.insert(2, "    bool refused = true;")
        lines += self.loads + ["    refused = false;"] * counted + ["    err = %s;" % call] + self.after
        if any("goto done" in line for line in lines):
            lines.append("done:")
        if counted:
            lines.append(gen_refused.code(self, args))
        fail = "MPIR_front_fail(%s, call, err)" % target if self.proc.chapter != "io" else "MPIR_front_fail_file(%s, call, err)" % target
        lines += self.frees + returns(nulls, fail)
        return "\n".join(lines)


class ToolFront:
    """A procedure of MPI_T: errors go to nobody but the caller, and nearly every pointer may be NULL, so its body checks them.

    The handles of MPI_T are passed on as numbers, which the body looks up."""

    def __init__(self, proc, mutant):
        self.proc, self.mutant = proc, mutant
        self.before, self.args, self.after = [], [], []

    def add(self, p):
        name, kind = p.name, p.kind.name
        local = name + "_o"
        if kind == "TOOL":
            self.add_tool(p)
        elif kind == "FUNCTION":
            data = "user_data" if any(q.name == "user_data" for q in self.proc.params) else "NULL"
            self.args.append("(MPIR_Callback){ .fn = %s, .extra_state = %s }" % (name, data))
        elif kind == "INFO":
            self.before += ["MPIR_Info *%s = NULL;" % local,
                            "if (front_value_Info(%s) != KEEL_MPI_INFO_NULL &&\n"
                            "        !(%s = MPIR_Object_of(MPIR_KIND_INFO, front_value_Info(%s))))\n"
                            "        return MPI_T_ERR_INVALID;" % (name, local, name)]
            self.args.append(local)
        elif kind in ("INFO_OUT", "DATATYPE_OUT"):
            h = p.kind.handle
            self.before.append("%s *%s = NULL;" % (h.obj, local))
            self.args.append("%s ? &%s : NULL" % (name, local))
            self.after.append("if (%s)\n        *%s = front_native_%s(MPIR_Object_handle(%s));" %
                              (local, name, h.short, local))
        elif kind == "DATATYPES_OUT":
            self.before.append("MPIR_Datatype *%s[FRONT_SMALL] = { NULL };" % local)
            self.args.append("%s ? %s : NULL" % (name, local))
            self.after.append("for (int i = 0; i < FRONT_SMALL && %s[i]; i++)\n"
                              "        %s[i] = front_native_Datatype(MPIR_Object_handle(%s[i]));" % (local, name, local))
        else:
            self.args.append(name)

    def add_tool(self, p):
        name, local, ctype = p.name, p.name + "_o", abi_type(p.kind.small.replace("%", "")).strip()
        if not ctype.endswith("*"):
            self.args.append(name if ctype == "int" else "(MPIR_T_handle)%s" % name)
            return
        base = ctype[:-1].strip()
        inner, outer = ("int", "") if base == "int" else ("MPIR_T_handle", "(%s)" % base)
        self.before.append("%s %s = %s ? (%s)*%s : 0;" % (inner, local, name, inner, name))
        self.args.append("%s ? &%s : NULL" % (name, local))
        self.after.append("if (%s && !err)\n        *%s = %s%s;" % (name, name, outer, local))

    def code(self):
        for p in self.proc.params:
            self.add(p)
        call = "MPIR_%s(%s)" % (self.proc.short, ", ".join(self.args))
        if self.mutant:
            call = 'front_mutated("%s") ? 0 : %s' % (self.proc.name, call)
        lines = ["if (!MPIR_T_users)\n        return MPI_T_ERR_NOT_INITIALIZED;"] * (self.proc.short != "T_init_thread")
        lines += self.before + ["int err = %s;" % call] + self.after + ["return err;"]
        return "\n".join("    " + line for line in lines)


# What must hold for the short way of a hot procedure, by kind: {0} is the parameter, {1} the communicator's object.
SHORT = {
    "BUFFER": "(uintptr_t){0} >= FRONT_PAGE", "CBUFFER": "(uintptr_t){0} >= FRONT_PAGE", "COUNT": "{0} >= 0",
    "RANK": "(uint32_t){0} < (uint32_t){1}->adi.remote_size", "TAG": "{0} >= 0",
    "RANK_ANY": "((uint32_t){0} < (uint32_t){1}->adi.remote_size || check_any_source({1}, {0}))",
    "TAG_ANY": "({0} >= 0 || check_any_tag({1}, {0}))", "COMM": "{0}_o", "DATATYPE_USE": "{0}_o && {0}_o->adi.is_committed",
    "REQUEST_OUT": "{0}", "REQUEST_INOUT": "{0}_o && {0}_o->handle_type != MPIR_MESSAGE", "INT_OUT": "{0}", "STATUS_OUT": None,
    "REQUEST": "{0}_o && {0}_o->handle_type != MPIR_MESSAGE", "INT": None,
    "WIN": "{0}_o", "OP": "{0}_o", "WIN_RANK": None, "AINT": None, "CPOINTER": None,
}


# Bodies that have a short way of their own for contiguous data (front.h).
DIRECT = {"Send": "Send", "Rsend": "Send", "Recv": "Recv", "Isend": "Isend", "Irsend": "Isend", "Irecv": "Irecv"}


# Procedures whose short way does all that is to be done, or nothing (front.h): a load or store of a window.
NEAR = ("Put", "Get", "Accumulate", "Fetch_and_op", "Compare_and_swap", "Win_flush")


# Procedures that take no lock: what ends the job must not wait for anybody, and these read what does not change.
FREE = ("Abort", "Comm_rank", "Comm_size", "Comm_remote_size", "Comm_test_inter", "Get_address", "Get_version",
        "Initialized", "Finalized", "Query_thread", "Is_thread_main", "Test_cancelled", "Status_get_source",
        "Status_get_tag", "Status_get_error")


def short_way(front):
    """The code of a hot procedure when nothing is unusual: few branches, and no call but the body's.  It ends with true and the value in
    *value, or with false, and nothing done, where something is unusual.  MPIR_env.brief holds, and the lock is taken where there is one."""
    proc, call = front.proc, front.call
    if proc.short == "Waitall":
        return "    *value = MPI_SUCCESS;\n    return likely(front_waitall(%s));" % ", ".join(p.name for p in proc.params)
    decls, conds, args, after = [], [], [], []
    comm = front.comm.name + "_o" if front.comm else None
    for p in front.order():
        h, name, kind = p.kind.handle, p.name, p.kind.name
        if kind not in SHORT:
            raise Bad("%s is marked hot, but there is no short way for a %s" % (proc, kind))
        if SHORT[kind]:
            conds.append(SHORT[kind].format(name, comm))
        if h and kind != "REQUEST_OUT":
            known = "front_known_%s(%s%s)" % (h.short, "*" if kind.endswith("INOUT") else "", name)
            if kind.endswith("INOUT"):
                known = "%s ? %s : NULL" % (name, known)
            decls.append("%s *%s_o = %s;" % (h.obj, name, known))
    for p in proc.params:
        h, name, kind = p.kind.handle, p.name, p.kind.name
        args.append("&%s_o" % name if kind.startswith("REQUEST_") else name + "_o" if h else name)
        if kind == "REQUEST_OUT":
            decls.append("MPIR_Request *%s_o = NULL;" % name)
            after.append("    if (likely(!err))\n        *%s = front_native_Request(MPIR_Object_made_handle(MPIR_KIND_REQUEST, %s_o));" % (name, name))
        elif kind == "REQUEST_INOUT":
            after.append("    if (likely(!%s_o))\n        *%s = front_native_Request(%s);" % (name, name, h.null))
        elif kind == "STATUS_OUT":
            decls.append("MPIR_Status %s_o;" % name)
            args[-1] = "%s ? &%s_o : NULL" % (name, name)
            after.append("    if (%s)\n        front_status_%s(&%s_o, %s);" % (name, front.status_way, name, name))
    known, there, left = [], set(), conds
    for d in [None] + decls: # each is looked at as early as can be
        if d:
            known.append("    " + d)
            there.add(re.search(r"(\w+_o)\b", d).group(1))
        now = [c for c in left if set(re.findall(r"\w+_o\b", c)) <= there]
        left = [c for c in left if c not in now]
        if now:
            known.append("    if (unlikely(!(%s)))\n        return false;" % " &&\n                   ".join(now))
    if proc.short in NEAR:
        return "\n".join(known + ["    *value = MPI_SUCCESS;", "    return likely(front_%s(%s));" % (proc.short, ", ".join(args))])
    requests = [p.name + "_o" for p in proc.params if p.kind.name in ("REQUEST", "REQUEST_INOUT")]
    target = "front_target(%s)" % (comm or "NULL")
    if requests and not comm and not front.completes:
        target = "front_target_request(%s)" % requests[0]
    before = ["    if (%s)\n        front_status_in(&%s_o, %s);" % (p.name, p.name, p.name)
              for p in proc.params if p.kind.name == "STATUS_OUT"]
    end = returns(front.nulls(), 'MPIR_front_fail_here(%s, "%s", err)' % (target, call), "return *value = %s, true;")
    return "\n".join(known + before + [
        "    int err = %s(%s);" % ("front_" + DIRECT[proc.short] if proc.short in DIRECT else "MPIR_" + front.body, ", ".join(args))] + after + end)


ALONE = "    FRONT_ALONE\n"
BEGINS = "    FRONT_BEGINS\n"
SILENT = "    FRONT_SILENT\n" # what any thread may call at every level (12.4.1)
BEGINNERS = ("Init", "Init_thread", "Win_create", "Win_create_dynamic", "Win_allocate", "Win_allocate_shared")
TOOL_ALONE = "    int entered __attribute__((cleanup(front_leave_silently), unused)) = front_enter_tool(%s);\n"


def entering(proc):
    if proc.short in FREE or proc.returns != "int":
        return ""
    return BEGINS if proc.short in BEGINNERS else SILENT if proc.has("always") else ALONE


def beside(front):
    """What a short message's way is, or a partition's, while other threads may call: no lock."""
    if front.proc.short == "Pready":
        return """\
    if (MPIR_ENV(beside)) {
        MPIR_Request *r = front_made_Request(request);
        if (MPIR_ENV(brief) && r && MPIR_Pready_beside(partition, r))
            return MPI_SUCCESS;
    }
"""
    form = DIRECT.get(front.proc.short)
    if form not in ("Send", "Isend", "Irecv"):
        return ""
    names, conds = [], []
    for p in front.proc.params:
        if SHORT[p.kind.name] and p.kind.name not in ("COMM", "DATATYPE_USE"):
            conds.append(SHORT[p.kind.name].format(p.name, "c"))
        names.append({"COMM": "c", "DATATYPE_USE": "t"}.get(p.kind.name, p.name))
    code = fill("""\
    if (MPIR_ENV(beside)) {
        MPIR_Comm *c = KU_BIAS_IN_FORCE ? NULL : front_known_Comm(comm);
        MPIR_Datatype *t = c ? front_known_Datatype(datatype) : NULL;
        if (c && t && t->adi.is_committed && @CONDS@) {
""", CONDS=" && ".join(conds))
    if form == "Send":
        return code + fill("""\
            if (front_Send_beside(@ARGS@))
                return MPI_SUCCESS;
        }
    }
""", ARGS=", ".join(names))
    return code + fill("""\
            MPIR_Request *r = MPIR_ENV(brief) ? front_@FORM@_beside(@ARGS@) : NULL;
            if (r) {
                *request = front_native_Request(MPIR_Object_made_handle(MPIR_KIND_REQUEST, r));
                return MPI_SUCCESS;
            }
        }
    }
""", FORM=form, ARGS=", ".join(names[:-1]))


def filling(front):
    """What a call does with the lock for the next ones without it."""
    return "    if (locked)\n        MPIR_Reserve_fill();\n" if DIRECT.get(front.proc.short) in ("Isend", "Irecv") else ""


def conversion(proc, abi=None, maps=None):
    """MPI_X_toint, _fromint, _c2f and _f2c need no body; (code, handle) or None."""
    if re.match(r"Status_(c|f|f08)2", proc.short):
        source, target = proc.params[0].name, proc.params[1].name
        error = maps and maps.function("out", "error") or ""
        return fill(STATUS_COPY, CALL=proc.name, SOURCE=source, TARGET=target, ERROR=error), None
    m = re.match(r"(\w+)_(toint|fromint|c2f|f2c)$", proc.short)
    if not m:
        return None
    h = next(h for h in HANDLES.values() if h.short == {"Type": "Datatype"}.get(m.group(1), m.group(1)))
    arg = proc.params[0].name
    if m.group(2) in ("toint", "c2f"): # the low half: kind and index, or a predefined handle's value
        if abi and abi.name != "standard": # an int as it is, or the low half of a pointer
            return "    return FRONT_INTEGER(%s);" % arg, h
        return "    return (int)(uint32_t)front_value_%s(%s);" % (h.short, arg), h
    if abi and abi.coding == "symbols":
        return "    return front_of_integer_%s(%s);" % (h.short, arg), h
    if abi and "int" in [ctype for _, k, ctype in abi.handles if k == h.kind]:
        return "    return %s;" % arg, h
    kind = "REQUEST" if h.kind == "MESSAGE" else h.kind
    return "    return front_native_%s(MPIR_Object_handle_of_int(MPIR_KIND_%s, %s, %s));" % \
        (h.short, kind, arg, h.null), h


HOT = """\
static inline __attribute__((always_inline)) bool short_@CALL@(@DECLS@, int *value)
{
@SHORT@
}

static FRONT_COLD @SLOW@
{
@CODE@
}

@TOLD@/* Beside other threads, unless the lock is biased to this one; or where something is unusual. */
static __attribute__((noinline)) @OTHER@
{
    int value = MPI_SUCCESS;
    if (unlikely(MPIR_ENV(listened)))
        return told_@CALL@(@ARGS@);
@BESIDE@\
    MPID_Call_name = "@CALL@"; /* the stack has no symbol for this part */
    int locked = MPIR_Enter();
@FILLING@\
    if (!MPIR_ENV(brief) || unlikely(!short_@CALL@(@ARGS@, &value)))
        value = slow_@CALL@(@ARGS@);
    front_leave(&locked);
    return value;
}

"""
EXPORTED = """\
    int value = MPI_SUCCESS;
    if (!MPIR_PLAIN && !front_take_seat())
        return other_@CALL@(@ARGS@);
    if (unlikely(!short_@CALL@(@ARGS@, &value)))
        value = slow_@CALL@(@ARGS@);
    if (!MPIR_PLAIN)
        front_leave_seat();
    return value;"""


TELLING_HOT = """\
    int told_value = MPI_SUCCESS;
    if (!MPIR_ENV(brief) || unlikely(!short_@CALL@(@ARGS@, &told_value)))
        told_value = slow_@CALL@(@ARGS@);"""


def hot_function(proc, large, front, wrapper):
    """The slow form does everything; the exported one tries the short way first, and so does another one beside other threads."""
    call, args = front.call, ", ".join(p.name for p in proc.params)
    proto = abi_type(proc.prototype("", large))
    forms = {prefix.upper(): proto.replace(" " + call, " %s_%s" % (prefix, call)) for prefix in ("slow", "other")}
    code = front.code().replace("\n\n", "\n\n    MPID_Call_name = call; /* the stack has no symbol for this part */\n", 1)
    told = gen_calls.telling(proc, large, front.abi, fill(TELLING_HOT, CALL=call, ARGS=args))
    return fill(HOT, CALL=call, TOLD=told, DECLS=proto[proto.index("(") + 1:proto.rindex(")")], SHORT=short_way(front), ARGS=args, CODE=ALONE + code,
                BESIDE=beside(front), FILLING=filling(front), **forms) + function(proc, large, fill(EXPORTED, CALL=call, ARGS=args), wrapper)


TELLING_COLD = """\
    MPIR_Call_pass = true;
    int told_value = @INNER@(@ARGS@);"""


def function(proc, large, code, wrapper=None, abi=None):
    """abi: listeners are told of its calls, here."""
    name = proc.name + ("_c" if large else "")
    inner = told = ""
    wrapped = wrapper and wrapper.needed
    if abi and gen_calls.is_told(proc):
        inner = "static %s;\n\n" % gen_calls.proto(proc, large)
        if not wrapped: # the exported name could be another library's
            told = "\nstatic %s __attribute__((alias(\"P%s\")));\n" % (
                abi_type(proc.prototype("", large)).replace(" " + name + "(", " own_" + name + "("), name)
        code = gen_calls.check(proc, large) + code
        told += "\n" + gen_calls.telling(proc, large, abi, fill(TELLING_COLD, INNER=("native_" if wrapped else "own_") + name,
                                                               ARGS=", ".join(p.name for p in proc.visible(large)))).rstrip("\n") + "\n"
    if wrapped:
        inner += "static %s\n{\n%s\n}\n\n" % (abi_type(proc.prototype("", large)).replace(" " + name, " native_" + name), code.rstrip("\n"))
        code = wrapper.code("native_%s(%%s)" % name)
    return inner + fill(FUNCTION, DECL=abi_type(proc.prototype("P", large)), WEAK=abi_type(proc.prototype("", large)),
                        NAME="P" + name, CODE=code) + told


def also(proc, abi):
    """The procedure under the other names that the ABI has for it."""
    names = [other for other, name in abi.also if name == proc.name]
    return [fill(ALSO, OTHER=abi_type(proc.prototype(prefix)).replace(prefix + proc.name + "(", prefix + other + "("), NAME="P" + proc.name)
            for other in names for prefix in ("", "P")]


def exported(api, bodies):
    """The procedures to export: those with a body, and the conversions of kinds that some body makes."""
    made = {p.kind.handle.kind for proc in api.procs if proc.name in bodies for p in proc.params
            if p.kind.handle and p.kind.name.endswith(("_OUT", "_INOUT"))}
    result = []
    for proc in api.procs:
        conv = conversion(proc)
        if proc.name in bodies or (conv and (not conv[1] or conv[1].kind in made)):
            result.append(proc)
    return result


# A program of another ABI was linked with a library that has it: it loads, and is told at the call.
ABSENT = """\
@UNUSED@\
    return @ERROR@(MPIR_front_fail(front_target(NULL), "@CALL@", MPIR_front_absent()));"""


def absent(chapter, api, bodies, maps):
    """The entry points of what has no body yet."""
    here = set(exported(api, bodies))
    code = {"ERROR": maps.function("out", "error") or ""}
    return [function(proc, large, fill(ABSENT, CALL=proc.name + "_c" * large, UNUSED="".join("    (void)%s;\n" % p.name for p in proc.visible(large)), **code))
            for proc in api.procs if proc.chapter == chapter and proc not in here and proc.has("since") and proc.returns == "int"
            for large in (False, True)[:1 + proc.has("large")]]


def chapter_c(chapter, api, bodies, abi, maps=None, mutant=False):
    maps = maps or gen_maps.Maps(abi, abi)
    protos, functions = [], []
    for proc in exported(api, bodies):
        if proc.chapter != chapter:
            continue
        body = bodies.get(proc.name)
        if not body:
            code = conversion(proc, abi, maps)[0]
            if mutant:
                code = code.replace("    return ", '    return front_mutated("%s") ? 0 : ' % proc.name) if "memmove" not in code \
                    else '    if (front_mutated("%s"))\n        return MPI_SUCCESS;\n%s' % (proc.name, code)
            functions.append(function(proc, False, code))
            continue
        wide = match(proc, body)
        protos.append(body.prototype())
        for large in (False, True):
            if large and not proc.has("large"):
                continue
            wrapper = gen_maps.Wrapper(proc, large, maps)
            if proc.short.startswith("T_"):
                functions.append(function(proc, False, TOOL_ALONE % ("true" if proc.short in ("T_init_thread", "T_finalize") else "false") + ToolFront(proc, mutant).code(), wrapper))
                continue
            front = Front(proc, large, wide, abi, mutant)
            front.body = body.name
            functions.append(hot_function(proc, large, front, wrapper) if proc.has("hot") and not mutant else
                             function(proc, large, entering(proc) + front.code(), wrapper, None if proc.short in FREE else abi))
        functions += also(proc, abi)
    if not maps.identical:
        functions += absent(chapter, api, bodies, maps)
    extra = MUTANT_H if mutant and functions else ""
    return fill(FILE_HEAD, TITLE="MPI: %s." % api.chapters[chapter], BODIES=extra + "\n".join(sorted(set(protos))),
                FUNCTIONS="\n".join(functions))
