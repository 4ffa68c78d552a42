# SPDX-License-Identifier: BSD-3-Clause
"""Hosts made of network namespaces: each with a name and addresses of its own, and an sshd; joined by a bridge in one more namespace, or by the relay.

They share files and processes' numbers with this machine.  Everything has this process's number in its name, and is gone when it ends,
however it ends (but by SIGKILL)."""
import atexit
import os
import shutil
import signal
import subprocess
import sys
import time
import relay
from namespaces import Namespaces

PORT = 2022


def sh(*words, check=True, **more):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if check and p.returncode != 0:
        raise OSError(f"{' '.join(words)}: {p.stdout.strip()}")
    return p.stdout


def why_not(relayed=False):
    """Why there can be no such hosts here; None: there can.  `relayed`: joined by the relay."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "unshare", "ssh", "ssh-keygen"):
        if not shutil.which(program):
            return f"{program} is not installed"
    if not os.path.exists("/usr/sbin/sshd"):
        return "sshd is not installed (openssh-server)"
    if relayed and not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        return "no /dev/net/tun"
    name = f"keel{os.getpid()}try"
    try:
        sh("ip", "netns", "add", name)
    except OSError as e:
        return f"network namespaces cannot be made here: {e}"
    try:
        sh("ip", "-n", name, "link", "add", "one", "type", "veth", "peer", "name", "two")
        sh("ip", "-n", name, "link", "add", "hub", "type", "bridge")
    except OSError as e:
        return f"links between network namespaces cannot be made here: {e}"
    finally:
        sh("ip", "netns", "del", name, check=False)
    return None


class Net:
    """Hosts node1 .. nodeN, with the addresses 10.77.0.1 and fd77::1 and so on.

    Options (Relay's: delay=20, loss=1): the relay joins them, and nothing else does."""

    def __init__(self, n, tmp, **options):
        self.n, self.tmp, self.sshd, self.relay = n, tmp, {}, None
        self.spaces = Namespaces(n if options else n + 1)
        self.names, self.bridge = self.spaces.names[:n], self.spaces.names[-1]
        atexit.register(self.close)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        if options:
            self.relay = relay.Relay(relay.build(tmp), self.names, **options)
        else:
            self.make_bridge()
        self.keys()
        for i in range(1, n + 1):
            self.start_sshd(i)

    def make_bridge(self):
        sh("ip", "-n", self.bridge, "link", "add", "hub", "type", "bridge")
        sh("ip", "-n", self.bridge, "link", "set", "hub", "up")
        for i, name in enumerate(self.names, 1):
            sh("ip", "-n", self.bridge, "link", "add", f"h{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            sh("ip", "-n", self.bridge, "link", "set", f"h{i}", "master", "hub", "up")
            sh("ip", "-n", name, "addr", "add", f"10.77.0.{i}/24", "dev", "eth0")
            sh("ip", "-n", name, "link", "set", "eth0", "up")

    def keys(self):
        for name in ("host", "user", "stranger"):
            sh("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{self.tmp}/{name}")
        shutil.copy(f"{self.tmp}/user.pub", f"{self.tmp}/authorized")
        with open(f"{self.tmp}/host.pub") as f, open(f"{self.tmp}/known", "w") as g:
            g.write("keelhosts " + " ".join(f.read().split()[:2]) + "\n")
        with open(f"{self.tmp}/sshd_config", "w") as f:
            f.write(f"Port {PORT}\nHostKey {self.tmp}/host\nAuthorizedKeysFile {self.tmp}/authorized\nUsePAM no\nStrictModes no\nPidFile none\n"
                    "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\nMaxStartups 100\nPrintMotd no\n"
                    "SetEnv SHLVL=1\n")  # bash leaves out ~/.bashrc then: what the user has there takes its time, and a lock that it holds when it is killed stays
        for key in ("user", "stranger"):
            with open(f"{self.tmp}/ssh_{key}", "w") as f:
                for i in range(1, self.n + 1):
                    f.write(f"Host node{i}\n HostName 10.77.0.{i}\n")
                f.write("Host node9\n HostName 10.77.0.9\n")
                f.write(f"Host *\n Port {PORT}\n User root\n IdentityFile {self.tmp}/{key}\n IdentitiesOnly yes\n IdentityAgent none\n"
                        f" UserKnownHostsFile {self.tmp}/known\n GlobalKnownHostsFile /dev/null\n HostKeyAlias keelhosts\n")

    def inside(self, i, *words):
        """The command that runs these words on node i."""
        return ["ip", "netns", "exec", self.names[i - 1], "unshare", "-u", "sh", "-c", f'hostname node{i}; exec "$@"', "sh", *map(str, words)]

    def start_sshd(self, i):
        os.makedirs("/run/sshd", exist_ok=True)  # where sshd wants it
        with open(f"{self.tmp}/sshd{i}.log", "ab") as log:
            self.sshd[i] = subprocess.Popen(self.inside(i, "/usr/sbin/sshd", "-D", "-e", "-f", f"{self.tmp}/sshd_config"), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        end = time.time() + 10
        while f":{PORT}" not in sh("ip", "netns", "exec", self.names[i - 1], "ss", "-ltn", check=False) and time.time() < end:
            time.sleep(0.02)

    def pids(self, i):
        """Processes on node i but for its sshd (and the relay, which is in one of the namespaces)."""
        listed = sh("ip", "netns", "pids", self.names[i - 1], check=False).split()
        ours = [self.sshd[i].pid] + ([self.relay.process.pid] if self.relay else [])
        return [int(p) for p in listed if int(p) not in ours]

    def running(self, i):
        """The same, with what they are; without those that have ended."""
        found = {}
        for pid in self.pids(i):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    found[pid] = f.read().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                pass
        return {pid: text for pid, text in found.items() if text}

    def link(self, i, up):
        if self.relay:
            self.relay.do(("join " if up else "cut ") + self.names[i - 1])
            return
        sh("ip", "-n", self.bridge, "link", "set", f"h{i}", "up" if up else "down")

    def close(self):
        for i in range(1, len(self.names) + 1):
            for pid in self.pids(i) if i in self.sshd else []:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            if i in self.sshd:
                self.sshd[i].kill()
                self.sshd[i].wait()
        if self.relay:
            self.relay.close()
        self.names, self.sshd, self.relay = [], {}, None
        self.spaces.remove()
