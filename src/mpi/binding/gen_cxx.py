# SPDX-License-Identifier: BSD-3-Clause
"""mpicxx.h: the C++ bindings of MPI-2, from src/mpi/cxx: the declarations of cxx.txt, whose bodies follow from api.txt.

A parameter of the C procedure is a parameter of the method by its name, or the object itself, or what the method returns, or a
status or an array of error codes that is not wanted."""

import os
import re
from api import Bad, lines_of
from headers import fill

# Class: its base, its handle in C.
CLASSES = {
    "Comm": ("", "MPI_Comm"), "Intracomm": ("Comm", "MPI_Comm"), "Intercomm": ("Comm", "MPI_Comm"),
    "Cartcomm": ("Intracomm", "MPI_Comm"), "Graphcomm": ("Intracomm", "MPI_Comm"), "Group": ("", "MPI_Group"),
    "Datatype": ("", "MPI_Datatype"), "Op": ("", "MPI_Op"), "Errhandler": ("", "MPI_Errhandler"), "Request": ("", "MPI_Request"),
    "Prequest": ("Request", "MPI_Request"), "Grequest": ("Request", "MPI_Request"), "Status": ("", "MPI_Status"),
    "Info": ("", "MPI_Info"), "Win": ("", "MPI_Win"), "File": ("", "MPI_File"),
}
COMMS = ["Intracomm", "Intercomm", "Cartcomm", "Graphcomm"]
# What a class has besides its methods.
TYPEDEFS = {
    "Win": """\
    typedef void Errhandler_fn(Win &, int *, ...);
    typedef int Copy_attr_function(const Win &oldwin, int win_keyval, void *extra_state, void *attribute_val_in,
                                   void *attribute_val_out, bool &flag);
    typedef int Delete_attr_function(Win &win, int win_keyval, void *attribute_val, void *extra_state);
    static int NULL_COPY_FN(const Win &, int, void *, void *, void *, bool &flag);
    static int DUP_FN(const Win &, int, void *, void *attribute_val_in, void *attribute_val_out, bool &flag);
    static int NULL_DELETE_FN(Win &, int, void *, void *);
""",
    "Datatype": """\
    typedef int Copy_attr_function(const Datatype &oldtype, int type_keyval, void *extra_state, const void *attribute_val_in,
                                   void *attribute_val_out, bool &flag);
    typedef int Delete_attr_function(Datatype &type, int type_keyval, void *attribute_val, void *extra_state);
    static int NULL_COPY_FN(const Datatype &, int, void *, const void *, void *, bool &flag);
    static int DUP_FN(const Datatype &, int, void *, const void *attribute_val_in, void *attribute_val_out, bool &flag);
    static int NULL_DELETE_FN(Datatype &, int, void *, void *);
""",
    "File": "    typedef void Errhandler_fn(File &, int *, ...);\n",
    "Grequest": """\
    typedef int Query_function(void *extra_state, Status &status);
    typedef int Free_function(void *extra_state);
    typedef int Cancel_function(void *extra_state, bool complete);
""",
    "Status": """\
    virtual int Get_source() const
    {
        return keel_handle.MPI_SOURCE;
    }
    virtual void Set_source(int source)
    {
        keel_handle.MPI_SOURCE = source;
    }
    virtual int Get_tag() const
    {
        return keel_handle.MPI_TAG;
    }
    virtual void Set_tag(int tag)
    {
        keel_handle.MPI_TAG = tag;
    }
    virtual int Get_error() const
    {
        return keel_handle.MPI_ERROR;
    }
    virtual void Set_error(int error)
    {
        keel_handle.MPI_ERROR = error;
    }
""",
}
CLASS = """\
class @NAME@@BASE@
{
  public:
@TYPEDEFS@    @NAME@() : @INIT@(@NULL@) {}
    @NAME@(const @NAME@ &data) : @COPY@ {}
@FROM_NULL@    @NAME@(const @HANDLE@ &data) : @INIT@(data) {}
    virtual ~@NAME@() {}
    @NAME@ &operator=(const @NAME@ &data)
    {
        keel_handle = data.keel_handle;
        return *this;
    }
    @NAME@ &operator=(const @HANDLE@ &data)
    {
        keel_handle = data;
        return *this;
    }
@OWN@@DECLARE@
@MEMBER@@PRIVATE@};
"""
# Of a class without a base.
OPERATORS = """\
    virtual bool operator==(const @NAME@ &data) const
    {
        return keel_handle == data.keel_handle;
    }
    virtual bool operator!=(const @NAME@ &data) const
    {
        return keel_handle != data.keel_handle;
    }
    bool operator==(@HANDLE@ data) const
    {
        return keel_handle == data;
    }
    bool operator!=(@HANDLE@ data) const
    {
        return keel_handle != data;
    }
"""
CONVERSION = """\
    virtual operator @HANDLE@() const
    {
        return keel_handle;
    }
"""
CLONE = """\
    @NAME@ Dup() const;
    virtual @NAME@ &Clone() const
    {
        return *new @NAME@(Dup());
    }
"""
ERRHANDLERS = """\
template <> struct errhandlers<@NAME@> {
    typedef MPI_@NAME@_errhandler_function function;
    static int create(function *fn, MPI_Errhandler *errhandler)
    {
        return MPI_@NAME@_create_errhandler(fn, errhandler);
    }
    static int get(@HANDLE@ object, MPI_Errhandler *errhandler)
    {
        return MPI_@NAME@_get_errhandler(object, errhandler);
    }
    static int set(@HANDLE@ object, MPI_Errhandler errhandler)
    {
        return MPI_@NAME@_set_errhandler(object, errhandler);
    }
};
"""
ATTRIBUTES = """\
inline int @NAME@::NULL_COPY_FN(const @NAME@ &, int, void *, @IN@, void *, bool &flag)
{
    flag = false;
    return MPI_SUCCESS;
}
inline int @NAME@::DUP_FN(const @NAME@ &, int, void *, @IN@attribute_val_in, void *attribute_val_out, bool &flag)
{
    return keel::dup_attribute(attribute_val_in, attribute_val_out, flag);
}
inline int @NAME@::NULL_DELETE_FN(@NAME@ &, int, void *, void *)
{
    return MPI_SUCCESS;
}
inline int @NAME@::Create_keyval(@NAME@::Copy_attr_function *copy, @NAME@::Delete_attr_function *remove, void *extra_state)
{
    int keyval = MPI_KEYVAL_INVALID;
    keel::key<@NAME@> *k = keel::key<@NAME@>::of(copy, remove, extra_state);
    MPI_@C@_create_keyval(keel::key<@NAME@>::call_copy, keel::key<@NAME@>::call_remove, &keyval, k);
    return keyval;
}
"""


