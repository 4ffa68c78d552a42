# SPDX-License-Identifier: BSD-3-Clause
"""gdb commands for jobs of Keel's mpiexec (doc/debugging.md):

  keel start              (gdb --args mpiexec -n 4 program) start the job; its ranks are attached and wait in MPI_Init
  keel ranks              the ranks of the job whose mpiexec this gdb runs or is attached to
  keel attach RANKS|all   attach to some ranks, e.g. keel attach 0 4-7; each becomes an inferior

They read the table of the MPIR Process Acquisition Interface in mpiexec."""
import gdb


def value(name):
    try:
        return gdb.parse_and_eval(name)
    except gdb.error:
        raise gdb.GdbError("This process has no %s: is it mpiexec, with its symbols? (gdb -p PID-of-mpiexec)" % name)


class Rank:
    table = []  # of the job seen last
    starter = None  # number of mpiexec's inferior

    def __init__(self, number, row):
        self.number, self.pid = number, int(row["pid"])
        self.host, self.program = row["host_name"].string(), row["executable_name"].string()

    @classmethod
    def read(cls):
        """The table, from mpiexec's inferior; what was read before if another one is selected."""
        here = gdb.selected_inferior().num
        if cls.starter not in (None, here):
            return cls.table
        if int(value("MPIR_debug_state")) == 0:
            raise gdb.GdbError("The ranks are not started yet.")
        rows = value("MPIR_proctable")
        cls.table = [Rank(i, rows[i]) for i in range(int(value("MPIR_proctable_size")))]
        cls.starter = here
        return cls.table


def chosen(text, table):
    """The ranks that '0 4-7' or 'all' means."""
    if text.strip() == "all":
        return table
    picked = []
    for word in text.replace(",", " ").split():
        first, _, last = word.partition("-")
        try:
            numbers = range(int(first), int(last or first) + 1)
        except ValueError:
            raise gdb.GdbError("%s is no rank; expected e.g. 0 4-7, or all" % word)
        for n in numbers:
            if n >= len(table):
                raise gdb.GdbError("There is no rank %d; expected 0 to %d" % (n, len(table) - 1))
            picked.append(table[n])
    if not picked:
        raise gdb.GdbError("Which ranks? e.g. keel attach 0 4-7, or keel attach all")
    return picked


def attach(ranks):
    for rank in ranks:
        if any(i.pid == rank.pid for i in gdb.inferiors()):
            continue
        gdb.execute("add-inferior -no-connection", to_string=True)
        gdb.execute("inferior %d" % max(i.num for i in gdb.inferiors()), to_string=True)
        gdb.execute("attach %d" % rank.pid, to_string=True)
        print("rank %d is inferior %d, process %d" % (rank.number, gdb.selected_inferior().num, rank.pid))


class Keel(gdb.Command):
    """Commands for jobs of Keel's mpiexec."""

    def __init__(self):
        super().__init__("keel", gdb.COMMAND_RUNNING, prefix=True)


class Ranks(gdb.Command):
    """The ranks of the job: number, process, host, program."""

    def __init__(self):
        super().__init__("keel ranks", gdb.COMMAND_STATUS)

    def invoke(self, text, from_tty):
        for r in Rank.read():
            print("rank %d  process %d  host %s  %s" % (r.number, r.pid, r.host, r.program))


class Attach(gdb.Command):
    """Attach to ranks: keel attach 0 4-7, or keel attach all. Each becomes an inferior (info inferiors)."""

    def __init__(self):
        super().__init__("keel attach", gdb.COMMAND_RUNNING)

    def invoke(self, text, from_tty):
        attach(chosen(text, Rank.read()))


class Start(gdb.Command):
    """Start mpiexec (gdb --args mpiexec ...) and attach to its ranks, which wait in MPI_Init: set breakpoints, then continue.
With arguments (keel start 0 4-7) only these are attached; the others run on."""

    def __init__(self):
        super().__init__("keel start", gdb.COMMAND_RUNNING)

    def invoke(self, text, from_tty):
        value("MPIR_being_debugged")
        gdb.execute("set breakpoint pending on")
        gdb.execute("tbreak main", to_string=True)
        gdb.execute("run", to_string=True)
        gdb.execute("set var MPIR_being_debugged = 1")
        gdb.execute("tbreak MPIR_Breakpoint", to_string=True)
        gdb.execute("continue", to_string=True)
        attach(chosen(text or "all", Rank.read()))
        gdb.execute("set schedule-multiple on")


Keel()
Ranks()
Attach()
Start()
