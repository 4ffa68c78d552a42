# SPDX-License-Identifier: BSD-3-Clause
"""Hostile frames between mpiexec and its daemons (doc/wire.md, "Between mpiexec and its daemons"), by their structure.

    fuzz(binary, packets, seed)     so many packets, half of them to daemons, half to mpiexec, over as many processes as it takes

What real jobs say is recorded first (RECORDED).  A line of link_fuzz.corpus is one conversation: who is attacked (daemon, mpiexec), the job, and words that change
what was recorded, applied in turn; the lines are played as they are first, and mutated later.  I counts frames, modulo their number; so do bytes.
  drop:I  again:I  swap:I:J  cut:N (bytes at the end of all)  noise:N (bytes that are no frame, at the end)
  kind:I:V  node:I:V  value:I:V  check:I:V  len:I:V      fields of a frame's head
  int:I:AT:V  four:I:AT:V  flip:I:BIT  short:I:N  long:I:N     its body: 8 or 4 bytes, a bit, fewer bytes, more bytes
  spray:N:SEED     N frames, recorded in any job and changed, before the end of the job
What must hold: who is attacked ends by itself, in time, with an exit code of his own, and says nothing of AddressSanitizer's or UBSan's; no process is left."""
import concurrent.futures
import itertools
import random
import struct
from harness import *

HEAD = struct.Struct("<IHHii")
CHECK, BANNER = 0x4b4c, b"\nkeel-node-link\n"
(PING, LAUNCH, JOB, SIGNAL, KILL, KILL_RANK, WANT, CARD, GONE, RELEASE, ASK, STDIN, TAKEN, SHUT, FROM, END, HELLO, STARTED, FAILED, OUTPUT, RECORD, HAVE, ENDED, READ,
 STOPPED, STATE, STATES, DONE, TO, TEXT, LOST, JOBS, PROFILE) = range(1, 34)
VALUES = [0, 1, -1, 2, 3, 7, 8, 64, 255, 4096, 65535, 1 << 20, (1 << 20) + 1, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 40, (1 << 63) - 1, -(1 << 63)]
TIMEOUT = 2
FAULTY = re.compile(r"AddressSanitizer|UndefinedBehavior|runtime error:|LeakSanitizer|was killed by signal|Assertion")
CORPUS = os.path.join(TOP, "tests", "faults", "link_fuzz.corpus")
WORK = os.path.join(TMP.name, "fuzz")

# name: words for mpiexec, what is written to it, signals that it gets once its ranks run
RECORDED = {
    "true": (["-n", 2, "true"], b"", ()),
    "mpi": (["-n", 2, RANK, "init", "print", "finalized", "fini"], b"", ()),
    "cards": (["-hosts", "far1,far2", "-n", 4, RANK, "init", "card", 700, "looks", 700, "finalized"], b"", ()),
    "two": (["-hosts", "far1,far2", "-n", 4, RANK, "init", "print", "message", "text", "finalized"], b"", ()),
    "served": (["-pmi1", "-hosts", "far1,far2", "-n", 4, "env", "-u", "KEEL_JOB", RANK, "init", "card", 700, "looks", 700, "finalized"], b"", ()),
    "tree": (["-fanout", 1, "-hosts", "far1,far2,far3", "true"], b"", ()),
    "stdin": (["-stdin", "all", "-n", 2, "cat"], b"line\n" * 30000, ()),
    "output": (["-n", 2, "sh", "-c", "head -c 400000 /dev/zero | tr '\\0' x; echo done >&2"], b"", ()),
    "parts": (["-n", 1, "-env", "A", "1", "-wdir", "/", "true", ":", "-n", 2, "-bind-to", "core", "false"], b"", ()),
    "abort": (["-n", 2, RANK, "init", "only", 1, "abort", 7, "why", "sleep", 30], b"", ()),
    "hang": (["-n", 2, RANK, "init", "sleep", 60], b"", (signal.SIGQUIT, signal.SIGUSR1, signal.SIGTSTP, signal.SIGCONT, signal.SIGTERM)),
}


def program(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o700)
    return path


class Frame:
    def __init__(self, kind, node, value, body, check=CHECK, length=None):
        self.kind, self.node, self.value, self.body, self.check, self.length = kind, node, value, bytearray(body), check, length

    def copy(self):
        return Frame(self.kind, self.node, self.value, self.body, self.check, self.length)

    def bytes(self):
        low = lambda v, bits: v & ((1 << bits) - 1)
        signed = lambda v: (low(v, 32) ^ 1 << 31) - (1 << 31)
        length = len(self.body) if self.length is None else low(self.length, 32)
        return HEAD.pack(length, low(self.kind, 16), low(self.check, 16), signed(self.node), signed(self.value)) + self.body