class Method:
    """One line: MPI_X [*] [static] result name(parameters) [const] [= 0]."""

    LINE = re.compile(r"  (MPI_\w+)( \*)? (static )?(.+?) ?(\w+)\((.*)\)( const)?( = 0)?$")

    def __init__(self, cls, line, where):
        m = self.LINE.match(line)
        if not m:
            raise Bad("%s: not a method: '%s'" % (where, line))
        self.cls, self.where = cls, where
        self.c, self.hand, self.static, self.result, self.name, params, self.const, self.pure = m.groups()
        self.params = [self.split(p) for p in params.split(", ")] if params else []

    @staticmethod
    def split(text):
        """(type, name, dimensions)"""
        if text == "...":
            return ("...", "", "")
        m = re.match(r"(.*?)(\w+)((?:\[\d*\])*)$", text)
        return (m.group(1).strip(), m.group(2), m.group(3))

    def parameters(self):
        words = []
        for ctype, name, dims in self.params: # `const char** x` as `const char **x`
            base, marks = re.match(r"(.*?)([*&]*)$", ctype).groups()
            words.append((base + " " + marks + name + dims) if name else ctype)
        return ", ".join(words)

    def declaration(self, virtual=True):
        word = "static " if self.static else "virtual " if virtual and self.cls and self.name != "Dup" else ""
        return "    %s%s%s(%s)%s;" % (word, spaced(self.result), self.name, self.parameters(), self.const or "")

    def head(self, cls):
        return "inline %s%s%s(%s)%s" % (spaced(self.result), cls + "::" if cls else "", self.name, self.parameters(), self.const or "")


