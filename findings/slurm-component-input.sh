#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm 26.05.5 (Debian unstable; 24.11.5 of Debian 13 likewise): of a heterogeneous job, `srun --het-group=N --ntasks=1 --input=0` gives the step's
# only task no input; it reads the end of file at once, and srun ends with code 0.  `--input=all` gives it the input, which for one task
# should be the same (srun(1): "--input=taskid: stdin is redirected ... to a single task").  In a job of one component --input=0 works, too.  With Slurm
# 22.05 of Debian 12 all three work.
#
# Seen: one component, --input=0: [hi]
#       second component, --input=all: [hi]
#       second component, --input=0: []
. "$(dirname "$0")/common.sh"
system sid slurmctld=26.05.5-1 slurmd=26.05.5-1 slurm-client=26.05.5-1 munge iproute2
cat >"$root/tmp/job" <<'S'
cd "$(mktemp -d)"; where=$PWD
mkdir state spool; head -c 1024 /dev/urandom >key; chmod 400 key
host=$(uname -n)
ip link set lo up # names are looked up only where there is more than loopback
ip link add hub type bridge && ip addr add 10.79.0.1/24 dev hub && ip link set hub up
cat >slurm.conf <<C
ClusterName=finding
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$where/munge.sock
CredType=cred/munge
SlurmUser=root
StateSaveLocation=$where/state
SlurmdSpoolDir=$where/spool/%n
SlurmctldPidFile=$where/controller.pid
SlurmdPidFile=$where/%n.pid
SlurmctldLogFile=$where/controller.log
SlurmdLogFile=$where/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SchedulerParameters=bf_interval=1
SlurmdParameters=config_overrides
NodeName=h[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
C
echo CgroupPlugin=disabled >cgroup.conf
export SLURM_CONF=$where/slurm.conf
munged --force --foreground --key-file=$where/key --socket=$where/munge.sock --pid-file=$where/munged.pid --log-file=$where/munged.log --seed-file=$where/seed >said 2>&1 &
pids=$!
sleep 2
slurmctld -D >>said 2>&1 & pids="$pids $!"
for i in 1 2; do slurmd -D -N h$i >>said 2>&1 & pids="$! $pids"; done
for i in $(seq 60); do [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break; sleep 1; done
read_by() { timeout 60 salloc -Q "$@" 2>>said; }
step="srun -Q --ntasks=1 --nodes=1 --overlap"
echo "one component, --input=0: [$(read_by -N 2 sh -c "echo hi | $step --input=0 cat")]"
echo "second component, --input=all: [$(read_by -N 1 : -N 1 sh -c "echo hi | $step --het-group=1 --input=all cat")]"
echo "second component, --input=0: [$(read_by -N 1 : -N 1 sh -c "echo hi | $step --het-group=1 --input=0 cat")]"
kill $pids; wait
S
seen=$(inside "$root" "unshare -n -m sh /tmp/job")
value() { sed -n "s/^$1: //p" <<<"$seen"; }
for what in "one component, --input=0" "second component, --input=all"; do expect "$what" "$(value "$what")" "[hi]"; done
expect "second component, --input=0" "$(value "second component, --input=0")" "[]"
