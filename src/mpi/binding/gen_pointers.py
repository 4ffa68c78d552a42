# SPDX-License-Identifier: BSD-3-Clause
"""Handles of an ABI in which a predefined one is the address of a variable of the library's, or of the copy that an executable made of it.

The variable says what it stands for, so that a handle is read where it points to, once it is known to point to one of these variables: they
lie together in the library, and copies of them in the executable.  Of any other object the handle is the native value, which is no
address of user space."""

from api import Bad
from headers import fill
from kinds import HANDLES

CODING_HEAD = """\
#define FRONT_NO_HANDLE 0xffffffff00000000 /* with any int, it is the value of none */
#define FRONT_INTEGER(handle) front_integer(handle)

/* What a predefined handle points to. */
struct front_predefined {
    uint64_t mark;
    uint32_t value;  /* the native one; 0: the library has no such object */
    int32_t integer; /* Fortran's */
};
#define FRONT_MARK 0x656c646e6168ull

/* Where those of the library lie, and the executable's copies of some. */
struct front_place {
    uintptr_t from, size;
};
extern struct front_place MPIR_@ABI@_place[2] __attribute__((visibility("hidden")));
extern const struct front_predefined *const MPIR_@ABI@_predefined[@ROOM@] __attribute__((visibility("hidden")));

/* NULL: it is no predefined handle. */
static inline const struct front_predefined *front_predefined(const void *handle)
{
    uintptr_t h = (uintptr_t)handle;
    if (unlikely(h - MPIR_@ABI@_place[0].from >= MPIR_@ABI@_place[0].size &&
                 h - MPIR_@ABI@_place[1].from >= MPIR_@ABI@_place[1].size))
        return NULL;
    const struct front_predefined *p = handle;
    return likely((h & 7) == 0 && p->mark == FRONT_MARK) ? p : NULL;
}
static inline uint64_t front_value(const void *handle)
{
    if ((uint64_t)(uintptr_t)handle >> 48)
        return (uint64_t)(uintptr_t)handle;
    const struct front_predefined *p = front_predefined(handle);
    return likely(p != NULL) ? p->value : FRONT_NO_HANDLE | (uint32_t)(uintptr_t)handle;
}
static inline void *front_native(uint64_t value, uint32_t null)
{
    const struct front_predefined *p;
    if (value >= MPIR_PREDEFINED_MAX)
        return (void *)(uintptr_t)value;
    p = MPIR_@ABI@_predefined[value % @ROOM@];
    return (void *)(uintptr_t)(likely(p != NULL) ? p : MPIR_@ABI@_predefined[null]);
}
/* Of Fortran. */
static inline int front_integer(const void *handle)
{
    const struct front_predefined *p = front_predefined(handle);
    return p ? p->integer : (int)(uint32_t)(uintptr_t)handle;
}
"""

CODING = """\
static inline uint64_t front_value_@SHORT@(ABI_@SHORT@ handle)
{
    return front_value(handle);
}
static inline ABI_@SHORT@ front_native_@SHORT@(uint64_t value)
{
    return (ABI_@SHORT@)front_native(value, @NULL@);
}
static inline ABI_@SHORT@ front_of_integer_@SHORT@(int f)
{
    static const uint16_t predefined[] = { @VALUES@ };
    if (f >= 0 && (unsigned)f < sizeof predefined / sizeof *predefined)
        return front_native_@SHORT@(predefined[f]);
    return front_native_@SHORT@(MPIR_Object_handle_of_int(MPIR_KIND_@KIND@, f, @NULL@));
}
"""

DATA_HEAD = """\
/* Executables that are not position-independent have copies of these variables, of the size that they had when they were linked: nothing may
 * be said of them but by the symbols, which are the copies' then. */
#define PREDEFINED(symbol, room, native, fortran) \\
    union symbol { \\
        struct front_predefined is; \\
        char size[room]; \\
    }; \\
    FRONT_EXPORT extern const union symbol symbol; \\
    const union symbol symbol __attribute__((aligned(32), section("keel_predefined"))) = { { FRONT_MARK, native, fortran } };
"""

TABLES = """\
const struct front_predefined *const MPIR_@ABI@_predefined[@ROOM@] = {
@BY_VALUE@
};

/* Filled in before anybody calls: the linker's names for the section, and what the symbols are found to be. */
struct front_place MPIR_@ABI@_place[2];
extern const char __start_keel_predefined[] __attribute__((visibility("hidden")));
extern const char __stop_keel_predefined[] __attribute__((visibility("hidden")));

__attribute__((constructor(101))) static void find_predefined(void)
{
    const uintptr_t from = (uintptr_t)__start_keel_predefined, to = (uintptr_t)__stop_keel_predefined;
    uintptr_t low = UINTPTR_MAX, high = 0;
    static const struct front_predefined *const all[] = {
@ALL@
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uintptr_t at = (uintptr_t)all[i];
        if (at >= from && at < to)
            continue;
        low = at < low ? at : low;
        high = at >= high ? at + sizeof *all[i] : high;
    }
    MPIR_@ABI@_place[0] = (struct front_place){ from, to - from };
    MPIR_@ABI@_place[1] = (struct front_place){ low, high > low ? high - low : 0 };
}
"""


def predefined(maps, h):
    """[(constant, Fortran's integer, native value or 0)] of the kind, first those that the library knows by the same name."""
    rows = [(n, maps.abi_values[n], maps.values.get(n, 0)) for cls, _, form, group in maps.abi.groups
            if form == "symbol" and cls == "handle:" + h.ctype for n, _ in group]
    more = [(n, integer, value) for ctype, n, integer, value in maps.abi.more if ctype == h.ctype]
    return sorted(rows, key=lambda row: not row[2]) + more


ROOM = 1024 # no two of the library's predefined handles have the same place here


def coding(maps):
    parts = [fill(CODING_HEAD, ABI=maps.abi.name, ROOM=str(ROOM))]
    for h in HANDLES.values():
        by_integer = {}
        for _, integer, value in predefined(maps, h):
            by_integer.setdefault(integer, value)
        null = "KEEL_MPI_%s_NULL" % h.kind
        values = [str(by_integer.get(i, 0)) for i in range(1 + max(by_integer))]
        parts.append(fill(CODING, SHORT=h.short, NULL=null, VALUES=", ".join(values), KIND="REQUEST" if h.kind == "MESSAGE" else h.kind))
    return "\n".join(parts)


def data(maps):
    abi, by_value, lines = maps.abi, {}, {}
    for h in HANDLES.values():
        for n, integer, value in predefined(maps, h):
            symbol = abi.symbols[n]
            lines.setdefault(symbol, "PREDEFINED(%s, %s, %d, %d) /* %s */" % (symbol, abi.sizes[h.kind], value, integer, n))
            by_value.setdefault(value, symbol)
    by_value.pop(0, None)
    if len({v % ROOM for v in by_value}) < len(by_value):
        raise Bad("no table for handles")
    return DATA_HEAD + "\n".join(lines.values()) + "\n\n" + fill(
        TABLES, ABI=abi.name, ROOM=str(ROOM), ALL="\n".join("        &%s.is," % s for s in lines),
        BY_VALUE="\n".join("    [%d] = &%s.is," % (v % ROOM, s) for v, s in sorted(by_value.items())))
