#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm 24.11.5 with PMIx 5.0.7 (Debian 13), `srun --mpi=pmix` on two nodes: PMIx_Get of PMIX_NODEID for another process gives the asking process's own node.
# So by these numbers each process finds all others on its own node, and two processes of different nodes do not even agree.  PMIX_NUM_NODES is right, and
# so is PMIX_HOSTNAME.  One would have guessed the node of the process that is asked for, or that the key is not found, as it should be if Slurm
# does not give it.  Who wants to know which processes share a node has to compare names of hosts.
#
# Seen: rank 0 of 4 on 2 nodes: node of each: 0 0 0 0, host of each: h1 h1 h2 h2
#       rank 3 of 4 on 2 nodes: node of each: 1 1 1 1, host of each: h1 h1 h2 h2
. "$(dirname "$0")/common.sh"
system trixie slurmctld=24.11.5-4+deb13u1 slurmd=24.11.5-4+deb13u1 slurm-client=24.11.5-4+deb13u1 libpmix-dev=5.0.7-1 munge iproute2 gcc libc6-dev
cat >"$root/tmp/ask.c" <<'C'
#include <pmix.h>
#include <stdio.h>
int main(void)
{
    pmix_proc_t me, whom;
    pmix_value_t *value;
    char line[200];
    int n = 0, nodes = -1;
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    PMIX_LOAD_PROCID(&whom, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&whom, PMIX_NUM_NODES, NULL, 0, &value) == PMIX_SUCCESS)
        nodes = (int)value->data.uint32;
    n += sprintf(line + n, "rank %u of 4 on %d nodes: node of each:", me.rank, nodes);
    for (whom.rank = 0; whom.rank < 4; whom.rank++)
        if (PMIx_Get(&whom, PMIX_NODEID, NULL, 0, &value) == PMIX_SUCCESS)
            n += sprintf(line + n, " %u", value->data.uint32);
        else
            n += sprintf(line + n, " none");
    n += sprintf(line + n, ", host of each:");
    for (whom.rank = 0; whom.rank < 4; whom.rank++)
        if (PMIx_Get(&whom, PMIX_HOSTNAME, NULL, 0, &value) == PMIX_SUCCESS)
            n += snprintf(line + n, 20, " %s", value->data.string);
        else
            n += sprintf(line + n, " none");
    puts(line);
    PMIx_Finalize(NULL, 0);
    return 0;
}
C
inside "$root" 'p=/usr/lib/$(uname -m)-linux-gnu/pmix2; gcc -I$p/include -o /tmp/ask /tmp/ask.c -L$p/lib -lpmix' || exit 1
seen=$(in_slurm <<'S'
timeout 60 srun -Q --mpi=pmix -N 2 -n 4 --ntasks-per-node=2 /tmp/ask 2>>said
S
)
value() { sed -n "s/^$1: //p" <<<"$seen"; }
expect "rank 0 of 4 on 2 nodes" "$(value "rank 0 of 4 on 2 nodes")" "node of each: 0 0 0 0, host of each: h1 h1 h2 h2"
expect "rank 3 of 4 on 2 nodes" "$(value "rank 3 of 4 on 2 nodes")" "node of each: 1 1 1 1, host of each: h1 h1 h2 h2"
