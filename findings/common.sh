# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the findings.  system SUITE PACKAGE=VERSION...: a temporary folder with these packages in a Debian release of their
# own; `inside "$root" COMMAND` runs there; it is taken away at the end.  77 where the folder or these versions cannot be had.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/tests/systems/root.sh"

absent() {
    echo "skipped: $*"
    exit 77
}

away() {
    leave "$root"
    rm -rf --one-file-system "$root" "$root.log"
}

system() {
    [ "$(id -u)" = 0 ] || absent "needs root, for a folder that is entered by chroot"
    root=$(mktemp -d "${TMPDIR:-/var/tmp}/finding.XXXXXX")
    chmod 755 "$root" # packages make users, for whom this is their /
    trap away EXIT
    make_folder "$1" "$root" || absent "no folder with Debian's $1"
    mounts "$root"
    shift
    inside "$root" "apt-get -o Acquire::Check-Valid-Until=false update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $*" \
        >"$root.log" 2>&1 || absent "not to be had in these versions: $* ($(tail -n 1 "$root.log"))"
}

expect() { # NAME VALUE EXPECTED: say what was seen; another one ends the finding
    echo "$1: $2"
    [ "$2" = "$3" ] || { echo "this has changed; it was: $3"; exit 1; }
}

# in_slurm <COMMANDS: in the folder, with Slurm's packages, a cluster of two nodes, h1 and h2, each with a name of its own, and in it these
# commands.  Its network and its processes are its own, so nothing of it is left when the commands have ended.
in_slurm() {
    { cat <<'S'
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
NodeName=h[1-2] NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
C
echo CgroupPlugin=disabled >cgroup.conf
export SLURM_CONF=$where/slurm.conf
munged --force --foreground --key-file=$where/key --socket=$where/munge.sock --pid-file=$where/munged.pid --log-file=$where/munged.log --seed-file=$where/seed >said 2>&1 &
sleep 2
slurmctld -D >>said 2>&1 &
for h in h1 h2; do unshare -u sh -c "hostname $h; exec slurmd -D -N $h" >>said 2>&1 & done
for i in $(seq 60); do [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break; sleep 1; done
S
        cat
    } >"$root/tmp/job"
    inside "$root" "unshare -n -m -p -f --mount-proc --kill-child sh /tmp/job"
}
