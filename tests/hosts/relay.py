# SPDX-License-Identifier: BSD-3-Clause
"""A slow, lossy, breakable network between namespaces: relay.c, built and started, and told what to do."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def build(folder):
    """Compile relay.c into the folder; the program's path."""
    out = os.path.join(folder, "relay")
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", out, os.path.join(HERE, "relay.c")], check=True)
    return out


class Relay:
    """Joins the namespaces, which have no other way to each other.  Host i (from 1) has the addresses NET.i/24 and NET6::i/64.

    Options are relay.c's: delay (ms, one way), loss, reorder (percent), rate (Mbit/s), seed."""

    def __init__(self, program, namespaces, net="10.77.0", net6="fd77:", **options):
        args = [str(w) for name, value in options.items() for w in ("-" + name, value)]
        self.namespaces, self.told = namespaces, ""
        self.addresses = [f"{net}.{i + 1}" for i in range(len(namespaces))]
        self.addresses6 = [f"{net6}:{i + 1}" for i in range(len(namespaces))]
        self.process = subprocess.Popen([program, *args, *namespaces], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise OSError("the relay did not start")
        for name, v4, v6 in zip(namespaces, self.addresses, self.addresses6):
            for command in (f"addr add {v4}/24 dev relay0", f"addr add {v6}/64 dev relay0 nodad", "link set relay0 up"):
                subprocess.run(["ip", "-n", name, *command.split()], check=True)

    def do(self, command):
        """E.g. "loss 5", or "cut NAMESPACE"."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer != "ok\n":
            raise ValueError(f"{command}: {answer}")

    def close(self):
        """How many packets were {relayed, lost, late, cut}."""
        if self.process.poll() is None:
            self.told, _ = self.process.communicate(timeout=10)
        words = self.told.split()
        return {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
