# SPDX-License-Identifier: BSD-3-Clause
"""How much of MPI exists, by chapter; and which procedures have a test that notices a body that does nothing."""

import json
import os


def read_mutation(path):
    """{procedure: {"by": test or None}} of the last make api-mutation; None if there was none."""
    if not path or not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def report(api, exported, mutation_file):
    mutation = read_mutation(mutation_file)
    here = {p.name for p in exported}
    lines = ["%-10s %8s %8s%s  %s" % ("chapter", "exported", "of", "  tested" if mutation is not None else "", "what")]
    totals = [0, 0, 0]
    for chapter, title in api.chapters.items():
        procs = [p for p in api.procs if p.chapter == chapter]
        mine = [p for p in procs if p.name in here]
        tested = [p for p in mine if mutation and mutation.get(p.name, {}).get("by")]
        for i, n in enumerate((mine, procs, tested)):
            totals[i] += len(n)
        lines.append("%-10s %8d %8d%s  %s" % (chapter, len(mine), len(procs),
                                              "  %6d" % len(tested) if mutation is not None else "", title))
    lines.append("%-10s %8d %8d%s" % ("all", totals[0], totals[1], "  %6d" % totals[2] if mutation is not None else ""))
    if mutation is None:
        lines.append("tested: make api-mutation finds out (minutes)")
    else:
        no = sorted(name for name in here if not mutation.get(name, {}).get("by"))
        lines.append("no test fails when the body does nothing: %s" % (", ".join(no) or "none"))
    return "\n".join(lines)
