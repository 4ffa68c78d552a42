# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of packages share: the tarball of the last commit, the Debian packages made from it, folders with a bare system in them.

All of it is kept in the build tree's folder packages and made once for a commit, so that each test can be run alone and again."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
TOP = os.environ["TOP_SRCDIR"]
FOLDER = os.path.join(os.environ["TOP_BUILDDIR"], "packages")
VERSION = re.search(r"AC_INIT\(\[keel\], \[([^\]]+)\]", open(os.path.join(TOP, "configure.ac")).read())[1]
failures = []


def skip(why):
    print(why)
    sys.exit(77)


def check(what, right, seen=""):
    if not right:
        failures.append(what)
        print(f"FAILED {what}: {str(seen)[-3000:]}", flush=True)
    return right


def same(what, seen, expected):
    return check(what, seen == expected, f"{seen!r}, expected {expected!r}")


def finish():
    sys.exit(1 if failures else 0)


def need(*commands):
    missing = [c for c in commands if not shutil.which(c)]
    if missing:
        skip("not installed: " + " ".join(missing))


class Result:
    def __init__(self, code, text):
        self.code, self.text = code, text


def run(*command, cwd=None, env=None, log=None):
    """The command's exit code and all that it prints, which also goes to the file log."""
    r = subprocess.run(command, cwd=cwd, env=dict(os.environ, **(env or {})), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if log:
        open(log, "w").write(r.stdout)
    return Result(r.returncode, r.stdout)


def must(what, *command, **how):
    r = run(*command, **how)
    if not check(what, r.code == 0, r.text):
        finish()
    return r.text


def commit():
    """The last commit; of a tree without git, as of a tarball, that is told."""
    r = run("git", "-C", TOP, "rev-parse", "HEAD")
    if r.code:
        skip("no git here: the packages are made from the last commit")
    return r.text.strip()


def folder_of_commit():
    """Where what is made of the last commit is kept; what was made of another goes.  The path stays the same, for a cache of compiled files."""
    here, stamp = os.path.join(FOLDER, "made"), os.path.join(FOLDER, "made", "commit")
    if not os.path.exists(stamp) or open(stamp).read() != commit():
        shutil.rmtree(here, ignore_errors=True)
        os.makedirs(here)
        open(stamp, "w").write(commit())
    return here


def make_tarball(name, umask=0o022, env=None):
    """Clone the last commit to a folder of this name, configure there and make dist: the path of the tarball."""
    source = os.path.join(folder_of_commit(), name, "source")
    shutil.rmtree(source, ignore_errors=True)
    before = os.umask(umask)
    try:
        os.makedirs(source)
        must("git clone", "git", "clone", "-q", "file://" + TOP, source)
        must("autogen.sh", "./autogen.sh", cwd=source)
        must("configure", "./configure", "-q", cwd=source, env={"CONFIG_SHELL": "/bin/sh"})
        must("make dist-checksum", "make", "-s", "dist-checksum", cwd=source, env=env)
    finally:
        os.umask(before)
    for file in glob.glob(os.path.join(source, "keel-*.tar.xz")) + glob.glob(os.path.join(source, "keel-*.sha256")):
        shutil.move(file, os.path.join(os.path.dirname(source), os.path.basename(file)))
    shutil.rmtree(source)
    return os.path.join(os.path.dirname(source), f"keel-{VERSION}.tar.xz")


def tarball():
    path = os.path.join(folder_of_commit(), "first", f"keel-{VERSION}.tar.xz")
    return path if os.path.exists(path) else make_tarball("first")


def debian_packages(name="debian"):
    """Build them from the tarball; the paths of the .deb files.  The build's log lies beside them."""
    need("dpkg-buildpackage", "dh")
    here = os.path.join(folder_of_commit(), name)
    source = os.path.join(here, f"keel-{VERSION}")
    if not glob.glob(os.path.join(here, "*.changes")):
        shutil.rmtree(here, ignore_errors=True)
        os.makedirs(here)
        shutil.copy(tarball(), os.path.join(here, f"keel-mpi_{VERSION}.orig.tar.xz"))
        must("unpack", "tar", "-xf", tarball(), "-C", here)
        lacking = run("dpkg-checkbuilddeps", cwd=source)
        if lacking.code:
            skip(lacking.text.strip())
        options = os.environ.get("DEB_BUILD_OPTIONS", f"nocheck parallel={os.cpu_count()}")
        must("dpkg-buildpackage", "dpkg-buildpackage", "-us", "-uc", "-b", cwd=source, env={"DEB_BUILD_OPTIONS": options}, log=os.path.join(here, "build.log"))
    return sorted(glob.glob(os.path.join(here, "*.deb")))


def named(paths):
    """Those without debug symbols, by the package's name."""
    return {os.path.basename(p).split("_")[0]: p for p in paths if "-dbgsym_" not in p}


class Root:
    """A folder with a bare system of this machine's release in it, in which commands run by chroot."""

    def __init__(self, name):
        need("debootstrap")
        if os.geteuid() != 0:
            skip("needs root: a folder that is entered by chroot")
        release = dict(re.findall(r'^(\w+)="?([^"\n]*)', open("/etc/os-release").read(), re.M))
        if release.get("ID") != "debian" or "VERSION_CODENAME" not in release:
            skip("this machine is no Debian release: " + release.get("PRETTY_NAME", "?"))
        self.path = os.path.join(FOLDER, name)
        bare = os.path.join(FOLDER, "bare-" + release["VERSION_CODENAME"])
        if not os.path.exists(bare + "/made"):
            self.shell(f'mkdir -p {bare} && make_folder {release["VERSION_CODENAME"]} {bare} && inside {bare} "apt-get update -qq"')
        self.remove()
        must("copy of a bare system", "cp", "-a", bare, self.path)
        self.shell(f"mounts {self.path}")

    def shell(self, command):
        return must(command, "bash", "-euc", f". {TOP}/tests/systems/root.sh; {command}")

    def inside(self, command, *words):
        """In the folder, by sh: its code and output."""
        return run("chroot", self.path, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                   "sh", "-c", command, "sh", *words)

    def must(self, what, command, *words):
        r = self.inside(command, *words)
        check(what, r.code == 0, r.text)
        return r.text

    def remove(self):
        if os.path.exists(self.path):
            self.shell(f"leave {self.path}")
            must("remove the folder", "rm", "-rf", "--one-file-system", self.path)

    def installed(self):
        """Packages: name -> (size in KB, names of what it depends on, each a list of alternatives, what it provides)."""
        rows = must("dpkg-query", "dpkg-query", f"--admindir={self.path}/var/lib/dpkg", "-W", "-f",
                    r"${db:Status-Abbrev}\t${Package}\t${Installed-Size}\t${Pre-Depends}, ${Depends}\t${Provides}\n").splitlines()
        out, bare = {}, lambda text: re.sub(r"\s*\(.*?\)|:\w+|\s", "", text)
        for row in rows:
            status, package, size, depends, provides = row.split("\t")
            if status.startswith("ii"):
                out[package] = (int(size or 0), [bare(d).split("|") for d in depends.split(",") if bare(d)], [bare(p) for p in provides.split(",") if bare(p)])
        return out

    def closure(self, *wanted):
        """The packages and all that they depend on, of what is installed."""
        there = self.installed()
        by = {name: name for name in there}
        for package, (_, _, provides) in there.items():
            for name in provides:
                by.setdefault(name, package)
        found, todo = set(), list(wanted)
        while todo:
            package = by.get(todo.pop())
            if package and package not in found:
                found.add(package)
                todo += [next((n for n in names if n in by), "") for names in there[package][1]]
        return found

    def megabytes(self, packages):
        there = self.installed()
        return sum(there[p][0] for p in packages) * 1024 / 1e6
