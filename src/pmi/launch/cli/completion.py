#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""completion.py OPTIONS.DEF FOLDER MPIEXEC MPIRUN: what bash, zsh and fish complete on mpiexec's command line, from the options that it has.

MPIEXEC, MPIRUN: the installed names of the commands.  Written to FOLDER, by these names: mpiexec and mpirun (bash), _mpiexec (zsh), mpiexec.fish and
mpirun.fish.  Offered are the first name of each option and, once a letter is there,
its other names; words that an option takes; files, folders, programs and hosts where it takes those."""
import os
import re
import sys

# What an option takes, by its first name; else by the name of its value (KINDS).
WORDS = {
    "bind-to": "none share core hwthread l2cache l3cache numa package board user:",
    "map-by": "node slot core hwthread l3cache numa package ppr:",
    "rank-by": "slot node fill package numa core",
    "launcher": "ssh slurm fork",
    "rmk": "slurm pbs lsf sge none",
    "order-nodes": "ASCENDING DESCENDING",
    "threads": "share none",
    "abi": "standard mpich openmpi always none",
    "initial-errhandler": "mpi_errors_are_fatal mpi_errors_abort mpi_errors_return",
    "display": "map bindings",
    "output": "tag rank timestamp merge dir= file=",
    "stream-buffering": "0 1 2",
    "stdin": "0 none all",
    "usize": "SYSTEM INFINITE",
    "memory-alloc-kinds": "system mpi mpi:alloc_mem mpi:win_allocate mpi:win_allocate_shared cuda cuda:device",
}
KINDS = {"FILE": "file", "FILES": "file", "FILE|DIR": "file", "DIR": "folder", "DIRS": "folder", "PROGRAM": "program", "PID": "process"}
HOSTS = ("host",)


class Option:
    def __init__(self, names, values, metavar, text):
        self.names, self.values, self.text = names.split("|"), values, text
        self.first = self.names[0]
        self.words = WORDS.get(self.first, "")
        self.kind = "words" if self.words else "host" if self.first in HOSTS else KINDS.get(metavar.split("[")[0], "none")


def options(path):
    """Those that do something; of the others (TAKE, NOTE) only how many values they have matters."""
    text = open(path).read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    ours, others = [], []
    numbers = {"PAIR": 2, "IF_ANY": 1}
    for what, names, n, rest in re.findall(r'(WHAT|TAKE|NOTE)\("([^"]+)", (-?\w+)(.*?)\)\n', text, re.S):
        strings = [s.replace('\\"', '"') for s in re.findall(r'"((?:[^"\\]|\\.)*)"', rest)]
        values = numbers.get(n) if n in numbers else int(n)
        if what == "WHAT":
            ours.append(Option(names, values, strings[0], "".join(strings[1:])))
            ours[-1].pair, ours[-1].perhaps = n == "PAIR", n == "IF_ANY"
        else:
            others.append((names.split("|"), values))
    return ours, others


BASH = r"""# bash completion for mpiexec and mpirun; made from mpiexec's options (src/pmi/launch/cli/completion.py).

# How many values an option takes: sets n (PAIR: a name and a value, or both in one word).
_keel_mpiexec_values() {
    case $1 in
@VALUES@
    *) n=0 ;;
    esac
}

