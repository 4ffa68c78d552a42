#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wrap the prose of documents at 100 characters: paragraphs and items of lists; tables, headings and code stay as they are.

  doc_wrap.py FILE.md ...        rewrites the files"""
import re
import sys
import textwrap

from doc_links import WIDTH

ITEM = re.compile(r"^(\s*(?:[*-]|\d+\.)\s+)(.*)$")


class Wrapper:
    def __init__(self):
        self.out, self.words, self.first, self.rest = [], [], "", ""

    def flush(self):
        """The paragraph that has been collected, wrapped; spaces in `code` do not break."""
        if self.words:
            text = re.sub(r"`[^`]*`", lambda m: m[0].replace(" ", "\0"), " ".join(self.words))
            lines = textwrap.wrap(text, WIDTH, initial_indent=self.first, subsequent_indent=self.rest,
                                  break_long_words=False, break_on_hyphens=False)
            self.out += [line.replace("\0", " ") for line in lines]
            self.words = []

    def begin(self, first, rest, text):
        self.flush()
        self.first, self.rest, self.words = first, rest, [text.strip()]

    def line(self, line):
        item = ITEM.match(line)
        if not line.strip() or line.startswith("#") or line.lstrip().startswith("|") or (line.startswith("    ") and not self.words):
            self.flush()
            self.out.append(line)
        elif item:
            self.begin(item[1], " " * len(item[1]), item[2])
        elif self.words:
            self.words.append(line.strip())
        else:
            indent = line[:len(line) - len(line.lstrip())]
            self.begin(indent, indent, line)


def wrap(text):
    w, fenced = Wrapper(), False
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("```") or fenced:
            w.flush()
            w.out.append(line)
            fenced ^= line.startswith("```")
        else:
            w.line(line)
    w.flush()
    return "\n".join(w.out) + "\n"


def main():
    for path in sys.argv[1:]:
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(wrap(text))


if __name__ == "__main__":
    main()
