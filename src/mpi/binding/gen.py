#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Generates what src/mpi/binding describes: gen.py WHAT --out DIR [--srcdir DIR] [--mutant] [FILES...]

    headers    include/mpi.h, include/mpicxx.h, include/mpi_const.h, src/mpi/binding/bodies.h, src/mpi/coll/forms.c, src/mpi/fortran/fort_handles.h; what has no body in FILES is marked
    front      src/mpi/binding/front_*.c for the bodies defined in FILES; --abi NAME: src/mpi/binding/NAME/front_*.c
    man        man/*.3, a page for each procedure that the front exports, and MPI.3, which leads to them
    fortran    include/mpif.h, src/mpi/fortran/*.f90, fort_*.c: the Fortran bindings of what the front exports
    status     prints how much of MPI exists, by chapter
    list       the names of what the front exports, one a line
A file is rewritten only when its text changes."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import gen_callbacks  # noqa: E402
import gen_cxx    # noqa: E402
import gen_forms  # noqa: E402
import gen_fortran  # noqa: E402
import gen_fortran_modules  # noqa: E402
import gen_front  # noqa: E402
import gen_man    # noqa: E402
import gen_maps   # noqa: E402
import headers    # noqa: E402
import status     # noqa: E402
from api import Bad, read_abi, read_api  # noqa: E402
from bodies import bodies_of, scan       # noqa: E402


def write(out, name, text):
    path = os.path.join(out, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except FileNotFoundError:
        pass
    with open(path + ".tmp", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".tmp", path)


def make_headers(api, abi, out, bodies):
    here = {p.name for p in gen_front.exported(api, bodies)}
    write(out, "include/mpi.h", headers.mpi_h(api, abi, here))
    write(out, "include/mpicxx.h", gen_cxx.mpicxx_h(os.path.join(HERE, "../cxx"), api, here))
    write(out, "include/mpi_const.h", headers.const_h(abi))
    write(out, "src/mpi/binding/bodies.h", headers.bodies_h(api))
    write(out, "src/mpi/coll/forms.c", gen_forms.forms_c(api))
    write(out, "src/mpi/fortran/fort_handles.h", gen_fortran.handle_h(api, bodies))


def make_front(api, abi, out, bodies, mutant):
    maps = gen_maps.Maps(abi, read_abi(os.path.join(HERE, "abi-standard.txt")))
    folder = "src/mpi/binding/mutant/" if mutant else "src/mpi/binding/" if maps.identical else "src/mpi/binding/%s/" % abi.name
    write(out, folder + "front_abi.h", gen_front.abi_h(abi, maps))
    write(out, folder + "front_abi.c", gen_callbacks.abi_c(abi, maps))
    for chapter in api.chapters:
        write(out, "%sfront_%s.c" % (folder, chapter), gen_front.chapter_c(chapter, api, bodies, abi, maps, mutant))


def make_fortran(api, abi, out, bodies):
    if abi.owner: # for programs that have that MPI's modules
        here = {p.name for p in gen_front.exported(api, bodies)}
        folder = "src/mpi/binding/%s/" % abi.name
        write(out, folder + "mpi.h", headers.mpi_h(api, abi, here))
        addresses = abi.coding == "symbols"
        write(out, folder + "fort_their_handles.h", gen_fortran.pointer_handles_h() if addresses else gen_fortran.int_handles_h())
        if addresses:
            write(out, folder + "fort_constants.inc", gen_fortran.module_constants(abi))
        names = gen_fortran.openmpi_names if addresses else gen_fortran.mpich_names
        write(out, folder + "fort_mpi.c", gen_fortran.c_file(api, bodies, "", names, abi.also))
        write(out, folder + "fort_pmpi.c", gen_fortran.c_file(api, bodies, "P", names, abi.also))
        return
    write(out, "include/mpif.h", gen_fortran_modules.mpif_h(api, abi, bodies))
    for name, text in gen_fortran_modules.modules(api, abi, bodies).items():
        write(out, "src/mpi/fortran/" + name, text)
    write(out, "src/mpi/fortran/fort_mpi.c", gen_fortran.c_file(api, bodies, ""))
    write(out, "src/mpi/fortran/fort_pmpi.c", gen_fortran.c_file(api, bodies, "P"))
    write(out, "src/mpi/fortran/fort8_mpi.c", gen_fortran.c_file_wide(api, bodies, ""))
    write(out, "src/mpi/fortran/fort8_pmpi.c", gen_fortran.c_file_wide(api, bodies, "P"))


def make_man(api, out, bodies, version):
    pages = gen_man.pages(api, gen_front.exported(api, bodies), version)
    for name, text in pages.items():
        write(out, "man/" + name, text)
    for name in set(os.listdir(os.path.join(out, "man"))) - set(pages) if pages else ():
        os.unlink(os.path.join(out, "man", name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["headers", "front", "fortran", "man", "status", "list"])
    parser.add_argument("--out", default=".")
    parser.add_argument("--srcdir", default=".", help="where FILES are if not here")
    parser.add_argument("--large", action="store_true", help="list MPI_X_c too")
    parser.add_argument("--mutation", help="the results of make api-mutation")
    parser.add_argument("--version", default="")
    parser.add_argument("--abi", default="standard", help="the front of abi-NAME.txt; of others than the standard's in a folder NAME")
    parser.add_argument("--mutant", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_intermixed_args()
    api, abi = read_api(os.path.join(HERE, "api.txt")), read_abi(os.path.join(HERE, "abi-%s.txt" % args.abi))
    files = [f if os.path.exists(f) else os.path.join(args.srcdir, f) for f in args.files if f.endswith(".c")]
    bodies = bodies_of(api, {**gen_forms.forms_bodies(api), **scan(files)})
    if args.what == "headers":
        make_headers(api, abi, args.out, bodies)
    elif args.what == "front":
        make_front(api, abi, args.out, bodies, args.mutant)
    elif args.what == "fortran":
        make_fortran(api, abi, args.out, bodies)
    elif args.what == "man":
        make_man(api, args.out, bodies, args.version)
    elif args.what == "status":
        print(status.report(api, gen_front.exported(api, bodies), args.mutation))
    else:
        for proc in gen_front.exported(api, bodies):
            print(proc.name)
            if args.large and proc.has("large"):
                print(proc.name + "_c")


if __name__ == "__main__":
    try:
        main()
    except Bad as e:
        sys.exit("gen.py: %s" % e)
