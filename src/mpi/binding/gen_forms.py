# SPDX-License-Identifier: BSD-3-Clause
"""The three forms of each collective (src/mpi/coll/forms.c): MPIR_X, MPIR_IX and MPIR_X_init fill the same struct coll from
their parameters, each by its name, and hand it on."""

from api import Bad
from bodies import Body
from headers import body_prototype, fill, told

FORMS_C = """\
/* forms.c: the blocking, nonblocking and persistent form of each collective.  Generated from src/mpi/binding/api.txt; do not edit. */
#include "bodies.h"
#include "mpi/coll/coll.h"

@BODIES@
"""

BODY = """\
@PROTOTYPE@
{
@QUICK@    struct coll c = { @FIELDS@ };
@UNUSED@    return MPIR_Coll_@FORM@(@ARGS@);
}
"""

# A shorter way for the shortest calls of these.
QUICK = """\
    if (MPIR_Coll_quick_@KIND@(@ARGS@))
        return MPI_SUCCESS;
"""
QUICK_KINDS = ("barrier", "allreduce", "allgather")

# The field of struct coll that takes a parameter of this name.
FIELD = {"buffer": "rbuf", "count": "rcount", "datatype": "rtype", "op": "op", "root": "root",
         "sendbuf": "sbuf", "sendcount": "scount", "sendtype": "stype",
         "sendcounts": "scounts", "sdispls": "sdispls", "sendtypes": "stypes",
         "recvbuf": "rbuf", "recvcount": "rcount", "recvtype": "rtype",
         "recvcounts": "rcounts", "rdispls": "rdispls", "recvtypes": "rtypes"}
NOT_OF_THE_CALL = ("comm", "info", "request")


def field_of(proc, param):
    """displs are of whatever has counts."""
    if param.name == "displs":
        return "sdispls" if any(p.name == "sendcounts" for p in proc.params) else "rdispls"
    if param.name not in FIELD:
        raise Bad("%s: struct coll has no field for parameter '%s'; expected one of %s" % (proc, param.name,
                                                                                      ", ".join(sorted(FIELD))))
    return FIELD[param.name]


def three_forms(api, proc):
    """[(procedure, how MPIR_Coll_ calls the form)]"""
    return [(proc, "blocking"), (api.proc("MPI_I" + proc.short[0].lower() + proc.short[1:]), "nonblocking"),
            (api.proc(proc.name + "_init"), "persistent")]


def body(proc, kind, form):
    fields = [".kind = COLL_" + kind.upper()]
    fields += [".%s = %s" % (field_of(proc, p), p.name) for p in proc.params if p.name not in NOT_OF_THE_CALL]
    quick = form == "blocking" and kind in QUICK_KINDS
    return fill(BODY, QUICK=fill(QUICK, KIND=kind, ARGS=", ".join(p.name for p in proc.params)) if quick else "",
                PROTOTYPE=body_prototype(proc), FIELDS=",\n                      ".join(fields), FORM=form,
                UNUSED="    (void)info;\n" if any(p.name == "info" for p in proc.params) else "",
                ARGS="&c, comm" if form == "blocking" else "&c, comm, request")


def marked(api):
    """[(procedure, kind, form)] of all that are made here."""
    return [(form, p.flags["forms"], how) for p in api.procs if p.has("forms") for form, how in three_forms(api, p)]


def forms_c(api):
    return fill(FORMS_C, BODIES="\n".join(body(*m) for m in marked(api)).rstrip("\n"))


def forms_bodies(api):
    """The same, as bodies.scan would find them."""
    return {proc.short: Body(proc.short, "int", [p.kind.body for p in proc.params if p.kind.body] + told(proc), "forms.c")
            for proc, _, _ in marked(api)}
