# SPDX-License-Identifier: BSD-3-Clause
"""Between one ABI's constants and the library's own, which are the Standard ABI's (mpi_const.h).

A family is what parameters of one meaning may be.  It has a function in (what a program passes) and one out (what it is told); where an
ABI has the Standard ABI's values, there is no function, and no code.  A procedure some of whose parameters or results need one gets a
wrapper: what gen_front.py makes of it has the library's constants on both sides."""

from api import Bad
from headers import fill
from kinds import HANDLES

# What is not a class of the ABI's description by itself: classes, or the names of constants.
FAMILIES = {
    "rank": ["MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT"],
    "tag": ["MPI_ANY_TAG"],
    "buffer": ["MPI_IN_PLACE", "MPI_BUFFER_AUTOMATIC"],
    "array-order": ["MPI_ORDER_C", "MPI_ORDER_FORTRAN"],
    "distribution": ["MPI_DISTRIBUTE_NONE", "MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC"],
    "distribution-default": ["MPI_DISTRIBUTE_DFLT_DARG"],
    "attribute-key": ["attribute-key-invalid", "attribute-key-comm", "attribute-key-win"],
    "weights": ["MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"],
    "mpi_t-pvar-all": ["MPI_T_PVAR_ALL_HANDLES"],
    "error": ["error-class", "error-class-mpi_t", "error-code-limit"],
    "combiner": ["combiner", "removed-combiner"],
}
PLAIN = ["thread-level", "comparison-result", "comm-split-type", "topology-type", "lock-type", "file-seek", "file-displacement",
         "typeclass", "win-flavor", "win-memory-model", "mpi_t-verbosity", "mpi_t-bind", "mpi_t-scope", "mpi_t-pvar-class",
         "mpi_t-cb-safety", "mpi_t-source-order"]
BITS = ["file-amode-bit", "assert-bit"]
TYPES = {"buffer": "const void *", "weights": "const int *", "mpi_t-pvar-all": "ABI_T_pvar_handle ", "file-displacement": "MPI_Offset "}
POINTERS = ("buffer", "weights", "mpi_t-pvar-all")
BY_KIND = {"RANK": "rank", "RANK_ANY": "rank", "WIN_RANK": "rank", "ROOT": "rank", "TAG": "tag", "TAG_ANY": "tag",
           "BUFFER": "buffer", "CBUFFER": "buffer", "WEIGHTS": "weights", "WEIGHTS_OUT": "weights"}

ENUM = """\
static inline @TYPE@front_@WAY@_@FAMILY@(@TYPE@v)
{
@SHORT@\
    switch ((int64_t)v) {
@CASES@
    }
    return v;
}
"""

BIT = """\
static inline int front_@WAY@_@FAMILY@(int v)
{
    int r = v & ~(@MASK@); /* what nobody knows */
@LINES@
    return r;
}
"""

# What is no constant of the ABI must not become one of the library's: this is none of anything.
NONE = "FRONT_NO_CONSTANT"


