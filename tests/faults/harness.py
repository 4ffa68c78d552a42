# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of this folder share: running mpiexec, finding what it left behind, counting checks."""
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import marked as processes

TOP = os.environ.get("TOP_SRCDIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.append(os.path.join(TOP, "tests"))
from runner.process import busy, collect, patience

BUILD = os.environ["TOP_BUILDDIR"]
MPIEXEC = os.environ["MPIEXEC"]
MPICC = os.environ["MPICC"]
RANK = os.path.join(BUILD, "tests", "faults", "pmi_rank")
MARK = "KEELTEST" + uuid.uuid4().hex  # in the environment of all we start: finds what is left
for name in list(os.environ):
    if re.match(r"KEEL_|PMI|OMPI_|SLURM_|PBS_NODEFILE|PE_HOSTFILE|LSB_|MPIEXEC_TIMEOUT", name):
        del os.environ[name]
os.environ["TEST_MARK"] = MARK
# Open MPI 5 takes two processes for unreachable, under its own mpirun, too, where the only interface has an IPv6 address.
os.environ["OMPI_MCA_btl_tcp_disable_family"] = "6"
TMP = tempfile.TemporaryDirectory(prefix="faults")
# Whoever runs us in the background may have these ignored, and mpiexec respects that.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
failures = 0


def check(what, ok, detail=""):
    global failures
    if not ok:
        failures += 1
        print(f"FAILED {what}\n  {detail}", flush=True)


def same(what, got, want):
    check(what, got == want, f"got      {got!r}\n  expected {want!r}")


def matches(what, text, pattern):
    check(what, re.search(pattern, text, re.M), f"got      {text!r}\n  expected {pattern}")


def soon(what, seconds, most, least=0):
    """It took no longer than this on a machine with nothing else to do; a busy one may take longer, as with all limits of the runner."""
    check(what, least <= seconds < most * busy(), f"{seconds:.2f} s, expected {least} to {most} on a machine with nothing else to do")


# Ranks in a report of several that made the same mistake.  On a busy machine mpiexec ends the job before the last of them has made it.
SOME = r"ranks? [-\d, ]+"


class Run:
    """One finished mpiexec.  err_to: a file that has what it says on stderr while it runs."""

    def __init__(self, *args, stdin=b"", timeout=20, env=None, cmd=None, cwd=None, err_to=None):
        full = dict(os.environ)
        for k, v in (env or {}).items():
            if v is None:
                full.pop(k, None)
            else:
                full[k] = v
        self.cmd = [*(cmd or [MPIEXEC]), *map(str, args)]
        start = time.time()
        err_file = open(err_to, "wb+") if err_to else None
        p = subprocess.Popen(self.cmd, stdin=subprocess.PIPE if isinstance(stdin, bytes) else stdin,
                             stdout=subprocess.PIPE, stderr=err_file or subprocess.PIPE, env=full, cwd=cwd, start_new_session=True)
        try:
            out, err = collect(p, timeout, stdin if isinstance(stdin, bytes) else None)
            self.rc = p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, err = p.communicate()
            self.rc = "time was up"
        self.seconds = time.time() - start
        if err_file:
            err_file.seek(0)
            err = err_file.read()
            err_file.close()
        self.out, self.err = out.decode(errors="replace"), err.decode(errors="replace")

    def expect(self, what, rc=0, out=None, err=None):
        """rc, out: exact, or a compiled pattern; err: '' or a pattern."""
        shown = f"$ {' '.join(self.cmd)}\n  rc {self.rc}\n  out {self.out[-600:]!r}\n  err {self.err[-900:]!r}"
        ok = rc.search(str(self.rc)) if hasattr(rc, "search") else self.rc == rc
        check(what + f": exit code, expected {rc}", ok, shown)
        if out is not None:
            ok = out.search(self.out) if hasattr(out, "search") else out == self.out
            check(what + f": stdout, expected {out!r}", ok, shown)
        if err is not None:
            ok = re.search(err, self.err, re.M) if err else self.err == ""
            check(what + f": stderr, expected {err!r}", ok, shown)
        return self


def marked():
    """Processes with our mark in their environment, but this one."""
    return [(pid, cmd) for pid, cmd in processes.marked("TEST_MARK=" + MARK) if pid != os.getpid()]


def openmpi_version():
    """Of the one that is installed: (5, 0); (0, 0): none."""
    if not shutil.which("mpicc.openmpi"):
        return 0, 0
    said = subprocess.run(["mpicc.openmpi", "--showme:version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.search(r"Open MPI (\d+)\.(\d+)", said).groups()))


def openmpi_needs_addresses():
    """Does it take hosts that have the same addresses, as simulated ones have (-launcher fork), for hosts that cannot reach each other?
    Its jobs on several hosts are checked on network namespaces then (tests/hosts/served-hosts.test)."""
    return openmpi_version() >= (6, 0)


def comm(pid):
    """What the system calls the process; "": it has gone."""
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().rstrip("\n")
    except OSError:
        return ""


def until(condition, seconds=10):
    """Wait for condition(), longer if the machine is busy; its last value."""
    begun = time.time()
    while not (value := condition()) and time.time() < begun + seconds * patience():
        time.sleep(0.02)
    return value


def settled(get, want, seconds=20):
    """What get() gives once it is as wanted, or None: other jobs on this machine may be in the way for a moment."""
    found = until(lambda: (lambda got: (got,) if want(got) else None)(get()), seconds)
    return found[0] if found else None


def nothing_left(what, seconds=5):
    until(lambda: not marked(), seconds)
    left = marked()
    check(what + ": no process is left", not left, left)
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)


# Calls that never report an error, or whose failure is the kernel's business alone (exit, rt_sigreturn, execve of mpiexec).
NOT = "execve|exit|exit_group|rt_sigreturn|getpid|getppid|gettid|getuid|geteuid|getgid|getegid|clock_gettime|brk|arch_prctl|set_tid_address|munmap|vfork|rseq|set_robust_list"
# ENOSYS is a kernel without the call; EMFILE, ENOMEM a machine at its limits; EPERM a container that forbids it.
ERRORS = {"default": "EPERM", "mmap": "ENOMEM", "openat": "EMFILE", "socketpair": "EMFILE", "pipe2": "EMFILE", "fork": "EAGAIN",
          "clone": "EAGAIN", "memfd_create": "ENOSYS", "epoll_create1": "EMFILE", "signalfd4": "EMFILE", "getrandom": "ENOSYS",
          "read": "EIO", "write": "EIO", "poll": "ENOMEM", "ftruncate": "ENOSPC", "waitid": "EINVAL", "wait4": "EINTR"}


def need_strace():
    if not shutil.which("strace"):
        skip("strace is not installed")
    if subprocess.run(["strace", "-o", "/dev/null", "-e", "inject=getpid:error=EPERM:when=1", "true"],
                      capture_output=True).returncode != 0:
        skip("strace cannot trace or inject here")


def inject(call, nth):
    """strace's word for: the nth call fails."""
    return f"inject={call}:error={ERRORS.get(call, ERRORS['default'])}:when={nth}"


def start(*args, **kw):
    """A mpiexec that runs on; stdout and stderr are pipes.  It does not outlive the test."""
    kw.setdefault("stdin", subprocess.DEVNULL)
    p = subprocess.Popen([MPIEXEC, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **kw)
    atexit.register(lambda: p.returncode is None and p.kill())
    return p


def children(pid):
    """Of a process that has ended, none."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(x) for x in f.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid):
    """Children, their children, and so on."""
    return [d for child in children(pid) for d in (child, *descendants(child))]


def script(text):
    """An executable file with this text."""
    path = os.path.join(TMP.name, uuid.uuid4().hex[:8])
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o755)
    return path


def mpi_program(text):
    """Path of an MPI program in C with this source."""
    path = os.path.join(TMP.name, uuid.uuid4().hex)
    with open(path + ".c", "w") as f:
        f.write(text)
    subprocess.run([MPICC, "-O1", "-Wall", "-o", path, path + ".c"], check=True, timeout=120)
    return path


def skip(why):
    print(why)
    sys.exit(77)


def finish():
    nothing_left("at the end")
    sys.exit(1 if failures else 0)
