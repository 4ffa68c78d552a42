#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The documents as a web site: the pages (*.md) of the source tree, the man pages, the procedures of MPI by chapter, and the
headers that are contracts.  `make doc` calls this; mkdocs (Debian: mkdocs) lays the site out, mandoc turns man pages into HTML.

  website.py --builddir BUILD --out FOLDER        writes FOLDER/html; FOLDER/pages is what mkdocs got

Exits with 0, with 77 where mkdocs or mandoc is missing (a reason on the last line), else with what mkdocs says."""
import argparse
import concurrent.futures
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = {
    "src/mpid/include/mpid.h": "The device interface, as the MPI layer sees it (ADI-2).",
    **{f"src/mpid/include/mpid_{subject}.h": f"Of that: {what}." for subject, what in (
        ("base", "requests, communicators, datatypes"), ("job", "the job, reports"), ("needs", "threads, listeners"), ("p2p", "messages"),
        ("context", "contexts, refusals"), ("datatype", "datatypes"), ("rma", "memory of other processes"), ("others", "other jobs"))},
    "src/mpid/include/mpid_listen.h": "What listeners are told.",
    "src/mpid/include/mpid_team.h": "Node teams: collective work through shared memory.",
    "src/mpid/include/mpid_op.h": "Predefined reductions on arrays of basic types.",
    "src/mpid/include/device.h": "The contract between the protocol core and a device.",
    **{f"src/mpid/include/device_{part}.h": f"Of that: {what}." for part, what in (
        ("base", "what both speak of"), ("services", "what the core does"), ("memory", "memory of peers"), ("near", "short ways of shared memory"))},
    "src/mpid/core/wire.h": "The packets that cores exchange.",
    "src/mpi/coll/coll.h": "What collective algorithms are written with.",
    "src/pmi/pmi.h": "How a process learns of its job.",
}
GUIDES = {
    "Using Keel": ["mpiexec", "options", "launching", "wrappers", "tools", "debugging", "checking", "collectives", "security"],
    "How it works": ["architecture", "glossary", "performance", "wire", "adi2", "porting-a-device"],
}
STYLE = """
.wy-nav-content { max-width: 62rem; }
.rst-content table { margin-bottom: 1.5rem; }
.rst-content table td, .rst-content table th { white-space: normal; vertical-align: top; padding: .3rem .6rem; border: 1px solid #ddd; }
.rst-content table th { background: #f0f3f6; text-align: left; }
.rst-content code { white-space: pre-wrap; color: #24446c; }
.rst-content pre code { white-space: pre; color: inherit; }
.rst-content .codehilite { background: inherit; }
.man h2 { font-size: 1.1rem; }
.man dl dt { margin: .6rem 0 0 !important; background: none !important; border: none !important; padding: 0 !important; color: inherit !important; }
.rst-content table td:first-child code { white-space: nowrap; }
.rst-content .man dl dd { margin-left: 1.5rem; }
.man .HP { margin-left: 2rem; text-indent: -2rem; }
.man p { margin-bottom: .8rem; }
"""
# The theme's pages name these, Debian's package lacks them.
SCRIPT = "document.querySelectorAll('.rst-content table').forEach(function (t) { t.classList.add('docutils') });\n"
JQUERY = "/usr/share/javascript/jquery/jquery.min.js"


def pages():
    """The *.md files of the tree: what git tracks or does not ignore; in a tarball, all."""
    r = subprocess.run(["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True)
    found = r.stdout.split() if r.returncode == 0 else [
        os.path.relpath(p, TOP) for p in glob.glob(os.path.join(TOP, "**/*.md"), recursive=True)]
    return sorted(p for p in set(found) if not p.startswith("_") and os.path.exists(os.path.join(TOP, p)))


def write(folder, path, text):
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def read(path):
    with open(os.path.join(TOP, path)) as f:
        return f.read()


def man_page(path, known):
    """A man page as a page of the site: its name, and its text with links to others."""
    name = os.path.basename(path)
    r = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path], capture_output=True, text=True, check=True)
    text = re.sub(r'<table class="(head|foot)">.*?</table>', "", r.stdout, flags=re.S)
    text = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", text, flags=re.S)
    text = re.sub(r"<(/?)h([12])\b", lambda m: f"<{m[1]}h{int(m[2]) + 1}", text)
    text = re.sub(r"<b>([\w.-]+)</b>\s*\((\d)\)", lambda m: f'<a href="../{m[1]}.{m[2]}/">{m[1]}({m[2]})</a>' if f"{m[1]}.{m[2]}" in known else m[0], text)
    title, section = name.rsplit(".", 1)
    return name, f'# {title}({section})\n\n<div class="man">\n' + "\n".join(line for line in text.split("\n") if line.strip()) + "\n</div>\n"


def man_pages(builddir, out):
    """All man pages, under man/; the names that there are."""
    paths = [p for p in sorted(glob.glob(os.path.join(builddir, "man/*.3")) + glob.glob(os.path.join(TOP, "doc/*.1")))]
    with_text = []
    for p in paths:
        with open(p) as f:
            if not f.read(4).startswith(".so "):
                with_text.append(p)
    known = {os.path.basename(p) for p in with_text}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, text in pool.map(lambda p: man_page(p, known), with_text):
            write(out, f"man/{name}.md", text)
    return known


def procedures(known, out):
    """The procedures by chapter, those that have a man page."""
    text, chapter = "# Procedures of MPI\n\nThose that this version has, by chapter of the standard; each leads to its man page.\n", None
    rows = re.findall(r"^chapter \S+ -- (.*)$|^(MPI_\w+)\b.*\n(?:\s+=\s*(.*))?", read("src/mpi/binding/api.txt"), re.M)
    for title, name, summary in rows:
        if title:
            chapter = title
        elif name + ".3" in known:
            if chapter:
                text += f"\n## {chapter[0].upper() + chapter[1:]}\n\n| procedure | |\n|---|---|\n"
                chapter = None
            text += f"| [{name}](../man/{name}.3.md) | {html.escape(summary)} |\n"
    write(out, "api/procedures.md", text)


def header(path, about, out):
    """A header, cut at the comments that open a section."""
    name, text = os.path.basename(path), read(path)
    parts = re.split(r"^/\* -{3,} *(.*?)[ -]*(?:\*/ *)?$\n", text, flags=re.M)
    page = f"# {name}\n\n{about} The file is `{path}`.\n"
    for title, code in zip(["", *parts[1::2]], parts[::2]):
        if code.startswith(" *"):  # the rest of the comment
            code = "/*" + re.sub(r"^\n \*", "", code[2:])
        if code.strip():
            page += (f"\n## {title}\n" if title else "") + "\n```c\n" + code.strip("\n") + "\n```\n"
    write(out, f"api/{name}.md", page)


def folder_pages(prefix, every):
    return [{os.path.dirname(p) if os.path.basename(p) == "README.md" else p: p} for p in every if p.startswith(prefix)]


def configuration(every, known):
    guides = [{title: [f"doc/{name}.md" for name in names if f"doc/{name}.md" in every]} for title, names in GUIDES.items()]
    listed = {p for group in guides for pages in group.values() for p in pages}
    others = [p for p in every if re.fullmatch(r"doc/[^/]+\.md", p) and p not in listed]
    commands = [{name.rsplit(".", 1)[0] + "(1)": f"man/{name}.md"} for name in sorted(known) if name.endswith(".1")]
    return {
        "site_name": "Keel MPI",
        "docs_dir": "pages",
        "site_dir": "html",
        "use_directory_urls": True,
        "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3},  # highlightjs comes from elsewhere
        "extra_css": ["style.css"],
        "markdown_extensions": ["tables", "fenced_code", {"codehilite": {"guess_lang": False, "noclasses": True}}],
        "plugins": ["search"],
        "nav": [
            {"Start": "README.md"}, *guides, *([{"More": others}] if others else []),
            {"Measurements": [p for p in every if p.startswith("doc/measurements/")]},
            # One level alone: the theme opens every folded one.
            {"Reference": [{"Procedures of MPI": "api/procedures.md"}, *commands,
                           *({os.path.basename(p): f"api/{os.path.basename(p)}.md"} for p in HEADERS)]},
            {"Source folders": folder_pages("src/", every)},
            {"Tests and examples": folder_pages("tests/", every) + folder_pages("examples/", every)},
        ],
    }


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--builddir", required=True)
    p.add_argument("--out", required=True)
    args = p.parse_args()
    missing = [tool for tool in ("mkdocs", "mandoc") if not shutil.which(tool)]
    if missing:
        print(f"{' and '.join(missing)} not installed (Debian: apt install mkdocs mandoc)")
        return 77
    out = os.path.join(args.out, "pages")
    shutil.rmtree(out, ignore_errors=True)
    every = pages()
    for page in every:
        write(out, page, read(page))
    write(out, "style.css", STYLE)
    write(out, "js/theme_extra.js", SCRIPT)
    if os.path.exists(JQUERY):
        shutil.copy(JQUERY, os.path.join(out, "js/jquery-3.6.0.min.js"))
    known = man_pages(args.builddir, out)
    procedures(known, out)
    for path, about in HEADERS.items():
        header(path, about, out)
    # JSON is YAML.
    write(args.out, "mkdocs.yml", json.dumps(configuration(every, known), indent=1))
    code = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--clean", "-f", os.path.join(args.out, "mkdocs.yml")]).returncode
    if code == 0:
        print(f"{len(every)} pages and {len(known)} man pages: {os.path.join(args.out, 'html', 'index.html')}")
    return code


if __name__ == "__main__":
    sys.exit(main())