class Maps:
    def __init__(self, abi, native):
        self.abi, self.native = abi, native
        self.identical = abi.name == native.name
        self.here, self.there = self.by_class(native), self.by_class(abi)
        self.values, self.abi_values = native.values(), abi.values()
        self.values.update((n, v) for _, _, _, rows in native.outside for n, v in rows)
        self.abi_values.update((n, v) for _, _, _, rows in abi.outside for n, v in rows)
        names = [] if self.identical else list(FAMILIES) + PLAIN + BITS
        self.families = {f: rows for f in names for rows in [self.rows(f)] if any(a != b for _, a, b in rows)}

    @staticmethod
    def by_class(abi):
        found = {}
        for cls, _, _, rows in abi.groups + abi.outside:
            found.setdefault(cls, []).extend(n for n, _ in rows)
        return found

    def rows(self, family):
        """[(name, the library's value, the ABI's or None)]"""
        names = []
        for word in FAMILIES.get(family, [family]):
            names += [word] if word in self.values else self.here.get(word, [])
        rows = [(n, self.values[n], self.abi_values.get(n)) for n in names]
        if family == "error":
            rows += self.abi.classes
        if family == "attribute-key":
            rows = [(n, a, b if b is None or b < 1 << 31 else b - (1 << 32)) for n, a, b in rows]
        return rows

    # -- expressions -----------------------------------------------------------------------------------------------

    def function(self, way, family):
        """The name of the function, or None where nothing is to be done."""
        if family not in self.families:
            return None
        return "front_%s_%s" % (way, family.replace("-", "_"))

    def apply(self, way, family, text):
        name = self.function(way, family)
        return "%s(%s)" % (name, text) if name else text

    # -- definitions -----------------------------------------------------------------------------------------------

    def definitions(self):
        parts = ["enum { %s = INT_MIN }; /* no constant of any family */\n" % NONE] if self.families else []
        for family in self.families:
            parts += [self.bits(way, family) if family in BITS else self.enum(way, family) for way in ("in", "out")]
        return "\n".join(parts)

    def bits(self, way, family):
        rows = [(a, b) for _, a, b in self.families[family] if b is not None]
        pairs = [(b, a) if way == "in" else (a, b) for a, b in rows]
        return fill(BIT, WAY=way, FAMILY=family.replace("-", "_"), MASK=" | ".join(sorted({str(v) for p in rows for v in p}, key=int)),
                    LINES="\n".join("    r |= v & %d ? %d : 0;" % p for p in pairs))

    def enum(self, way, family):
        rows = self.families[family]
        cases, seen = [], {}
        for name, value, other in rows:
            if other is None:
                continue
            source, target = (other, value) if way == "in" else (value, other)
            if source not in seen:
                seen[source] = name
                cases.append("    case %d:\n        return %s; /* %s */" % (source, self.literal(family, target), name))
                if way == "in" and family == "attribute-key" and self.abi.keys == "apart" and "INVALID" not in name:
                    cases.append("    case %d: /* in Fortran */\n        return %d;" % (source + 1, target))
        if way == "in":
            for name, value, _ in rows: # what the library would take for another
                if value not in seen:
                    seen[value] = name
                    cases.append("    case %d:\n        return %s; /* not %s */" % (value, self.literal(family, None), name))
        return fill(ENUM, TYPE=TYPES.get(family, "int "), WAY=way, FAMILY=family.replace("-", "_"), SHORT=self.short(way, family, rows),
                    CASES="\n".join(cases))

    @staticmethod
    def literal(family, value):
        if family in POINTERS: # otherwise a low address, where nothing can be
            return "(%s)%d" % (TYPES[family].strip(), 4 if value is None else value)
        return NONE if value is None else str(value)

    def short(self, way, family, rows):
        """What is usual is seen at once."""
        if family == "rank" or family == "tag":
            return "    if (likely(v >= 0))\n        return v;\n"
        if family in POINTERS:
            lowest = min(-1, *(there if way == "in" else here for _, here, there in rows if there is not None))
            return "    if (likely((uintptr_t)v + %d > FRONT_PAGE))\n        return v;\n" % -lowest
        if family != "error":
            return ""
        limit = {n: (a, b) for n, a, b in rows}["MPI_ERR_LASTCODE"] # what the program adds comes after it
        a, b = limit if way == "out" else (limit[1], limit[0])
        return "    if (likely(v == 0))\n        return 0;\n    if (v > %d)\n        return %s;\n" % (
            a, "v > INT_MAX - %d ? INT_MAX : v + %d" % (b - a, b - a) if b > a else "v - %d" % (a - b))