_keel_mpiexec() {
    local cur=${COMP_WORDS[COMP_CWORD]} word option="" n=0 left=0 program="" i dash
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((left > 0)); then
            left=$((left - 1))
            [[ $left == 1 && $n == PAIR && $word == *=* ]] && left=0
        elif [[ -n $program ]]; then
            [[ $word == : ]] && program=""
        elif [[ $word == -?* ]]; then
            option=${word#-} option=${option#-}
            _keel_mpiexec_values "${option%%=*}"
            left=$n
            [[ $n == PAIR ]] && left=2
            [[ $option == *=* ]] && left=0
        else
            program=$word
        fi
    done
    if ((left > 0)); then
        case $option in
@TAKES@
        esac
        return
    fi
    if [[ -n $program ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    elif [[ $cur == -* ]]; then
        dash=-
        [[ $cur == --* ]] && dash=--
        if [[ $cur == "$dash" ]]; then
            mapfile -t COMPREPLY < <(compgen -P "$dash" -W "@FIRST@" -- "")
        else
            mapfile -t COMPREPLY < <(compgen -P "$dash" -W "@ALL@" -- "${cur#"$dash"}")
        fi
    else
        mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _keel_mpiexec @MPIEXEC@ @MPIRUN@
"""
BASH_TAKES = {
    "file": 'mapfile -t COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames 2>/dev/null',
    "folder": 'mapfile -t COMPREPLY < <(compgen -d -- "$cur"); compopt -o filenames 2>/dev/null',
    "program": 'mapfile -t COMPREPLY < <(compgen -c -- "$cur")',
    "host": 'mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")',
    "process": 'mapfile -t COMPREPLY < <(compgen -W "$(pgrep -x @MPIEXEC@)" -- "$cur")',
}


def bash(ours, others):
    values = ["    %s) n=%s ;;" % ("|".join(o.names), "PAIR" if o.pair else o.values)
              for o in ours if o.values > 0]
    values += ["    %s) n=%d ;;" % ("|".join(names), n) for names, n in others if n > 0]
    takes = []
    for o in ours:
        if o.values > 0 and o.kind != "none":
            how = BASH_TAKES.get(o.kind, 'mapfile -t COMPREPLY < <(compgen -W "%s" -- "$cur")' % o.words)
            takes.append("        %s) %s ;;" % ("|".join(o.names), how))
    return (BASH.replace("@VALUES@", "\n".join(values)).replace("@TAKES@", "\n".join(takes))
            .replace("@FIRST@", " ".join(o.first for o in ours)).replace("@ALL@", " ".join(n for o in ours for n in o.names)))


ZSH = r"""#compdef @MPIEXEC@ @MPIRUN@
# zsh completion for mpiexec and mpirun; made from mpiexec's options (src/pmi/launch/cli/completion.py).
_arguments -S -C \
@SPECS@
    '(-)*::program and its arguments:_normal'
"""
ZSH_TAKES = {"file": "_files", "folder": "_files -/", "program": "_command_names -e", "host": "_hosts",
             "process": "compadd -- $(pgrep -x @MPIEXEC@)", "none": " "}


def zsh(ours):
    specs = []
    for o in ours:
        text = re.sub(r"[\[\]]", lambda m: "\\" + m.group(), o.text).replace("'", "'\\''").replace(":", "\\:")
        take = "(%s)" % o.words.replace(":", "\\:") if o.kind == "words" else ZSH_TAKES[o.kind]
        value = "" if o.values < 1 else "::%s:%s" % (o.first, take) if o.perhaps else ":%s:%s" % (o.first, take)
        if o.pair:
            value += ":value: "
        for name in o.names:
            for dash in ("-", "--"):
                specs.append("    '*%s%s[%s]%s' \\" % (dash, name, text, value))
    return ZSH.replace("@SPECS@", "\n".join(specs))


def fish(ours):
    lines = ["# fish completion for mpiexec and mpirun; made from mpiexec's options (src/pmi/launch/cli/completion.py)."]
    takes = {"file": "-r -F", "folder": "-x -a '(__fish_complete_directories)'", "program": "-x -a '(__fish_complete_command)'",
             "host": "-x -a '(__fish_print_hostnames)'", "process": "-x -a '(pgrep -x @MPIEXEC@)'", "none": "-x"}
    for o in ours:
        text = o.text.replace("\\", "\\\\").replace("'", "\\'")
        take = "" if o.values < 1 else "-x -a '%s'" % o.words if o.kind == "words" else takes[o.kind]
        for name in o.names:
            lines.append(" ".join(w for w in ("complete -c @MPIEXEC@ -o", name, "" if len(name) == 1 else "-l " + name, take, "-d '%s'" % text) if w))
    lines += ["complete -c @MPIEXEC@ -n 'not string match -q -- \"-*\" (commandline -ct)' -a '(__fish_complete_command)'",
              "complete -c @MPIRUN@ -w @MPIEXEC@"]
    return "\n".join(lines) + "\n"


def main():
    path, folder, mpiexec, mpirun = sys.argv[1:]
    ours, others = options(path)
    in_bash, in_fish = bash(ours, others), fish(ours)
    made = {"bash": {mpiexec: in_bash, mpirun: in_bash}, "zsh": {"_" + mpiexec: zsh(ours)},
            "fish": {mpiexec + ".fish": in_fish, mpirun + ".fish": in_fish}}
    for shell, files in made.items():
        os.makedirs(os.path.join(folder, shell), exist_ok=True)
        for name, text in files.items():
            with open(os.path.join(folder, shell, name), "w") as f:
                f.write(text.replace("@MPIEXEC@", mpiexec).replace("@MPIRUN@", mpirun))


main()
