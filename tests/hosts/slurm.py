# SPDX-License-Identifier: BSD-3-Clause
"""A real Slurm of a test's own: a controller and several nodes (slurmd -N) in a network namespace, with a configuration, keys and state in a folder of the
test's, all of which goes with the test."""
import atexit
import glob
import os
import re
import shutil
import signal
import subprocess
import sys

from namespaces import Namespaces, skip

MUNGED, CONTROLLER, SLURMD = (shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in ("munged", "slurmctld", "slurmd"))


VERSION = tuple(map(int, re.findall(r"\d+", subprocess.run([SLURMD, "-V"], capture_output=True, text=True).stdout)[:2])) if SLURMD else (0, 0)


def need():
    if os.geteuid() != 0:
        skip("a Slurm of its own needs root")
    if not (MUNGED and CONTROLLER and SLURMD and shutil.which("srun") and shutil.which("salloc")):
        skip("Slurm is not installed (slurmctld, slurmd, slurm-client, munge)")
    if not re.search(r"^ *-N ", subprocess.run([SLURMD, "-h"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout, re.M):
        skip("this slurmd has no -N, several nodes on one host")


class Slurm:
    """Nodes h1 .. hN of so many cores, all on this machine.  `until` waits for a condition (tests/faults/harness.py); `more`: lines of slurm.conf;
    `cgroup`: lines of cgroup.conf: then jobs are tracked and limited by cgroups."""

    def __init__(self, folder, nodes, until, cpus=2, more="", cgroup=None):
        need()
        self.limits = cgroup is not None
        self.folder, self.nodes, self.running = folder, nodes, []
        self.space = Namespaces(1)
        for words in ("link add hub type bridge", "addr add 10.79.0.1/24 dev hub", "link set hub up"):  # names are looked up only where there is more than loopback
            subprocess.run(["ip", "-n", self.space.names[0], *words.split()], check=True)
        atexit.register(self.close)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        for name in ("state", "spool", "tmp", *(f"tmp/h{i}" for i in range(1, nodes + 1))):  # the nodes' pmix plug-ins would meet in one folder
            os.mkdir(f"{folder}/{name}")
        with open(f"{folder}/key", "wb", opener=lambda path, flags: os.open(path, flags, 0o400)) as f:
            f.write(os.urandom(1024))
        with open(f"{folder}/slurm.conf", "w") as f:
            f.write(f"""ClusterName=keel
SlurmctldHost={os.uname().nodename}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/{"linuxproc" if cgroup is None else "cgroup"}
TaskPlugin=task/{"none" if cgroup is None else "cgroup"}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU{"" if cgroup is None else "_Memory"}
MpiDefault=none
KillWait=5
TmpFS={folder}/tmp/%n
{more}SlurmdParameters=config_overrides
NodeName=h[1-{nodes}] NodeHostname={os.uname().nodename} NodeAddr=127.0.0.1 Port=[17001-{17000 + nodes}] CPUs={cpus}{"" if cgroup is None else " RealMemory=1000"}
PartitionName=all Nodes=ALL Default=YES State=UP
""")
        if cgroup is None:  # else slurmd wants a cgroup of its own
            cgroup = "CgroupPlugin=disabled\n" if VERSION >= (23, 11) else ""
        if cgroup:
            with open(f"{folder}/cgroup.conf", "w") as f:
                f.write(cgroup)
        os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
        self.start(MUNGED, "--force", "--foreground", f"--key-file={folder}/key", f"--socket={folder}/munge.sock", f"--pid-file={folder}/munged.pid",
                   f"--log-file={folder}/munged.log", f"--seed-file={folder}/seed")
        until(lambda: os.path.exists(f"{folder}/munge.sock"))
        self.start(CONTROLLER, "-D")
        for i in range(1, nodes + 1):
            self.start(SLURMD, "-D", "-N", f"h{i}")
        if not until(lambda: self.idle() == nodes, 30):
            said = "".join(open(f"{folder}/{name}").read()[-800:] for name in ("controller.log", "h1.log") if os.path.exists(f"{folder}/{name}"))
            self.close()
            print(said)
            skip("its nodes did not become idle")

    def start(self, *words):
        with open(f"{self.folder}/said", "ab") as log:
            self.running.append(subprocess.Popen(self.inside(*words), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def inside(self, *words):
        return ["nsenter", f"--net=/run/netns/{self.space.names[0]}", *map(str, words)]  # slurmd wants /sys/fs/cgroup, which `ip netns exec` hides

    def idle(self):
        r = subprocess.run(self.inside("sinfo", "-h", "-t", "idle", "-o", "%D"), capture_output=True, text=True)
        return int(r.stdout) if r.stdout.strip().isdigit() else 0

    def jobs(self):
        return subprocess.run(self.inside("squeue", "-h"), capture_output=True, text=True).stdout

    def close(self):
        """The nodes first: they end what is left of jobs."""
        while self.running:
            p = self.running.pop()
            p.terminate()
            try:
                p.wait(timeout=5)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        for folder in glob.glob("/sys/fs/cgroup/*/slurm_h[0-9]*") if self.limits else ():  # they stay when slurmd ends
            for inner, _, _ in os.walk(folder, topdown=False):
                try:
                    os.rmdir(inner)
                except OSError:
                    pass
        self.limits = False
        self.space.remove()