class Wrapper:
    """What stands before and after the call of a procedure that has the library's constants."""

    def __init__(self, proc, large, maps):
        self.proc, self.large, self.maps = proc, large, maps
        self.decls, self.before, self.after, self.args, self.frees = [], [], [], [], []
        for p in proc.visible(large):
            self.args.append(p.name)
            if p.kind.name != "VARARGS":
                self.add(p)
        self.error = maps.function("out", "error") if proc.returns == "int" else None
        variadic = any(p.kind.name == "VARARGS" for p in proc.params) # MPI_Pcontrol, which cannot fail
        self.needed = not variadic and bool(self.before or self.after or self.error)

    def length(self, p):
        n = p.arg("len") or p.arg("dim")
        if not n or n == "*":
            raise Bad("%s: is(%s) needs to know how long %s is" % (self.proc, p.arg("is"), p.name))
        return n

    def add(self, p):
        name, kind, family = p.name, p.kind.name, p.arg("is") or BY_KIND.get(p.kind.name)
        if p.has("max"):
            self.add_string(p)
        elif kind in ("STATUS", "STATUS_OUT", "STATUSES_OUT"):
            ignored = self.maps.abi_values["MPI_STATUS%s_IGNORE" % ("ES" if kind == "STATUSES_OUT" else "")]
            if ignored:
                self.before.append("if ((uintptr_t)%s == %d)\n        %s = NULL;" % (name, ignored, name))
        elif family in ("attribute", "contents", "datatype"):
            self.add_special(p, family)
        elif family and self.maps.function("in", family):
            self.add_constant(p, kind, family)

    def add_constant(self, p, kind, family):
        name, into, out = p.name, self.maps.function("in", family), self.maps.function("out", family)
        if kind == "POINTER_OUT":
            self.after.append("if (!err)\n        *(void **)%s = (void *)(uintptr_t)%s(*(void **)%s);" % (name, out, name))
        elif family in ("buffer", "weights"):
            self.before.append("%s = (%s)(uintptr_t)%s(%s);" % (name, TYPES[family].replace("const ", ""), into, name))
        elif kind == "INTS":
            self.decls.append("int %s_small[FRONT_SMALL];" % name)
            self.before.append("if (%s && !(%s = MPIR_front_constants(%s, %s, %s_small, %s)))\n        return %s;" %
                               (name, name, name, self.length(p), name, into, self.maps.apply("out", "error", "MPI_ERR_NO_MEM")))
            self.frees.append("MPIR_front_constants_free(%s, %s_small);" % (name, name))
        elif kind == "INTS_OUT":
            self.after.append("for (int i = 0; !err && i < %s; i++)\n        %s[i] = %s(%s[i]);" % (self.length(p), name, out, name))
        elif kind.endswith("_INOUT"):
            self.decls.append("int %s_v = %s ? %s(*%s) : 0;" % (name, name, into, name))
            self.args[-1] = "%s ? &%s_v : NULL" % (name, name)
            self.after.append("if (!err)\n        *%s = %s(%s_v);" % (name, out, name))
        elif p.decl(self.large).split(name)[0].endswith("*"):
            self.after.append("if (!err && %s)\n        *%s = %s(*%s);" % (name, name, out, name))
        else:
            self.before.append("%s = %s(%s);" % (name, into, name))

    def add_special(self, p, what):
        if self.maps.identical:
            return
        if what == "attribute":
            key = next(q.name for q in self.proc.params if q.arg("is") == "attribute-key")
            self.after.append("if (!err && *flag)\n        MPIR_front_attribute(%s, %s);" % (key, p.name))
        elif what == "datatype":
            self.after.append("if (!err && *{0})\n        *{0} = FRONT_INTEGER(front_native_Datatype((uint64_t)*{0}));".format(p.name))
        else:
            self.after.append("if (!err)\n        MPIR_front_contents(MPIR_Object_of(MPIR_KIND_DATATYPE, front_value_Datatype(datatype)), %s);" % p.name)

    def add_string(self, p):
        here, there = self.maps.values[p.arg("max")], self.maps.abi_values.get(p.arg("max"))
        if there is None or there >= here:
            return
        name = p.name
        self.decls.append("char %s_v[%d];" % (name, here))
        self.args[-1] = "%s ? %s_v : NULL" % (name, name)
        self.after.append("if (!err)\n        MPIR_front_cut(%s, %s_v, %d%s);" %
                          (name, name, there, ", resultlen" if any(q.name == "resultlen" for q in self.proc.params) else ", NULL"))

    def code(self, call):
        """The function's text around `call`, an expression with %s for the arguments."""
        lines = self.decls + self.before + ["int err = " + call % ", ".join(self.args) + ";"] + self.frees + self.after
        lines.append("return likely(!err) ? MPI_SUCCESS : %s;" % (self.maps.apply("out", "error", "err")))
        return "\n".join("    " + line for line in lines)


