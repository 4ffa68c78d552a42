/* bsend.h: what other chapters need of buffered sends. */
#ifndef MPIR_BSEND_H
#define MPIR_BSEND_H

struct MPIR_Comm;

/* Wait until every buffered message has left (MPI_Finalize).  Returns an error class. */
int MPIR_Bsend_drain(void);

/* The communicator goes (its last reference): forget the buffer attached to it.  Nothing is in it by then,
 * for each message in a buffer holds a reference to its communicator. */
void MPIR_Bsend_comm_free(struct MPIR_Comm *comm);

#endif