def spaced(result):
    return result.replace("*", " *").replace("&", " &") if result.endswith(("*", "&")) else result + " "


def read(path):
    """([(type, [(name, C name)])], [(class or None, [methods])])"""
    constants, groups, kind = [], [], None
    for number, line in enumerate(lines_of(path), 1):
        line, where = line.rstrip("\n"), "%s:%d" % (path, number)
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            word, _, name = line.partition(" ")
            kind = word
            if word == "constants":
                constants.append((name, []))
            elif word in ("class", "namespace"):
                groups.append((name or None, []))
            else:
                raise Bad("%s: what is '%s'?" % (where, line))
        elif kind == "constants":
            for word in line.split():
                name, _, value = word.partition("=")
                constants[-1][1].append((name, value or "MPI_" + name))
        else:
            groups[-1][1].append(Method(groups[-1][0], line, where))
    return constants, groups


# How many elements an array has that must be converted, where the C procedure's len() does not say it.
LENGTHS = {
    "MPI_Alltoallw": {"sendtypes": "sendbuf == MPI_IN_PLACE ? 0 : keel::peers(keel_handle)", "recvtypes": "keel::peers(keel_handle)"},
    "MPI_Cart_sub": {"remain_dims": "keel::dims(keel_handle)"},
    "MPI_Comm_spawn_multiple": {"array_of_info": "keel::is_rank(keel_handle, root) ? count : 0"},
    "MPI_Startall": {"array_of_requests": "count"},
}


