# SPDX-License-Identifier: BSD-3-Clause
"""Collectives whose arguments are refused in a process: what its entry point does for the others."""

from headers import fill

# The buffers of which each process of the communicator has a block.
BY_PROCESS = {"Gather": ("recvbuf",), "Scatter": ("sendbuf",), "Allgather": ("recvbuf",), "Alltoall": ("sendbuf", "recvbuf")}

REFUSED = """\
    if (unlikely(refused && @COMM@)) {
        struct front_mute mute = { .err = err, .words = *ku_err_last() };
        bool known = err == MPI_ERR_BUFFER && !(@KNOWN@);
@STAND_INS@
        if (known && MPIR_front_mute(&mute, @COMM@))
            (void)MPIR_@BODY@(@ARGS@);
        else
            MPIR_Coll_refused(@COMM@, mute.err, call);
        err = MPIR_front_mute_end(&mute, @COMM@);
    }"""


# What makes something of a communicator, and begins with something that all its members say: none goes on after a refusal.
# Of a communicator of the wrong kind nothing is said: {names: what holds of the right ones}.
MAKERS = {
    "Comm_create Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_split Comm_split_type": "",
    "Intercomm_merge": " && {0}->local",
    "Cart_create Graph_create Dist_graph_create Dist_graph_create_adjacent Win_create Win_allocate Win_allocate_shared"
    " Win_create_dynamic File_open Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect": " && !{0}->local",
    "Cart_sub": " && {0}->topo",
}
MAKERS = {name: right for names, right in MAKERS.items() for name in names.split()}


def makes(proc):
    return proc.short in MAKERS


def neighborly(proc):
    return "eighbor_" in proc.short


def counted(front):
    """The body numbers the collectives of the communicator as they are called; so does a call that does not come so far."""
    proc = front.proc
    if not (proc.has("collective") and front.comm):
        return False
    return proc.chapter == "coll" or neighborly(proc) or makes(proc)


def stand_in(front, p):
    """What of a buffer a collective may read or fill, at most, as an initializer of struct front_data."""
    count, ctype = p.arg("of").split(",")
    if front.names[count].kind.name != "COUNT":
        return front.blocks(p)
    kind = front.proc.short[1:].capitalize() if front.proc.short[0] == "I" else front.proc.short
    n = "%s_o->adi.remote_size" % front.comm.name if p.name in BY_PROCESS.get(kind, ()) else "1"
    if kind == "Reduce_scatter_block":
        n = "%s_o->adi.size" % front.comm.name
    return "{ .n = %s, .count = %s, .type = %s_o }" % (n, count, ctype)


def code(front, args):
    """A collective whose arguments have been refused.  Where only its buffers cannot be used, so that it is known what the others will do,
    it plays its part with others, without a word (MPIR_Coll_muted); the nonblocking form then waits for that."""
    comm = front.comm.name + "_o"
    if makes(front.proc):
        ends = "false" if front.proc.chapter == "io" else "MPIR_Comm_error_ends(%s)" % comm  # a file's errors do not go to comm
        return "    if (unlikely(refused && %s%s))\n        MPIR_Make_refused(%s, err, call, %s);" % (comm, MAKERS[front.proc.short].format(comm), comm, ends)
    if front.proc.short.endswith("_init"):
        return "    if (unlikely(refused && %s))\n        MPIR_Coll_init_refused(%s, err, call);" % (comm, comm)
    buffers = [p for p in front.proc.params if p.kind.name in ("BUFFER", "CBUFFER") and "," in str(p.arg("of"))]
    if not buffers or neighborly(front.proc):  # neighbors would not know an empty message from a short one
        return "    if (unlikely(refused && %s))\n        MPIR_Coll_refused(%s, err, call);" % (comm, comm)
    of_buffers = ("check_buffer", "check_apart", "bad_in_place")
    others = [c for c in front.checks + front.late if not any(w in c for w in of_buffers)]
    never = ["(%s == MPI_IN_PLACE && !at_root)" % p.name for p in buffers if p.has("inplace") and p.has("leaf")]
    names, stand_ins = {}, []
    for i, p in enumerate(buffers):
        names[p.name] = p.name + "_in"
        condition = "".join(" && " + c for c in front.significance(p))
        stand_ins.append("        void *%s_in = known%s ? MPIR_front_stand_in(&mute, %d, &(struct front_data)%s) : (void *)(uintptr_t)%s;" %
                         (p.name, condition, i, stand_in(front, p), p.name))
    call = [names.get(p.name, a) for p in front.proc.params for a in args[p.name]]
    return fill(REFUSED, COMM=comm, KNOWN=" || ".join(never + others) or "false", STAND_INS="\n".join(stand_ins), BODY=front.body,
                ARGS=", ".join(call))
