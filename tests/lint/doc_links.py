#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Documents (*.md): relative links lead to files of the tree and to headings that exist, every page of doc/ can be reached from
README.md, and prose wraps at 100 characters.  Links with a scheme (https:) are left alone.

Prints what is wrong and exits with 1, or prints how many links there are and exits with 0."""
import os
import re
import sys

from lint import TOP, read, sources

WIDTH = 100
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
CODE = re.compile(r"```.*?```|(?:(?<=\n\n)|^)(?: {4}[^\n]*\n)+|`[^`\n]*`", re.S)


def anchors(text):
    """The ids that sites give to the headings of a page."""
    found = set()
    for title in re.findall(r"^#+\s+(.*?)\s*$", re.sub(r"```.*?```", "", text, flags=re.S), re.M):
        slug = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        n = sum(s == slug or re.fullmatch(re.escape(slug) + r"-\d+", s) is not None for s in found)
        found.add(f"{slug}-{n}" if n else slug)
    return found


def links(text):
    return LINK.findall(CODE.sub("\n", text))


def long_lines(text):
    """Numbers of lines of prose that are too long: neither in a table nor in code, nor one word alone."""
    fenced = False
    for n, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        if len(line) > WIDTH and not fenced and not line.startswith(("|", "    ", "#")) and len(line.split()) > 2:
            yield n


def check(page, pages):
    """What is wrong on the page, and the pages that it leads to."""
    wrong, to = [], set()
    for link in links(pages[page]):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(TOP, target)):
            wrong.append(f"{page}: the link {link} leads to no file")
        elif anchor and target in pages and anchor not in anchors(pages[target]):
            wrong.append(f"{page}: {target} has no heading #{anchor}")
        to.add(target)
    wrong += [f"{page}:{n}: longer than {WIDTH} characters (tests/lint/doc_wrap.py {page} wraps it)" for n in long_lines(pages[page])]
    return wrong, to


def main():
    pages = {page: read(page) for page in sources(".md")}
    results = {page: check(page, pages) for page in pages}
    wrong = [line for lines, _ in results.values() for line in lines]
    reached, ahead = set(), {"README.md"}
    while ahead:
        page = ahead.pop()
        reached.add(page)
        ahead |= {to for to in results[page][1] if to in pages} - reached
    wrong += [f"{page}: no page that can be reached from README.md links to it" for page in sorted(set(pages) - reached) if page.startswith("doc/")]
    print("\n".join(wrong) if wrong else f"{sum(len(links(text)) for text in pages.values())} links on {len(pages)} pages lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
