# SPDX-License-Identifier: BSD-3-Clause
"""For rounds.test, rounds-long.test and rounds-each.test: jobs over hosts in the middle of whose traffic somebody is killed, or a link is cut.

What a round does follows from its seed (ROUNDS_SEED: the first of a run) and its kind, which follows from the seed if none is given.

    rounds.py ROUNDS KIND SEED"""
import math
import random
from setting import *

# MPIEXEC_NODE_TIMEOUT of a round whose link is cut: twice as long, each time that a busy machine's host has not started within it.
TIMEOUT = math.ceil(3 * patience())
BOUND = 25 * patience()


def named(net, i, name):
    """Processes of node i whose kernel's name is this."""
    found = []
    for pid in net.running(i):
        try:
            with open(f"/proc/{pid}/comm") as f:
                if f.read().strip() == name:
                    found.append(pid)
        except OSError:
            pass
    return sorted(found)


def sessions(net, i):
    return [pid for pid, text in net.running(i).items() if text.startswith("sshd")]


SILENT = r"(nothing has come from it for {timeout} s|ssh: )"
KINDS = {
    # who; how he is found, None: a link is cut; the code; a pattern of mpiexec's report
    "rank": ("a rank", lambda net, i: named(net, i, "traffic"), 137, r"^mpiexec: rank \d+ \(\S+traffic on {node}, pid {pid}\) was killed by signal 9"),
    "daemon": ("the daemon", lambda net, i: named(net, i, "keel-host"), 125, r"^mpiexec: {node}: "),
    "guard": ("the daemon's guard", lambda net, i: named(net, i, "keel-guard"), 125, r"^mpiexec: {node}: "),
    "session": ("sshd's session", sessions, 125, r"^mpiexec: {node}: "),
    "mpiexec": ("mpiexec", lambda net, i: named(net, 1, "mpiexec"), -9, ""),
    "judge": ("mpiexec's daemon", lambda net, i: named(net, 1, "keel-node"), 125, "the node daemon"),
    "host": ("the host's all", lambda net, i: list(net.running(i)), 125, r"^mpiexec: {node}: "),
    "link": ("the link", None, 125, r"^mpiexec: {node}: " + SILENT),
    "chain": ("a link of a chain", None, 125, r"^mpiexec: {node}: " + SILENT),
}


def blamed(err, victim):
    """Hosts that a report names though nothing has happened to them: all but the one that is cut off and those that were reached through it."""
    behind = f"it was reached through node{victim}, which is lost"
    found = [(host, why) for hosts, why in re.findall(r"^mpiexec: (node\d(?:, node\d)*): (.*)", err, re.M) for host in hosts.split(", ")]
    return [(host, why) for host, why in found if int(host[4:]) != victim and not (int(host[4:]) > victim and why.startswith(behind))]


def one_round(net, seed, kind):
    global TIMEOUT
    while (result := try_round(net, seed, kind)) is None and TIMEOUT < 60:
        TIMEOUT *= 2
    check(f"seed {seed}: its hosts start within {TIMEOUT} s", result)
    return result or ("not begun", 0)


def try_round(net, seed, kind):
    r = random.Random(seed)
    kind = kind or list(KINDS)[seed % len(KINDS)]
    who, whom, code, report = KINDS[kind]
    nodes = r.randint(3 if kind == "chain" else 2, net.n)
    victim = r.randint(2, nodes)
    hosts = ",".join(f"node{i}" for i in range(1, nodes + 1))
    # The host that finds another silent is the one that reached it: in a chain the one before it, which goes on telling mpiexec.
    fanout = {"link": 32, "chain": 1}.get(kind) or r.choice((1, 32))
    env = dict(os.environ, MPIEXEC_NODE_TIMEOUT=str(math.ceil(10 * patience())) if whom else str(TIMEOUT))
    p = subprocess.Popen(command(net, "-fanout", fanout, "-hosts", hosts, "-ppn", r.randint(1, 2), TRAFFIC, 0, r.choice((100, 30000, 1000000))),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True)
    what = f"seed {seed}: {who}, node{victim} of {nodes}"
    begun = p.stdout.readline()
    if not begun and not whom and "it has not answered within" in (err := p.communicate()[1].decode()):
        nothing_there(net, what, 2 * TIMEOUT + 5)
        return None
    same(what + ": it had begun", begun, b"begun\n")  # else what follows tells of its start
    time.sleep(r.random() ** 2 * 0.5)
    pid = 0
    if whom:
        found = whom(net, victim)
        check(what + ": there it is", found, found)
        if kind == "host":
            for pid in found:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
        elif found:
            pid = r.choice(found)
            os.kill(pid, signal.SIGKILL)
    else:
        net.link(victim, False)
    start = time.time()
    try:
        out, err = p.communicate(timeout=BOUND)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGTERM)
        time.sleep(3)
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        check(what + f": ends within {BOUND} s", False, err.decode(errors="replace")[-2000:])
    took, err = time.time() - start, err.decode(errors="replace")
    check(what + ": the exit code", p.returncode == code, f"{p.returncode}\n{err[-2000:]}")
    if report:
        matches(what + ": the report", err, report.format(node=f"node{victim}", pid=pid, timeout=TIMEOUT))
    check(what + ": what was received is right", "is wrong" not in err, err[-2000:])
    check(what + ": little is said", err.count("\n") <= 8, err[-2000:])
    if not whom:
        same(what + ": no other host is blamed", blamed(err, victim), [])
    check(what + ": soon", took < (8 * patience() if whom else TIMEOUT * 2 + 6), f"{took:.1f} s\n{err[-2000:]}")
    nothing_there(net, what, 2 * TIMEOUT + 5, sessions=not whom)
    if not whom:
        join(net, victim)
    return what, took


def join(net, victim):
    """The link is back; sessions of sshd that waited for the other end of theirs, on either side of it, are ended."""
    net.link(victim, True)
    until(lambda: not any(sessions(net, i) for i in range(1, net.n + 1)), 1)
    for i in range(1, net.n + 1):
        for pid in sessions(net, i):
            os.kill(pid, signal.SIGKILL)


def rounds(n, kind=None, first=None):
    net = Net(4, TMP.name)
    first = first or int(os.environ.get("ROUNDS_SEED", time.time_ns() // 1000 % 1000000000))
    times = []
    for i in range(n):
        what, took = one_round(net, first + i, kind)
        times.append(took)
        if not kind:
            print(f"{what}: {took:.1f} s", flush=True)
    net.close()
    if kind:
        times.sort()
        print(f"{kind}, {n} rounds, seeds from {first}: the end came within {times[0]:.1f} to {times[-1]:.1f} s, median {times[n // 2]:.1f} s", flush=True)
    finish()


if __name__ == "__main__":
    rounds(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