# -- handles -------------------------------------------------------------------------------------------------------

CODING_MAPPED = """\
static inline uint64_t front_value_@SHORT@(ABI_@SHORT@ handle)
{
    uint32_t h = @NARROW@handle;
@LOOKUP@
}
static inline ABI_@SHORT@ front_native_@SHORT@(uint64_t value)
{
    if (value >= MPIR_PREDEFINED_MAX)
        return (ABI_@SHORT@)(@MADE@);
    switch (value) {
@CASES@
    }
    return (ABI_@SHORT@)@NULL@;
}
"""

MADE_INT = """\
    if (likely((h & ~(uint32_t)MPIR_INDEX_MASK) == @TAG@))
        return front_made_value(MPIR_KIND_@KIND@, h);
"""

KNOWN_INT = """\
static inline void *front_made_@SHORT@(ABI_@SHORT@ handle)
{
    return ((uint32_t)handle & ~(uint32_t)MPIR_INDEX_MASK) == @TAG@ ? front_made(MPIR_KIND_@KIND@, (uint32_t)handle) : NULL;
}
static inline void *front_known_@SHORT@(ABI_@SHORT@ handle)
{
    if (((uint32_t)handle & ~(uint32_t)MPIR_INDEX_MASK) == @TAG@)
        return front_made(MPIR_KIND_@KIND@, (uint32_t)handle);
    uint64_t value = front_value_@SHORT@(handle);
    return likely(value < MPIR_PREDEFINED_MAX) ? front_known(MPIR_KIND_@KIND@, value) : NULL;
}
"""

TABLE = """\
    const struct front_predefined *p = &MPIR_@ABI@_@SHORT@[@INDEX@];
    return likely(p->handle == h) ? p->value : FRONT_NO_HANDLE | h;"""

CODING_HEAD = """\
#define FRONT_NO_HANDLE 0xffffffff00000000 /* with any int, it is the value of none */
#define FRONT_INTEGER(handle) ((int)(intptr_t)(handle))

/* Of the object that lies at a place: its generation is not in the handle. */
static inline uint64_t front_made_value(enum MPIR_KIND kind, uint32_t handle)
{
    const struct keel_object *o = MPIR_Object_at(kind, handle & MPIR_INDEX_MASK);
    if (unlikely(!o))
        return FRONT_NO_HANDLE | handle;
    return MPIR_Object_made_handle(kind, o) | 1ull << 32; /* of one that was freed: no longer right */
}

static inline void *front_made(enum MPIR_KIND kind, uint32_t handle)
{
    struct keel_object *o = MPIR_Object_at(kind, handle & MPIR_INDEX_MASK);
    return likely(o && o->gen & 1) ? o : NULL; /* the generation of what lives is odd */
}

/* Handles of predefined objects, and what the library calls them. */
struct front_predefined {
    uint32_t handle, value;
};
"""


def handle_rows(maps, h):
    """[(the ABI's value, the library's, name)], the null handle first; no value is there twice on the ABI's side."""
    names = [n for n in maps.here["handle:" + h.ctype] if n in maps.abi_values]
    rows, seen = [], set()
    for n in names:
        row = (maps.abi_values[n] & 0xffffffff, maps.values[n], n)
        if row[0] not in seen:
            rows.append(row)
        seen.add(row[0])
    return rows + [(value, here, n) for ctype, n, value, here in maps.abi.more if ctype == h.ctype]


def hashing(rows):
    """A place in a table for each handle: (C expression, function, size)."""
    for bits in (8, 9, 10):
        for shift in range(14, 32):
            def place(h):
                return (h ^ h >> shift) & ((1 << bits) - 1)
            if len({place(r[0]) for r in rows}) == len(rows):
                return "(h ^ h >> %d) & %d" % (shift, (1 << bits) - 1), place, 1 << bits
    raise Bad("no table for handles")


