# SPDX-License-Identifier: BSD-3-Clause
"""Reads api.txt (the procedures) and abi-*.txt (how one ABI's programs see them)."""

import re
from kinds import kind_of


class Bad(Exception):
    """A mistake in a description or a body: its text goes to the user as it is."""


class Param:
    def __init__(self, name, kind, attrs, meaning):
        self.name, self.kind, self.attrs, self.meaning = name, kind, attrs, meaning

    def has(self, attr):
        return attr in self.attrs

    def arg(self, attr):
        return self.attrs.get(attr)

    def decl(self, large=False):
        return (self.kind.large if large else self.kind.small).replace("%", self.name)


class Proc:
    def __init__(self, name, flags, chapter):
        self.name, self.flags, self.chapter = name, flags, chapter
        self.short = name.split("_", 1)[1] # without MPI_, or MPIX_
        self.params, self.summary, self.section = [], "", ""

    def __repr__(self):
        return self.name

    def has(self, flag):
        return flag in self.flags

    @property
    def returns(self):
        return self.flags.get("returns", "int")

    def visible(self, large):
        return [p for p in self.params if large or not p.has("large-only")]

    def prototype(self, prefix="", large=False):
        params = ", ".join(p.decl(large) for p in self.visible(large)) or "void"
        gap = "" if self.returns.endswith("*") else " "
        return "%s%s%s%s%s(%s)" % (self.returns, gap, prefix, self.name, "_c" if large else "", params)


class Api:
    def __init__(self):
        self.procs, self.callbacks, self.chapters = [], [], {}

    def proc(self, name):
        return next(p for p in self.procs if p.name == name)


WORD = re.compile(r"([\w-]+)(?:\(([^)]*)\))?$")
PARAM_LINE = re.compile(r"  (\S+)\s+(C\([^)]*\)|\S+)((?:\s+[a-z][\w-]*(?:\([^)]*\))?)*)(?:\s+-- (.*))?$")


def lines_of(path):
    with open(path, encoding="utf-8") as f:
        return f.readlines()


def words(text, where):
    found = {}
    for word in re.findall(r"[\w-]+(?:\([^)]*\))?", text):
        m = WORD.match(word)
        if not m:
            raise Bad("%s: what is '%s'?" % (where, word))
        found[m.group(1)] = m.group(2) if m.group(2) is not None else True
    return found


def read_api(path):
    api, chapter, proc = Api(), None, None
    for number, line in enumerate(lines_of(path), 1):
        line, where = line.rstrip("\n"), "%s:%d" % (path, number)
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("chapter "):
            chapter, title = line[8:].split(" -- ")
            api.chapters[chapter] = title
        elif line.startswith("callback "):
            name, text = line[9:].split(" = ")
            outside = text.endswith(" outside")
            api.callbacks.append((name, text[:-8] if outside else text, outside))
        elif line.startswith(("MPI_", "MPIX_")):
            name, _, flags = line.partition(" ")
            proc = Proc(name, words(flags, where), chapter)
            api.procs.append(proc)
        elif line.startswith("  = ") or line == "  =":
            proc.summary = line[4:].strip()
        elif line.startswith("  @ "):
            proc.section = line[4:].strip()
        else:
            m = PARAM_LINE.match(line)
            if not m:
                raise Bad("%s: not a parameter: '%s'" % (where, line))
            try:
                kind = kind_of(m.group(2))
            except KeyError:
                raise Bad("%s: there is no kind '%s'" % (where, m.group(2)))
            proc.params.append(Param(m.group(1), kind, words(m.group(3), where), m.group(4) or ""))
    return api


class Abi:
    def __init__(self):
        self.name = self.coding = self.count = self.owner = self.keys = self.op = None
        self.handles, self.opaque, self.integers, self.status = [], [], [], []
        self.groups = []  # (class, C type, form, [(name, value)])
        self.outside = []  # the same, for the second part of mpi.h
        self.sizes, self.symbols = {}, {}  # of the variables that are handles, by kind; their names, by the constant's
        self.also = []  # (another name, the procedure's)
        self.more = []  # (type, name, value, native value) of predefined handles that only this ABI has
        self.classes = []  # (name, native value, value) of error classes that only this ABI has

    def values(self):
        return {name: value for _, _, _, rows in self.groups for name, value in rows}


def read_abi(path):
    abi = Abi()
    for number, line in enumerate(lines_of(path), 1):
        part = line.split()
        if not part or part[0].startswith("#"):
            continue
        if part[0] in ("abi", "coding", "count", "owner", "keys", "op"):
            setattr(abi, "name" if part[0] == "abi" else part[0], " ".join(part[1:]))
        elif part[0] == "handle":
            abi.handles.append(tuple(part[1:4]))
            abi.sizes[part[2]] = "".join(part[4:])
        elif part[0] == "also":
            abi.also.append(tuple(part[1:3]))
        elif part[0] == "more":
            abi.more.append((part[1], part[2], int(part[3], 0), int(part[4])))
            abi.symbols.update({part[2]: name for name in part[5:]})
        elif part[0] == "class":
            abi.classes.append((part[1], int(part[3]), int(part[2])))
        elif part[0] == "opaque":
            abi.opaque.append(tuple(part[1:3]))
        elif part[0] == "integer":
            abi.integers.append((part[1], " ".join(part[2:])))
        elif part[0] == "status":
            abi.status.append(tuple(part[1:3]))
        elif part[0] == "constants":
            groups = abi.outside if part[-1] == "outside" else abi.groups
            part = part[:-1] if part[-1] == "outside" else part
            groups.append((part[1], " ".join(part[2:-1]), part[-1], []))
            rows = groups[-1][3]
        elif len(part) == 3 and abi.groups:
            rows.append((part[0], int(part[2], 0)))
            abi.symbols[part[0]] = part[1]
        elif len(part) == 2 and abi.groups:
            rows.append((part[0], int(part[1], 0)))
        else:
            raise Bad("%s:%d: what is '%s'?" % (path, number, line.strip()))
    return abi
