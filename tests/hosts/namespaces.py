# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces as hosts of a test, made and removed; ranks in them without any agent: mpiexec's simulated nodes, each moved into one."""
import atexit
import os
import subprocess
import sys


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


class Namespaces:
    """N namespaces with lo up and nothing else; removed when this is left, or at the end of the program."""

    def __init__(self, n):
        self.names = []
        atexit.register(self.remove)
        for i in range(n):
            name = f"keel{os.getpid()}n{i}"
            made = subprocess.run(["ip", "netns", "add", name], stderr=subprocess.PIPE, text=True)
            if made.returncode != 0:
                skip("no network namespaces can be made: " + made.stderr.strip())
            self.names.append(name)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)

    def remove(self):
        while self.names:
            subprocess.run(["ip", "netns", "del", self.names.pop()])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def moved(names, addresses, ranks):
    """Words for mpiexec before the program: ranks in blocks on simulated nodes, node i in the namespace names[i] at addresses[i]."""
    cases = " ".join(f"{r}) n={names[r * len(names) // ranks]} a={addresses[r * len(names) // ranks]};;" for r in range(ranks))
    script = f"case $PMI_RANK in {cases} esac; KEEL_TCP_HOST=$a exec ip netns exec $n \"$@\""
    return ["-fake-nodes", str(len(names)), "-n", str(ranks), "sh", "-c", script, "sh"]
