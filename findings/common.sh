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
