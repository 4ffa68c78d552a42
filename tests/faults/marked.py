# SPDX-License-Identifier: BSD-3-Clause
"""Processes found by their environment: a rank may be in a process group, a session, even a process tree of its own."""
import os


def marked(entry):
    """(pid, command line) of each process that is no zombie and has the entry, NAME=VALUE, in its environment."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                env = f.read()
            with open(f"/proc/{pid}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                cmd = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if entry.encode() in env and state != "Z":
            found.append((int(pid), cmd))
    return found
