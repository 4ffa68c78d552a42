#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""modules.py FOLDER MODULE...: the symbols that a program may need which uses one of these modules, one a line, as gfortran calls them.  They
are read from the files that gfortran has made of the modules, in FOLDER."""
import gzip
import os
import re
import sys


def lists(text):
    """The text's parentheses as lists of words."""
    stack = [[]]
    for word in re.findall(r"\(|\)|'(?:[^']|'')*'|[^\s()']+", text):
        if word == "(":
            stack.append([])
        elif word == ")":
            last = stack.pop()
            stack[-1].append(last)
        else:
            stack[-1].append(word.strip("'"))
    return stack[0]


def procedures(path):
    """(its name, the module that it is of, its name in C, attributes) of each procedure that is there to be called"""
    with gzip.open(path, "rt") as f:
        if "GFORTRAN module" not in f.readline():
            sys.exit("%s is no module of gfortran" % path)
        table = max((x for x in lists(f.read()) if isinstance(x, list)), key=len)
    for i in range(0, len(table) - 5, 6): # number, name, module, label, namespace, what it is
        name, module, label, what = table[i + 1], table[i + 2], table[i + 3], table[i + 5]
        attributes = [x for x in what[0] if isinstance(x, str)]
        if attributes[:1] == ["PROCEDURE"] and not {"DUMMY", "ABSTRACT", "GENERIC"} & set(attributes) and not name.startswith("__"):
            yield name, module, label, attributes


def main():
    folder, *modules = sys.argv[1:]
    found = set()
    for module in modules:
        path = os.path.join(folder, module + ".mod")
        for name, of, label, attributes in procedures(path) if os.path.exists(path) else ():
            found.add(label or (name + "_" if "EXTERNAL" in attributes else "__%s_MOD_%s" % (of, name)))
    print("\n".join(sorted(found)))


main()
