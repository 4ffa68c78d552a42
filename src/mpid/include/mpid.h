/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid.h: the second-generation abstract device interface (ADI-2) of Gropp and Lusk, as Keel implements it.
 *
 * The names, the argument order and the meaning are the paper's ("The Second-Generation ADI for the MPICH
 * Implementation of MPI"; section numbers below are its).  What differs: lengths, counts and positions are 64
 * bits wide; what goes beyond the paper is called an extension.  A program may use this interface with no MPI
 * above it (link with -lmpid); a null communicator then stands for all processes of the job, with local rank
 * = global rank.
 *
 * Error codes: an MPI error class, stored through int *error_code only when something went wrong (6.5).  The
 * words are in MPID_Error_text().
 *
 * Each subject has a header of its own; collectives of a node are in mpid_team.h and mpid_op.h, listeners in
 * mpid_listen.h. */
#ifndef KEEL_MPID_H
#define KEEL_MPID_H

#include "mpid_adi2.h"
#include "mpid_base.h"
#include "mpid_context.h"
#include "mpid_datatype.h"
#include "mpid_job.h"
#include "mpid_needs.h"
#include "mpid_others.h"
#include "mpid_p2p.h"
#include "mpid_rma.h"

#endif