class Call:
    """The body of a method."""

    def __init__(self, method, proc):
        self.method, self.proc = method, proc
        self.before, self.args, self.after = [], [], []
        self.result, self.hold, self.me = None, False, False
        names = [p.name for p in proc.visible(False)]
        self.by_name = {n: (t, n, d) for t, n, d in method.params}
        outs = {p.name for p in proc.visible(False) if "_OUT" in p.kind.name}
        for t, n, d in method.params:
            if n in outs and not d and not t.endswith(("*", "&")): # what goes in has the name of what comes out
                del self.by_name[n]
        self.free = [p for p in method.params if p[1] not in self.by_name or self.twin(p[1]) not in names]
        for p in proc.visible(False):
            self.add(p)
        if self.free:
            raise Bad("%s: nothing in %s is '%s'" % (method.where, proc.name, self.free[0][1]))

    @staticmethod
    def twin(name):
        return {"index": "indx"}.get(name, name)

    def add(self, p):
        method, kind = self.method, p.kind.name
        own = next((q for n, q in self.by_name.items() if self.twin(n) == p.name), None)
        cls = CLASSES.get(method.cls)
        handle = p.kind.handle.ctype if p.kind.handle and "[" not in p.decl() else "MPI_Status" if kind.startswith("STATUS") else None
        if own:
            self.convert(p, own)
        elif cls and not method.static and not self.me and handle == cls[1]:
            self.object(p)
        elif kind in ("STATUS_OUT", "STATUSES_OUT"):
            self.args.append("MPI_STATUS_IGNORE" if kind == "STATUS_OUT" else "MPI_STATUSES_IGNORE")
        elif p.name == "array_of_errcodes":
            self.args.append("MPI_ERRCODES_IGNORE")
        elif kind in ("ARGC", "ARGV"):
            self.args.append("0")
        elif method.result != "void" and not self.result and self.returns(p):
            self.result = method.result
            self.args.append("&result")
        elif self.free:
            self.convert(p, self.free.pop(0))
        else:
            raise Bad("%s: %s has no '%s'" % (method.where, method.name, p.name))

    def returns(self, p):
        """Is this OUT parameter what the method returns?"""
        result, decl = self.method.result, p.decl()
        if "_OUT" not in p.kind.name or "[" in decl:
            return False
        if result in CLASSES:
            want = CLASSES[result][1]
        else:
            want = {"bool": "int", "void*": "void"}.get(result, result if result == "int" else "MPI_" + result)
        if result == "bool":
            return p.name == "flag" or p.has("logical")
        return re.match(r"(\w+) ", decl).group(1) == want

    def object(self, p):
        self.me = True
        pointer = p.decl().split(p.name)[0].rstrip().endswith("*")
        if pointer and self.method.const and self.proc.name != "MPI_Get_count" and "const" not in p.decl():
            self.before.append("%s handle = keel_handle;" % CLASSES[self.method.cls][1])
            self.args.append("&handle")
        else:
            self.args.append("&" * pointer + "keel_handle")

    def length(self, p):
        own = LENGTHS.get(self.proc.name, {}).get(p.name)
        word = own or p.arg("len") or p.arg("dim")
        if not word:
            raise Bad("%s: how many elements has '%s'?" % (self.method.where, p.name))
        return word

    def convert(self, p, own):
        ctype, name, dims = own
        cls = re.sub(r"^const |&$", "", ctype).strip()
        decl = p.decl()
        if dims and cls in CLASSES: # an array of objects
            self.before.append("keel::handles<%s> %s_c(%s, %s);" % (cls, name, name, self.length(p)))
            self.args.append(name + "_c.at()")
            if not ctype.startswith("const"):
                self.after.append("%s_c.bring(%s);" % (name, name))
                self.hold = True
        elif dims and cls == "bool":
            self.before.append("keel::flags %s_c(%s, %s);" % (name, name, self.length(p)))
            self.args.append(name + "_c.at()")
            if not ctype.startswith("const"):
                self.after.append("%s_c.bring(%s);" % (name, name))
        elif cls in CLASSES:
            self.args.append(("&" if ctype.endswith("&") and not ctype.startswith("const") else "") + name + ".keel_handle")
        elif ctype.endswith("&") and not ctype.startswith("const"):
            self.args.append("&" + name)
        elif ctype.startswith("const char*") and dims or ctype == "const char**":
            self.args.append("const_cast<%s>(%s)" % ("char **" + "*" * (ctype == "const char**"), name))
        elif dims == "[][3]":
            self.args.append("const_cast<int(*)[3]>(%s)" % name)
        elif ctype.startswith("const void") and not decl.startswith("const"):
            self.args.append("const_cast<void *>(%s)" % name)
        else:
            self.args.append(name)

    def text(self, cls):
        method = self.method
        result = self.result
        lines = list(self.before)
        if result:
            kind = CLASSES[result][1] if result in CLASSES else "int" if result == "bool" else result.replace("*", " *")
            null = kind.upper().replace("MPI_", "MPI_", 1) + "_NULL" if result in CLASSES else "0"
            lines.append("%s%sresult = %s;" % (kind, "" if kind.endswith("*") else " ", null))
        call = "%s(%s)" % (self.proc.name, ", ".join(self.args))
        if method.result == "double":
            lines.append("return %s;" % call)
        elif self.hold:
            lines = ["keel::hold hold;"] + lines + ["int code = %s;" % call] + self.after + ["hold.check(code);"]
        else:
            lines += [call + ";"] + self.after
        if result:
            lines.append("return %s;" % ("result != 0" if result == "bool" else "%s(result)" % result if result in CLASSES else "result"))
        elif method.result not in ("void", "double"):
            raise Bad("%s: nothing in %s is the result of %s" % (method.where, self.proc.name, method.name))
        return "%s\n{\n%s\n}" % (method.head(cls), "\n".join("    " + x for x in lines))


