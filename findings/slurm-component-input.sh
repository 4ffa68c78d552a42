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
seen=$(in_slurm <<'S'
read_by() { timeout 60 salloc -Q "$@" 2>>said; }
step="srun -Q --ntasks=1 --nodes=1 --overlap"
echo "one component, --input=0: [$(read_by -N 2 sh -c "echo hi | $step --input=0 cat")]"
echo "second component, --input=all: [$(read_by -N 1 : -N 1 sh -c "echo hi | $step --het-group=1 --input=all cat")]"
echo "second component, --input=0: [$(read_by -N 1 : -N 1 sh -c "echo hi | $step --het-group=1 --input=0 cat")]"
S
)
value() { sed -n "s/^$1: //p" <<<"$seen"; }
for what in "one component, --input=0" "second component, --input=all"; do expect "$what" "$(value "$what")" "[hi]"; done
expect "second component, --input=0" "$(value "second component, --input=0")" "[]"
