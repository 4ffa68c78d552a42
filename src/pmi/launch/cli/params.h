/* SPDX-License-Identifier: BSD-3-Clause */
/* params.h: what users of other MPIs say by parameters (--mca NAME VALUE, OMPI_MCA_NAME, PRTE_MCA_NAME) and by the
 * variables of their launchers (HYDRA_NAME): each means an option of ours, or nothing. */
#ifndef PARAMS_H
#define PARAMS_H

struct parse;

/* The variables of mpiexec's environment: before the command line, which goes over them. */
void params_environment(struct parse *p);
/* --mca NAME VALUE; --rtos WORDS. */
void do_mca(struct parse *p, char **v);
void do_runtime(struct parse *p, char **v);
/* The command line is read: the file of hosts that a parameter names, where no host is named; a note of those that
 * mean nothing. */
void params_hosts(struct parse *p);
void params_note(void);

#endif