def coding(maps, h, ctype):
    rows = handle_rows(maps, h)
    table = len(rows) > 8
    parts = {"SHORT": h.short, "ABI": maps.abi.name, "NARROW": "(uint32_t)"}
    cases = "\n".join("    case %d:\n        return (ABI_%s)0x%xu; /* %s */" % (v, h.short, a, n) for a, v, n in rows)
    null = "0x%xu" % next(a for a, _, n in rows if n == "MPI_%s_NULL" % h.kind)
    lookup = known = ""
    if ctype == "int":
        kind = "REQUEST" if h.kind == "MESSAGE" else h.kind
        tag = "0x%xu" % (int(null[:-1], 16) | 0xc0000000)
        lookup, known = fill(MADE_INT, TAG=tag, KIND=kind), fill(KNOWN_INT, TAG=tag, KIND=kind, SHORT=h.short)
        made = "%s | ((uint32_t)value & MPIR_INDEX_MASK)" % tag
    else:
        parts["NARROW"] = "(uint32_t)(uintptr_t)"
        lookup = "    if (likely((uintptr_t)handle > UINT32_MAX))\n        return (uintptr_t)handle;\n"
        made = "(uintptr_t)value"
        cases = cases.replace("return (ABI_%s)" % h.short, "return (ABI_%s)(uintptr_t)" % h.short)
        null = "(uintptr_t)" + null
    if table:
        lookup += fill(TABLE, INDEX=hashing(rows)[0], **{k: parts[k] for k in ("ABI", "SHORT")})
    else:
        lookup += "    switch (h) {\n%s\n    }\n    return FRONT_NO_HANDLE | h;" % "\n".join(
            "    case 0x%xu:\n        return %d;" % (a, v) for a, v, _ in rows)
    return fill(CODING_MAPPED, LOOKUP=lookup, MADE=made, CASES=cases, NULL=null, SHORT=h.short, NARROW=parts["NARROW"]) + known


def tables(maps, declare):
    parts = []
    for _, kind, ctype in maps.abi.handles:
        h = HANDLES[kind]
        rows = handle_rows(maps, h)
        if len(rows) <= 8:
            continue
        _, place, size = hashing(rows)
        head = "const struct front_predefined MPIR_%s_%s[%d]" % (maps.abi.name, h.short, size)
        if declare:
            parts.append("extern %s __attribute__((visibility(\"hidden\")));" % head)
        else:
            parts.append("%s = {\n%s\n};" % (head, "\n".join("    [%d] = { 0x%xu, %d }, /* %s */" % (place(a), a, v, n) for a, v, n in rows)))
    return "\n".join(parts)


def data(abi):
    """Variables that the library exports."""
    return "\n".join("#undef %s\nFRONT_EXPORT extern %s const %s;\n%s const %s = (%s)%d;" % (n, t, n, t, n, t, v)
                     for t, n, v in ((t.replace("*", " *").replace("MPI_T_", "ABI_T_"), n, v)
                                     for _, t, form, rows in abi.groups if form == "data" for n, v in rows))


VALUES_H = """\

/* What a predefined attribute says, where that is a constant; the program gets an address. */
void MPIR_front_attribute(int keyval, void *attribute_val);
/* The integers that MPI_Type_get_contents tells. */
void MPIR_front_contents(const MPIR_Datatype *t, int *integers);
"""