def class_text(name, declare):
    base, handle = CLASSES[name]
    comm = name in COMMS
    null = handle.upper() + "_NULL" if handle != "MPI_Status" else ""
    own = ""
    if not base:
        own = (OPERATORS if name != "Status" else "") + CONVERSION
    if comm:
        own += CLONE
    member = ["    %s keel_handle; /* for this header alone */" % handle] if not base else []
    private = ""
    if comm: # a communicator of another kind is none of this one
        private = "\n  private:\n    %s(const Comm &);\n" % name
    return fill(CLASS, NAME=name, BASE=" : public " + base if base else "", TYPEDEFS=("    typedef %s keel_type;\n" % handle if not base else "")
                + TYPEDEFS.get(name, ""), INIT=base or "keel_handle", NULL=null,
                COPY="%s(data)" % base if base else "keel_handle(data.keel_handle)",
                FROM_NULL="    %s(const Comm_Null &) : %s(MPI_COMM_NULL) {}\n" % (name, base) if comm else "",
                OWN=own.replace("@NAME@", name).replace("@HANDLE@", handle), HANDLE=handle, DECLARE="\n".join(declare),
                MEMBER="\n".join(member) + "\n" if member else "", PRIVATE=private)


def mpicxx_h(folder, api, here):
    """here: the names of the procedures that the library has."""
    constants, groups = read(os.path.join(folder, "cxx.txt"))
    declare, bodies, pure = {c: [] for c in list(CLASSES) + ["Comm_Null", None]}, [], []
    for cls, methods in groups:
        for m in methods:
            if m.c not in here:
                continue
            if m.pure:
                pure.append(m)
                declare[cls].append(m.declaration()[:-1] + " = 0;")
            elif m.name != "Dup" or cls not in COMMS:
                declare[cls].append(m.declaration())
            if not m.pure and not m.hand:
                bodies.append(Call(m, api.proc(m.c)).text(cls))
    for m in pure:
        for cls in ("Intracomm", "Intercomm", "Comm_Null"):
            declare[cls].append(m.declaration())
            bodies.append(Call(m, api.proc(m.c)).text(cls))
    integers, objects, makes = [], [], []
    for kind, rows in constants:
        for name, value in rows:
            if kind in ("int", "Offset"):
                integers.append("const %s %s = %s;" % (kind, name, value))
            else:
                objects.append((kind, name, value))
    objects += [("Errhandler", "ERRORS_THROW_EXCEPTIONS", "throws()"), ("Comm_Null", "COMM_NULL", "")]
    lines = []
    for i, (kind, name, value) in enumerate(objects):
        makes.append("    make(%d, %s(%s));" % (i, kind, value))
        const = "" if kind in ("Intracomm",) else "const "
        lines.append("static %s%s &%s __attribute__((__unused__)) = keel::object<%s%s>(%d);" % (const, kind, name, const, kind, i))
    with open(os.path.join(folder, "mpicxx.h.in"), encoding="utf-8") as f:
        template = f.read()
    others = [c for c in CLASSES if c not in COMMS and c != "Comm"]
    order = ["Group", "Op", "Errhandler", "Info", "Datatype", "Status", "Request", "Prequest", "Grequest", "Win", "File"]
    assert sorted(order) == sorted(others)
    attributes = [ATTRIBUTES.replace("@NAME@", n).replace("@C@", c).replace("@IN@", v)
                  for n, c, v in (("Comm", "Comm", "void *"), ("Datatype", "Type", "const void *"), ("Win", "Win", "void *"))]
    return fill(
        template,
        DECLARE_Comm="\n".join(declare["Comm"]), DECLARE_Comm_Null="\n".join(declare["Comm_Null"]),
        COMMS="\n".join(class_text(c, declare[c]) for c in COMMS),
        CLASSES="\n".join(class_text(c, declare[c]) for c in order),
        INTEGERS="\n".join(integers), OBJECT_COUNT=str(len(objects)), MAKE_OBJECTS="\n".join(makes), OBJECTS="\n".join(lines),
        ERRHANDLERS="".join(ERRHANDLERS.replace("@NAME@", n).replace("@HANDLE@", CLASSES[n][1]) for n in ("Comm", "Win", "File")),
        ATTRIBUTES="\n".join(attributes), METHODS="\n\n".join(bodies))
