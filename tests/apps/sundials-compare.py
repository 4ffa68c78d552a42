#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sundials-compare.py ANSWER OUTPUT: is the solution that a SUNDIALS example printed the expected one?

The steps that an adaptive solver takes depend on the last bit of every sum, thus on the order in which ranks are added (one
MPI differs from another). So counters and sizes of steps are left out here; the rest has to have the same words, and the same
values to 1% (and 0.5% of the largest value that stands at that place, since what is nearly zero is noise)."""
import re
import sys

STATISTICS = (r'no\. steps.*', r'\|.*', r'(?<=e[-+]\d\d)( +\d+){3,}.*', r'(?<=e[-+]\d\d) +\d+ +\d\.\d+e[-+]\d\d +\d+$')
NUMBER = r'[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?'


def lines(path):
    """(words, values) of each line that is not empty: values are the numbers with a point or an exponent."""
    found = []
    for line in open(path, errors='replace'):
        for pattern in STATISTICS:
            line = re.sub(pattern, '', line.rstrip())
        if line.strip():
            values = [float(n) for n in re.findall(NUMBER, line) if re.search('[.eE]', n)]
            found.append((' '.join(re.sub(NUMBER, '#', line).split()), values))
    return found


def main():
    answer, output = lines(sys.argv[1]), lines(sys.argv[2])
    largest = {}
    for words, values in answer:
        for place, value in enumerate(values):
            largest[words, place] = max(largest.get((words, place), 0), abs(value))
    if len(answer) != len(output):
        sys.exit(f'{len(output)} lines; expected {len(answer)}')
    compared = 0
    for (words, values), (got_words, got) in zip(answer, output):
        if words != got_words or len(values) != len(got):
            sys.exit(f'"{got_words}"; expected "{words}"')
        for place, (a, b) in enumerate(zip(values, got)):
            if not abs(a - b) <= 0.01 * abs(a) + 0.005 * largest[words, place]:
                sys.exit(f'{b} in "{words}"; expected {a}')
            compared += 1
    if not compared:
        sys.exit('no values')
    print(f'{compared} values as expected')


main()
