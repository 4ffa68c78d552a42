/* SPDX-License-Identifier: BSD-3-Clause */
/* bsend.h: what other chapters need of buffered sends. */
#ifndef MPIR_BSEND_H
#define MPIR_BSEND_H

struct MPIR_Comm;
struct MPIR_Session;

/* Wait until every buffered message on communicators of the session (NULL: of none) has left.  Returns an error
 * class. */
int MPIR_Bsend_drain(const struct MPIR_Session *s);
/* The same of one communicator (MPI_Comm_disconnect); a failure is left to who flushes the buffer. */
void MPIR_Bsend_drain_comm(const struct MPIR_Comm *comm);

/* The communicator goes (its last reference): forget the buffer attached to it.  Nothing is in it by then,
 * for each message in a buffer holds a reference to its communicator. */
void MPIR_Bsend_comm_free(struct MPIR_Comm *comm);
/* The same of a session that ends. */
void MPIR_Bsend_session_free(struct MPIR_Session *session);

#endif
