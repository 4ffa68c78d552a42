/* SPDX-License-Identifier: BSD-3-Clause */
/* instances.h: several instances of this program's state in one process, which take turns in one thread.
 *
 * An instance has a stack and an image: what the program's own variables hold (.data, .bss, thread-local ones), and
 * those of everything that is linked into it statically, such as the library beneath MPI.  One image at a time lies
 * where the code expects it; the pages of the others are kept aside.  So an instance needs no pointer to its state,
 * and a call costs what it costs otherwise.  Turns change where an instance waits (service.h), by two moves of page
 * tables.
 *
 * Shared are the heap, libc, descriptors, the environment, and the state of libraries that are linked dynamically.
 *
 * Not possible are threads besides, and looking by address at another instance's variables (they are not there):
 * memory that instances show each other has to be of the heap, of stacks, or mapped. */
#ifndef KU_INSTANCES_H
#define KU_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>

/* Sanitizers keep state of their own about each variable, where it lies. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KU_INSTANCES false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define KU_INSTANCES false
#endif
#endif
#ifndef KU_INSTANCES
#define KU_INSTANCES true
#endif

/* Run fn(0, arg) to fn(n - 1, arg) as instances, each from the state that the program has now; returns when all
 * have ended, with the state as it was.  Each begins when it is its turn for the first time, in the order of their
 * numbers.  The sum of what they have returned, or -1: the system gives too little memory, or this kind of program
 * is not known here (errno says which). */
int ku_instances_run(int n, int (*fn)(int number, void *arg), void *arg, size_t stack_bytes);

/* Let the next one go on. */
void ku_instances_aside(void);

#endif
