#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MPICH's mpiexec (Hydra 4.2.1 of Debian 13; 4.0.2 of Debian 12 and 5.0.2 of unstable likewise) ends with the bitwise OR of its processes' exit codes:
# of two that end with 1 and 2 it is 3, of 4 and 8 it is 12, codes that none of them had.  So a script that acts on the code takes one failure for
# another.  One would have guessed one of the codes, the first or the largest.  What runs need not be a program of MPI's.
#
# Seen: 1 and 2: 3; 4 and 8: 12; 8 and 4: 12; 0 and 5: 5;
. "$(dirname "$0")/common.sh"
system trixie mpich=4.3.0+really4.2.1-1
cat >"$root/tmp/codes" <<'S'
for pair in "1 2" "4 8" "8 4" "0 5"; do # the second process ends a second after the first
    set -- $pair
    mpiexec.hydra -n 2 sh -c "[ \$PMI_RANK = 1 ] || exit $1; sleep 1; exit $2" >/dev/null 2>&1
    printf '%s and %s: %s; ' "$1" "$2" $?
done
S
expect "two processes, and mpiexec" "$(inside "$root" "sh /tmp/codes")" "1 and 2: 3; 4 and 8: 12; 8 and 4: 12; 0 and 5: 5; "
