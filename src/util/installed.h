/* SPDX-License-Identifier: BSD-3-Clause */
/* installed.h: where this installation lies now.  Its tree may have been moved since it was installed, so the code
 * finds itself, and the rest from there.  Safe in any thread; the paths stay as they are. */
#ifndef KU_INSTALLED_H
#define KU_INSTALLED_H

/* The folder of the libraries, of the commands; mpiexec.  What was configured, if this code is not part of an
 * installed tree (but of a build tree, or of a program that is linked statically). */
const char *ku_installed_libdir(void);
const char *ku_installed_bindir(void);
const char *ku_installed_mpiexec(void);

/* The folder of plug-ins and of what belongs to one compiler or ABI. */
const char *ku_installed_keeldir(void);

#endif
