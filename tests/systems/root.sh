# SPDX-License-Identifier: BSD-3-Clause
# Folders with another Debian release in them (root): made, entered, left.  Sourced by tests/systems/run and findings/*.sh.

suite_of() {
    case $1 in
    debian12) echo bookworm ;;
    debian13) echo trixie ;;
    unstable) echo sid ;;
    *) return 1 ;;
    esac
}

# The place that this machine has its own packages from.
packages_from() {
    awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null | grep . ||
        awk '/^deb / {for (i = 2; i <= NF; i++) if ($i ~ "://") {print $i; exit}}' /etc/apt/sources.list
}

mounts() { # what programs in a folder need; the folder itself is a mount point, so that mounts in it stay apart
    mountpoint -q "$1" || { mount --bind "$1" "$1" && mount --make-private "$1"; }
    mountpoint -q "$1/proc" || mount -t proc proc "$1/proc"
    mountpoint -q "$1/sys" || mount --bind /sys "$1/sys"
    mountpoint -q "$1/dev" || { mount --bind /dev "$1/dev" && mount --make-private "$1/dev"; }
    mountpoint -q "$1/dev/pts" || mount -t devpts devpts "$1/dev/pts"
    mountpoint -q "$1/dev/shm" || mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
}

leave() {
    for d in run/netns dev/shm dev/pts dev sys proc .; do
        ! mountpoint -q "$1/$d" || umount "$1/$d"
    done
}

inside() { # FOLDER COMMAND
    chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh -c "$2"
}

make_folder() { # SUITE FOLDER
    [ ! -e "$2/made" ] || return 0
    command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null
    debootstrap --variant=minbase --include=ca-certificates "$1" "$2" "$(packages_from)" >"$2.log" 2>&1 ||
        { tail -5 "$2.log" >&2; return 1; }
    : >"$2/made"
}
