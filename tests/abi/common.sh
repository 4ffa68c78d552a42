# SPDX-License-Identifier: BSD-3-Clause
# common.sh: what the tests of both ABIs do.  ABI is set; COMPILERS, without the ABI's name, and FILES, libraries of Keel's, are needed.
for compiler in $COMPILERS; do
    command -v "$compiler.$ABI" >/dev/null || { echo "$ABI: no $compiler.$ABI (Debian's lib$ABI-dev)"; exit 77; }
done
folder="${PREFIX:?}/lib/keel/$ABI"
for file in $FILES; do
    [ -e "$folder/$file" ] || { echo "$ABI: $folder/$file is not installed"; exit 77; }
done
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export TMPDIR="$work" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cd "$work" || exit 1 # where compilers put modules
failed=0

# check WHAT EXPECTED COMMAND...: its whole output
check()
{
    local what=$1 want=$2 got code
    shift 2
    got=$(timeout 60 "$@" 2>&1)
    code=$?
    [ "$code" = 0 ] && [ "$got" = "$want" ] && return
    echo "$what: exit code $code, expected the text: $want"
    echo "$got" | head -20
    failed=1
}

# The same of another MPI's own mpiexec, whose notes about networks go to stderr.
check_own()
{
    check "$1" "$2" bash -c '"$@" 2>/dev/null' own "${@:3}"
}

# program.c in every way that a library of ours is found, and on that MPI itself: own_mpiexec COMMAND...
check_program()
{
    local flags
    for flags in "" "-no-pie -fno-pic"; do # the second has copies of the library's variables
        # shellcheck disable=SC2086
        "mpicc.$ABI" -std=gnu11 -O1 -w $flags -o "$work/program" "$TOP_SRCDIR/tests/abi/program.c" || exit 1
        for n in 1 2 3 5; do
            check "with $n ranks" "right of $n" "$MPIEXEC" -n $n "$work/program"
        done
        check "over TCP" "right of 2" env KEEL_DEVICES=self,tcp "$MPIEXEC" -n 2 "$work/program"
    done
    check_wrapper mpicc "-std=gnu11 -O1" program.c
    check "by --abi" "right of 2" "$MPIEXEC" --abi "$ABI" -n 2 "$work/program"
    check "by a shell" "right of 1" "$MPIEXEC" -n 1 sh -c "$work/program"
    check "without mpiexec" "right of 1" env LD_LIBRARY_PATH="$folder" "$work/program"
    check "with LD_LIBRARY_PATH alone" "right of 2" env LD_LIBRARY_PATH="$folder" "$MPIEXEC" --abi "$ABI" -n 2 "$work/program"
    command -v "$1" >/dev/null && check_own "on its own MPI" "right of 2" "$@" -n 2 "$work/program"
}

# classes.cpp, whose C++ bindings are a library of that MPI: check_classes FLAGS
check_classes()
{
    "mpicxx.$ABI" -std=gnu++11 -w $1 -o "$work/classes" "$TOP_SRCDIR/tests/abi/classes.cpp" || exit 1
    ldd "$work/classes" | grep -qE 'libmpi(ch|_)cxx' || { echo "classes is not linked with the C++ library of $ABI"; failed=1; }
    check_wrapper mpicxx "-std=gnu++11 $1" classes.cpp
    for n in 1 3; do
        check "in C++ with $n ranks" "right of $n" "$MPIEXEC" -n $n "$work/classes"
    done
    [ "$1" ] || return
    timeout 60 "$MPIEXEC" -n 1 "$work/classes" throw >"$work/log" 2>&1 && grep -q '^right of 1' "$work/log" &&
        grep -qE '^MPI::ERR_RANK is thrown|exception throwing is disabled' "$work/log" || { echo "ERRORS_THROW_EXCEPTIONS:"; cat "$work/log"; failed=1; }
}

# Keel's own wrapper, told the ABI, finds that MPI's headers and links Keel's library: check_wrapper WRAPPER FLAGS SOURCE
check_wrapper()
{
    # shellcheck disable=SC2086
    "$PREFIX/bin/$1" "--abi=$ABI" -w $2 -o "$work/linked" "$TOP_SRCDIR/tests/abi/$3" || exit 1
    env -u LD_LIBRARY_PATH ldd "$work/linked" | grep -q "=> $folder/libmpi\." || { echo "$1 --abi=$ABI: not linked with $folder"; failed=1; }
    check "by $1 --abi" "right of 2" "$MPIEXEC" -n 2 "$work/linked"
    check "by $1 --abi, without mpiexec" "right of 1" env -u LD_LIBRARY_PATH "$work/linked"
}

# It is our library that ran, under that MPI's own mpiexec too, and --abi=none leaves the program with its own: check_whose
# PREFIX-OF-ITS-VERSION own_mpiexec COMMAND...
check_whose()
{
    cat >"$work/whose.c" <<'X'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &n);
    printf("%.5s\n", text);
    MPI_Finalize();
    return 0;
}
X
    "mpicc.$ABI" -w -o "$work/whose" "$work/whose.c" || exit 1
    check "whose library" "Keel " "$MPIEXEC" -n 1 "$work/whose"
    command -v "$2" >/dev/null && check "whose library under ${*:2}" $'Keel \nKeel ' env LD_LIBRARY_PATH="$folder" "${@:2}" -n 2 "$work/whose"
    check "whose library, --abi=none" "$1" "$MPIEXEC" --abi=none -n 1 "$work/whose"
}

