# SPDX-License-Identifier: BSD-3-Clause
# debian_source PACKAGE FOLDER: put PACKAGE's upstream source (its .orig.tar) into FOLDER with apt, using deb-src lines made
# from the machine's own deb lines in a configuration of our own; nothing of the machine's is changed.  A mirror may lack a file
# of its own release: then the package of the same mirror's `stable` and `testing`.
debian_source()
{
    ls "$2/$1"_*.orig.tar.* >/dev/null 2>&1 && return 0
    command -v dpkg-source >/dev/null || return 1
    local apt="$2/apt" suite
    for suite in "" stable testing; do
        rm -rf "$apt/etc" && mkdir -p "$apt/etc" "$apt/lists/partial"
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed 's/^Types:.*/Types: deb-src/' >"$apt/etc/src.sources"
        cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >"$apt/etc/src.list"
        [ -z "$suite" ] || of_suite "$suite" "$apt"/etc/*
        local options="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$apt/etc -o Dir::State::Lists=$apt/lists -o APT::Sandbox::User=root"
        (cd "$2" && timeout 300 apt-get -qq $options update && timeout 300 apt-get -qq $options source --download-only "$1") >"$apt/log" 2>&1
        ls "$2/$1"_*.orig.tar.* >/dev/null 2>&1 && return 0
    done
    return 1
}

# of_suite SUITE FILE...: let these lists be of SUITE, those of security updates of SUITE's.
of_suite()
{
    local suite=$1
    shift
    sed -i -E "s/^(Suites:).*-security.*/\1 $suite-security/; t; s/^(Suites:).*/\1 $suite/; t
        s/^(deb-src( \[[^]]*\])? [^ ]+) [^ ]*-security/\1 $suite-security/; t; s/^(deb-src( \[[^]]*\])? [^ ]+) [^ ]+/\1 $suite/" "$@"
}

# is_built FOLDER: does it hold what was made after the library that is installed now?  Then another row of the test need not make it again.
# The folder is emptied otherwise; `touch FOLDER/.built` when it is made.
is_built()
{
    [ "$1/.built" -nt "$PREFIX/lib/libmpi_abi.so" ] && return 0
    rm -rf "$1" && mkdir -p "$1"
    return 1
}
over="${KEEL_DEVICES:+ over $KEEL_DEVICES}${APPS_HOSTS:+ spread over $APPS_HOSTS hosts}" # for what is said of a row