def parse(said):
    frames, at = [], 0
    while at + HEAD.size <= len(said):
        length, kind, check_word, node, value = HEAD.unpack_from(said, at)
        frames.append(Frame(kind, node, value, said[at + HEAD.size:at + HEAD.size + length], check_word))
        at += HEAD.size + length
    return frames


# ---- what real jobs say

def record(binary, name, where):
    """Frames down to and up from the first host of a job."""
    words, given, signals = RECORDED[name]
    os.makedirs(where)
    cmd = [binary, "-launcher-exec", os.path.join(WORK, "agent"), *(() if "-hosts" in words else ("-hosts", "far1")), *map(str, words)]
    p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "RECORD": where}, cwd=WORK, start_new_session=True)
    if not signals:
        p.communicate(given, timeout=60)
    for number in signals:
        until(lambda: p.poll() is not None or sum("pmi_rank" in text and "-launcher" not in text for _, text in marked()) >= 2)
        if p.poll() is not None:
            break  # by the signal before
        time.sleep(0.3)
        p.send_signal(number)
    p.communicate(timeout=60)
    read = lambda end: open(os.path.join(where, "0." + end), "rb").read()
    return parse(read("down")), parse(read("up").split(BANNER, 1)[1])


def record_all(binary):
    os.makedirs(WORK)
    program("agent", """#!/bin/sh
while [ "$1" != "${1#-}" ]; do shift; done
shift
n=${*##*node-daemon=}
n=${n%%:*}
[ -e "$PLAY/0.first" ] && [ "$n" = 0 ] && { cat "$PLAY/0.first"; head -c 64 > /dev/null; exec cat "$PLAY/0.then"; }
[ "$RECORD" ] || exec sh -c "$*"
tee "$RECORD/$n.down" | sh -c "$*" | tee "$RECORD/$n.up"
""")
    return {name: record(binary, name, os.path.join(WORK, "record-" + name)) for name in RECORDED}


# ---- what is made of it

def number(v):
    return int(v) if re.fullmatch(r"-?\d+", v) else 0


