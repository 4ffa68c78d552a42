"""For rounds.test and rounds-long.test: jobs over hosts in the middle of whose traffic somebody is killed, or a link is cut.

What a round does follows from its seed (ROUNDS_SEED: the first of a run)."""
import random
from setting import *

TIMEOUT = 3  # MPIEXEC_NODE_TIMEOUT of a round whose link is cut
BOUND = 25


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


KINDS = {
    # whom; the code; a pattern of mpiexec's report
    "a rank": (lambda net, i: named(net, i, "traffic"), re.compile("^137$"), r"^mpiexec: rank \d+ \(\S+traffic on {node}, pid {pid}\) was killed by signal 9"),
    "the daemon": (lambda net, i: named(net, i, "keel-host"), re.compile("^125$"), r"^mpiexec: {node}: "),
    "the daemon's guard": (lambda net, i: named(net, i, "keel-guard"), re.compile("^125$"), r"^mpiexec: {node}: "),
    "sshd's session": (sessions, re.compile("^125$"), r"^mpiexec: {node}: "),
    "mpiexec": (lambda net, i: named(net, 1, "mpiexec"), re.compile("^-9$"), ""),
    "mpiexec's daemon": (lambda net, i: named(net, 1, "keel-node"), re.compile("^125$"), "the node daemon"),
    "the host's all": (lambda net, i: list(net.running(i)), re.compile("^125$"), r"^mpiexec: {node}: "),
    "the link": (None, re.compile("^125$"), r"^mpiexec: {node}: (nothing has come from it for 3 s|ssh: )"),
}


def one_round(net, seed):
    r = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    whom, code, report = KINDS[kind]
    nodes = r.randint(2, net.n)
    victim = r.randint(2, nodes)
    hosts = ",".join(f"node{i}" for i in range(1, nodes + 1))
    env = dict(os.environ, MPIEXEC_NODE_TIMEOUT=str(TIMEOUT) if kind == "the link" else "10")
    p = subprocess.Popen(command(net, "-fanout", r.choice((1, 32)) if kind != "the link" else 32, "-hosts", hosts, "-ppn", r.randint(1, 2), TRAFFIC, 0, r.choice((100, 30000, 1000000))),
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True)
    what = f"seed {seed}: {kind}, node{victim} of {nodes}"
    begun = p.stdout.readline()
    time.sleep(r.random() ** 2 * 0.5)
    pid = 0
    if whom:
        found = whom(net, victim)
        check(what + ": there it is", begun == b"begun\n" and found, (begun, found))
        if kind == "the host's all":
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
    check(what + ": the exit code", code.search(str(p.returncode)), f"{p.returncode}\n{err[-2000:]}")
    if report:
        matches(what + ": the report", err, report.format(node=f"node{victim}", pid=pid))
    check(what + ": what was received is right", "is wrong" not in err, err[-2000:])
    check(what + ": little is said", err.count("\n") <= 8, err[-2000:])
    check(what + ": soon", took < (TIMEOUT * 2 + 6 if kind == "the link" else 8), f"{took:.1f} s\n{err[-2000:]}")
    nothing_there(net, what, 2 * TIMEOUT + 5, sessions=kind == "the link")
    if kind == "the link":
        net.link(victim, True)
        until(lambda: not sessions(net, victim), 1)
        for pid in sessions(net, victim):
            os.kill(pid, signal.SIGKILL)
    print(f"{what}: {took:.1f} s", flush=True)


def rounds(n):
    net = Net(4, TMP.name)
    first = int(os.environ.get("ROUNDS_SEED", time.time_ns() // 1000 % 1000000000))
    for i in range(n):
        one_round(net, first + i)
    net.close()
    finish()
