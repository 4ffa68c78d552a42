#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Debian unstable's Open MPI 6.0.0~rc2-2 runs no job on two hosts: its package openmpi-common has the line "btl_tcp_if_include=lo" in
# /etc/openmpi/openmpi-mca-params.conf ("Silence a warning that gives false alarms testing locally"), so that TCP has loopback alone.  A job whose
# ranks are on two hosts with a network between them ends with "At least one pair of MPI processes are unable to reach each other" (code 17);
# on one host all is well.  With "--mca btl_tcp_if_include eth0" it runs.  (Debian 13's 5.0.7-1 has no such line.)
#
# Seen: as installed: rc 17, unreachable: yes
#       told to use the network: rc 0, unreachable: no
. "$(dirname "$0")/common.sh"
system sid openmpi-bin=6.0.0~rc2-2 openmpi-common=6.0.0~rc2-2 libopenmpi-dev=6.0.0~rc2-2 gcc libc6-dev iproute2
cat >"$root/tmp/hello.c" <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    int one = 1, all;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 2;
}
C
# In place of ssh: a command on a host is one in the network namespace of that name.
cat >"$root/tmp/agent" <<'S'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; eval "$1"' "$host" "$*"
S
cat >"$root/tmp/job" <<'S'
mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns
ip netns add hosta && ip netns add hostb && ip link add eth0 netns hosta type veth peer name eth0 netns hostb
for h in hosta hostb; do ip -n $h link set lo up; ip -n $h link set eth0 up; done
ip -n hosta addr add 10.99.0.1/24 dev eth0
ip -n hostb addr add 10.99.0.2/24 dev eth0
printf '10.99.0.1 hosta\n10.99.0.2 hostb\n' >>/etc/hosts
sleep 2
/tmp/agent hosta timeout 60 mpirun.openmpi --allow-run-as-root --prtemca plm_ssh_agent /tmp/agent --host hosta:1,hostb:1 "$@" /tmp/hello >/tmp/said 2>&1
echo "rc $?, unreachable: $(grep -q 'unable to reach each other' /tmp/said && echo yes || echo no)"
ip netns del hosta; ip netns del hostb
S
chmod +x "$root/tmp/agent"
inside "$root" "mpicc.openmpi -o /tmp/hello /tmp/hello.c"
expect "as installed" "$(inside "$root" "unshare -m sh /tmp/job")" "rc 17, unreachable: yes"
expect "told to use the network" "$(inside "$root" "unshare -m sh /tmp/job --mca btl_tcp_if_include eth0")" "rc 0, unreachable: no"