def change_body(f, word, at, v):
    n = len(f.body)
    size = {"int": 8, "four": 4}.get(word, 0)
    if size and n >= size:
        at = at % (n // 4) * 4 if at % (n // 4) * 4 + size <= n else n - size
        f.body[at:at + size] = (v & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    elif word == "flip" and n:
        f.body[at // 8 % n] ^= 1 << at % 8
    elif word == "short":
        del f.body[max(0, n - 1 - at % max(n, 1)):]
    elif word == "long":
        f.body += bytes(i % 251 for i in range(at % 70000))


def spray(frames, pool, count, r):
    end = next((i for i, f in enumerate(frames) if f.kind in (END, DONE)), len(frames))
    begin = next((i + 1 for i, f in enumerate(frames) if f.kind in (JOB, STARTED)), end)
    for _ in range(count):
        f = r.choice(pool).copy()
        f.node = frames[0].node if frames and r.random() < 0.8 else r.choice((-1, 0, 1, 7))
        if r.random() < 0.4:
            f.value = r.choice(VALUES)
        for _ in range(r.choice((0, 1, 1, 3))):
            change_body(f, r.choice(("int", "int", "four", "four", "flip", "short", "long")), r.randrange(1 << 16), r.choice(VALUES))
        at = r.randint(min(begin, end), end)
        frames.insert(at, f)
        end += 1


def conversation(line, recorded, pool):
    """The frames of a corpus line, and bytes behind them."""
    who, job, *words = line.split()
    frames = [f.copy() for f in recorded[job][who == "mpiexec"]]
    cut, noise = 0, b""
    for word in words:
        name, *v = word.split(":")
        v = [number(x) for x in v] + [0, 0, 0]
        if name == "noise":
            noise = bytes(i * 89 % 256 for i in range(v[0] % 3000))
        elif name == "cut":
            cut = v[0] % 5000
        elif name == "spray":
            spray(frames, pool[who], v[0] % 1000, random.Random(v[1]))
        elif not frames:
            continue
        else:
            f = frames[v[0] % len(frames)]
            if name == "drop":
                frames.remove(f)
            elif name == "again":
                frames.insert(v[0] % len(frames), f.copy())
            elif name == "swap":
                i, j = v[0] % len(frames), v[1] % len(frames)
                frames[i], frames[j] = frames[j], frames[i]
            elif name in ("kind", "node", "value", "check", "len"):
                setattr(f, "length" if name == "len" else name, v[1])
            else:
                change_body(f, name, v[1], v[2])
    return frames, cut, noise


def a_word(r):
    i, at, v = r.randrange(64), r.randrange(1 << 14), r.choice(VALUES)
    return r.choice((f"drop:{i}", f"again:{i}", f"swap:{i}:{r.randrange(64)}", f"cut:{at % 400}", f"noise:{at % 400}", f"kind:{i}:{r.randrange(33)}", f"node:{i}:{v}",
                     f"value:{i}:{v}", f"check:{i}:{at}", f"len:{i}:{v}", *[f"{w}:{i}:{at}:{v}" for w in ("int", "four", "flip") * 2], f"short:{i}:{at % 300}", f"long:{i}:{at}"))


def lines(seed, recorded):
    """The corpus, then what is made of it, without end; most with a spray, since most of the packets shall be understood."""
    with open(CORPUS) as f:
        corpus = [x.strip() for x in f if x.strip() and x[0] != "#"]
    yield from corpus
    r = random.Random(seed)
    for n in itertools.count():
        who, job, *words = r.choice(corpus).split()
        job = r.choice((job, *RECORDED))
        words = [w for w in words if r.random() < 0.6 and not w.startswith("spray")] + [a_word(r) for _ in range(r.choice((0, 0, 1, 1, 2, 4)))]
        yield " ".join((("daemon", "mpiexec")[n % 2], job, *words, f"spray:{r.choice((50, 200, 400))}:{r.randrange(1 << 30)}"))


# ---- who is attacked

def attack(binary, line, recorded, pool, number_of):
    """What is wrong, or None; packets; whether it came as far as to have ranks."""
    frames, cut, noise = conversation(line, recorded, pool)
    who, job = line.split()[:2]
    said = [f.bytes() for f in frames]
    env, name = dict(os.environ), os.path.join(WORK, f"play-{number_of}")
    if who == "daemon":
        node = recorded[job][1][0].node
        given, cmd = b"".join(said) + noise, [binary, f"--node-daemon={node}:{TIMEOUT}"]
        given = given[:len(given) - cut] if cut else given
    else:
        first = next((i for i, f in enumerate(frames) if f.kind == STARTED), len(frames))
        os.makedirs(name)
        then = b"".join(said[first:]) + noise
        for end, text in (("first", BANNER + b"".join(said[:first])), ("then", then[:len(then) - cut] if cut else then)):
            with open(os.path.join(name, "0." + end), "wb") as f:
                f.write(text)
        words, given, _ = RECORDED[job]
        env["PLAY"] = name
        cmd = [binary, "-launcher-exec", os.path.join(WORK, "agent"), "-node-timeout", str(TIMEOUT), *(() if "-hosts" in words else ("-hosts", "far1")), *map(str, words)]
    p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=WORK, start_new_session=True)
    try:
        out, err = p.communicate(given, timeout=40)
        wrong = None
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        wrong = "it does not end"
    shutil.rmtree(name, ignore_errors=True)
    text = err.decode(errors="replace")
    if not wrong and (p.returncode < 0 or p.returncode == 99 or (who == "daemon" and p.returncode not in (0, 125))):
        wrong = f"it ended with {p.returncode}"
    if FAULTY.search(text) and not (who == "mpiexec" and re.search(r"^mpiexec: .*was killed by signal", text, re.M) and not re.search("Sanitizer|runtime error", text)):
        wrong = wrong or "a sanitizer speaks, or it was killed"
    deep = BANNER in out and any(f.kind == STARTED for f in parse(out.split(BANNER, 1)[1])) if who == "daemon" else not re.search("answers there|not understood|is of version", text)
    return wrong and f"{wrong}: {line}\n{text[-3000:]}", len(said), deep


def fuzz(binary, packets, seed, workers=8):
    recorded = record_all(binary)
    pool = {"daemon": [f for d, _ in recorded.values() for f in d if f.kind != END], "mpiexec": [f for _, u in recorded.values() for f in u if f.kind not in (DONE, HELLO)]}
    source, sent, played, deep, wrong = lines(seed, recorded), 0, 0, 0, []
    with concurrent.futures.ThreadPoolExecutor(workers) as crowd:
        running = set()
        while (sent < packets and not len(wrong) > 10) or running:
            while sent < packets and not len(wrong) > 10 and len(running) < 2 * workers:
                running.add(crowd.submit(attack, binary, next(source), recorded, pool, played))
                played += 1
            ready, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in ready:
                said, n, far = one.result()
                sent, deep = sent + n, deep + far
                if said:
                    wrong.append(said)
    check("hostile frames harm nobody", not wrong, "\n".join(wrong))
    check("they are understood for long enough to matter", deep > played / 4, f"{deep} of {played} conversations had ranks")
    nothing_left("hostile frames")
    print(f"{played} conversations, {sent} packets, {deep} of them with ranks")