VALUES_C = """\
void MPIR_front_attribute(int keyval, void *attribute_val)
{
    static int rank[2], flavor[4], model[2]; /* values lie where they were for as long as the program runs */
    int *value, *shown, number;
    memcpy(&value, attribute_val, sizeof value);
    if (MPIR_Language != MPIR_C && value) { /* Fortran gets the numbers themselves */
        number = (int)(intptr_t)value;
        value = &number;
    }
    switch (keyval) {
    case MPI_IO:
    case MPI_HOST:
        shown = &rank[keyval == MPI_IO];
        *shown = @RANK@;
        break;
    case MPI_WIN_CREATE_FLAVOR:
        shown = &flavor[(*value - MPI_WIN_FLAVOR_CREATE) & 3];
        *shown = @FLAVOR@;
        break;
    case MPI_WIN_MODEL:
        shown = &model[*value == MPI_WIN_UNIFIED];
        *shown = @MODEL@;
        break;
    default:
        return;
    }
    if (MPIR_Language != MPIR_C)
        shown = (int *)(intptr_t)*shown;
    memcpy(attribute_val, &shown, sizeof shown);
}

static uint64_t comm_at(const void *at)
{
    ABI_Comm handle;
    memcpy(&handle, at, sizeof handle);
    return front_value_Comm(handle);
}

static int cb_safety(int native)
{
    return @SAFETY@;
}

static int integer(int kind, const void *object)
{
    uint64_t value = object ? MPIR_Object_handle(object) : 0;
    switch (kind) {
@INTEGERS@
    }
    return 0;
}

static int error_in(int code)
{
    return @ERROR_IN@;
}

static int error_out(int code)
{
    return @ERROR_OUT@;
}

static void status_in(MPIR_Status *status, const int32_t *integers)
{
    ABI_Status s;
    memcpy(&s, integers, sizeof s);
    front_status_in(status, &s);
}

static void status_out(const MPIR_Status *status, int32_t *integers)
{
    ABI_Status s = { .MPI_ERROR = error_out(status->MPI_ERROR) };
    front_status_out(status, &s);
    memcpy(integers, &s, sizeof s);
}

const struct MPIR_Differs MPIR_Differs = {
    .name = "@OWNER@",
    .abi_version = @ABI_VERSION@,
    .abi_subversion = @ABI_SUBVERSION@,
    .bsend_overhead = @OVERHEAD@,
    .cb_safety = cb_safety,
    .comm = comm_at,
    .integer = integer,
    .error_in = error_in,
    .error_out = error_out,
    .status_in = status_in,
    .status_out = status_out,
    .status_size = sizeof(ABI_Status) / sizeof(int32_t),
};

void MPIR_front_contents(const MPIR_Datatype *t, int *integers)
{
    if (!t || !integers)
        return;
    int n = t->combiner == MPI_COMBINER_DARRAY ? integers[2] : 0;
    int first = n > 0 && t->ni == 4 + 4 * (int64_t)n ? 3 + n : 3; /* gsizes may be among the large counts */
    for (int i = first; i < first + n; i++)
        integers[i] = @DISTRIBUTION@;
    for (int i = first + n; i < first + 2 * n; i++)
        integers[i] = @DEFAULT@;
    if (t->combiner == MPI_COMBINER_DARRAY || t->combiner == MPI_COMBINER_SUBARRAY)
        integers[t->ni - 1] = @ORDER@;
}
"""


def values_c(maps):
    kinds = "\n".join("    case MPIR_KIND_%s:\n        return FRONT_INTEGER(front_native_%s(object ? value : %s));" %
                      (k, HANDLES[k].short, HANDLES[k].null) for k in ("COMM", "WIN", "FILE", "SESSION", "DATATYPE"))
    return fill(VALUES_C, INTEGERS=kinds, ERROR_IN=maps.apply("in", "error", "code"), ERROR_OUT=maps.apply("out", "error", "code"),
                OWNER=maps.abi.owner, OVERHEAD=str(maps.abi_values["MPI_BSEND_OVERHEAD"]),
                ABI_VERSION=str(maps.abi_values.get("MPI_ABI_VERSION", -1)), ABI_SUBVERSION=str(maps.abi_values.get("MPI_ABI_SUBVERSION", -1)), SAFETY=maps.apply("out", "mpi_t-cb-safety", "native"), RANK=maps.apply("out", "rank", "*value"),
                FLAVOR=maps.apply("out", "win-flavor", "*value"), MODEL=maps.apply("out", "win-memory-model", "*value"),
                DISTRIBUTION=maps.apply("out", "distribution", "integers[i]"),
                DEFAULT=maps.apply("out", "distribution-default", "integers[i]"),
                ORDER=maps.apply("out", "array-order", "integers[t->ni - 1]"))