# An extension that is not here is told when it is called, also in a program whose names must all be found at its start.
check_absent()
{
    local name=MPIX_Stream_create
    [ "$ABI" = openmpi ] && name=OMPI_Affinity_str
    cat >"$work/absent.c" <<'X'
#include <mpi.h>
#include <stdio.h>
int ABSENT(void *, void *);
int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, err;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    err = ABSENT(NULL, NULL);
    MPI_Error_string(err, text, &n);
    puts(text);
    MPI_Finalize();
    return err == MPI_SUCCESS;
}
X
    "$PREFIX/bin/mpicc" "--abi=$ABI" "-DABSENT=$name" -w -Wl,-z,now -o "$work/absent" "$work/absent.c" || exit 1
    "$MPIEXEC" -n 1 "$work/absent" | grep -q "^$name.*this version of Keel MPI does not have it" || { echo "$name is not told"; failed=1; }
}

# Where gfortran's modules of that MPI are.
modules_folder()
{
    local word
    for word in $("mpifort.$ABI" -show); do
        case $word in -I*) [ -e "${word#-I}/mpi_f08.mod" ] && { echo "${word#-I}"; return; } ;; esac
    done
}

# What the modules of this version have of what forms.F90 asks for.
features()
{
    local names
    names=$(python3 "$TOP_SRCDIR/tests/abi/modules.py" "$(modules_folder)" mpi_f08)
    echo "$names" | grep -qxE 'mpi_send_c_f08ts_|mpi_send_f08ts_large_' && echo -DLARGE
    echo "$names" | grep -qx mpi_session_init_f08_ && echo -DSESSIONS
    # Open MPI 4 has the interface alone
    printf 'use mpi_f08\ntype(MPI_Status) :: s\ninteger :: i(MPI_STATUS_SIZE)\ncall MPI_Status_f082f(s, i)\nend\n' >convert.f90
    "mpifort.$ABI" -w -o convert convert.f90 2>/dev/null && echo -DCONVERTED
    echo "$names" | grep -qx mpi_comm_attach_buffer_f08ts_ && echo -DAUTOMATIC
    echo "$names" | grep -qE '^mpi_psend_init_f08' && echo -DPARTITIONED
    [ "$ABI" = openmpi ] && echo "$names" | grep -qx mpi_psend_init_f08_ && echo -DWITHOUT_INFO
    [ "$ABI" = mpich ] && echo -DADDRESS_BACK
}

# forms.F90 in each form, and on that MPI itself: own_mpiexec COMMAND...
check_forms()
{
    local form has
    has=$(features | tr '\n' ' ')
    for form in 77 90 8; do
        flags="-DFORM=$form $has -ffree-line-length-none -fallow-argument-mismatch"
        # shellcheck disable=SC2086
        "mpifort.$ABI" -w $flags -o "$work/forms" "$TOP_SRCDIR/tests/abi/forms.F90" || exit 1
        for n in 1 2 5; do
            check "form $form with $n ranks" "right of $n" "$MPIEXEC" -n $n "$work/forms"
        done
        check_wrapper mpifort "$flags" forms.F90
        command -v "$1" >/dev/null && check_own "form $form on its own MPI" "right of 2" "$@" -n 2 "$work/forms"
    done
}

# check_symbols PATTERN: all that the modules of that MPI call, and all that its Fortran libraries have under gfortran's names, but for what
# fits the pattern, is in Keel's.  forms of mpi_f08 is there.
check_symbols()
{
    local theirs ours modules libraries missing
    libraries=$(ldd "$work/forms" | awk '$1 ~ /^lib(mpichfort|mpi_(mpifh|usempif08|usempi_ignore_tkr))\.so/ { print $3 }')
    # shellcheck disable=SC2086
    theirs=$(nm -D --defined-only $libraries | awk 'NF == 3 { print $3 }' | sort -u)
    modules=$(python3 "$TOP_SRCDIR/tests/abi/modules.py" "$(modules_folder)" mpi mpi_f08 mpi_ext mpi_f08_ext)
    ours=$(nm -D --defined-only "$folder"/lib*.so.* 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
    [ "$(echo "$modules" | wc -l)" -ge 1000 ] || { echo "only $(echo "$modules" | wc -l) procedures in the modules"; failed=1; }
    # what its own modules name and its libraries have not is theirs
    missing=$(comm -12 <(echo "$modules") <(echo "$theirs") | comm -23 - <(echo "$ours"))
    [ -z "$missing" ] || { echo "missing, of the modules:" $missing; failed=1; }
    missing=$(echo "$theirs" | grep -E '[a-z0-9]_$|^__[a-z0-9_]*_MOD_' | grep -vE "$1" | comm -23 - <(echo "$ours"))
    [ -z "$missing" ] || { echo "missing, of the libraries:" $missing; failed=1; }
}

# check_programs EXCEPT FILES...: Keel's own Fortran programs, but for those that EXCEPT names, between blanks
check_programs()
{
    local except=$1 source name n
    shift
    passed=0
    for source in "$@"; do
        name=$(basename "$source")
        case " $except " in *" $name "*) continue ;; esac
        "mpifort.$ABI" -w -o "$work/$name.exe" "$source" >"$work/log" 2>&1 || { head -5 "$work/log"; echo "$name does not compile"; exit 1; }
        ldd "$work/$name.exe" | grep -qE 'libmpichfort|libmpi_mpifh' || { echo "$name is not linked with the library of $ABI"; exit 1; }
        for n in 1 4; do
            timeout 60 "$MPIEXEC" -n $n "./$name.exe" >"$work/log" 2>&1
            code=$?
            [ $code = 0 ] || { echo "$name on $n ranks: exit code $code"; head -20 "$work/log"; exit 1; }
            passed=$((passed + 1))
        done
    done
    echo "$ABI-fortran: $passed runs"
}
