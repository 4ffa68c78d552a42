/* SPDX-License-Identifier: BSD-3-Clause */
/* attr.h: attributes (caching, 8.7) of communicators, datatypes and windows, as other chapters meet them.
 *
 * An object that can have attributes has a field `void *attributes`, NULL at first, which attr.c finds by the
 * object's kind.  Callbacks may call MPI, also about the object itself. */
#ifndef MPIR_ATTR_H
#define MPIR_ATTR_H

/* A dup: run the copy callbacks of `from` and give the values to `to`, an object of the same kind with none,
 * which callbacks do not see.  An error class: the copies made so far are deleted again. */
int MPIR_Attr_copy_all(void *from, void *to);

/* The user frees the object: run the delete callbacks, the latest set first.  An error class: this one and the
 * earlier ones remain, and the object must, too. */
int MPIR_Attr_delete_all(void *object);

/* The same for an object that goes whatever the callbacks say.  The recorded error stays. */
void MPIR_Attr_drop(void *object);

/* The object goes, and its attributes with it, without their callbacks. */
void MPIR_Attr_forget(void *object);

/* The functions of a key value are called through this front end.  The MPIR_KIND of its objects; -1: there is none. */
struct MPIR_Abi;
int MPIR_Keyval_call_by(int keyval, const struct MPIR_Abi *abi);

/* MPI_Finalize, before anything else: MPI_COMM_SELF's attributes, MPI_COMM_WORLD's, the predefined datatypes'. */
int MPIR_Attr_finalize(void);

#endif
