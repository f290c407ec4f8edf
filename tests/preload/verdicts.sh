# shellcheck shell=bash
# What the scripts of this folder share: one verdict per line, the sum as the last line. To be sourced.
#
# verdicts_start LIB.so [ENV=VAL...]   sets lib, settings, here, tmp (removed at the end), passed, failed
# ok NAME, fail NAME WHY, finish
# preloaded DUMPS                      prints the env words that put a program under the library, one per line

verdicts_start()
{
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 2
    case ${1-} in
    none) lib=none ;;
    *) lib=$(realpath -e -- "${1:?usage: $0 LIB.so [ENV=VAL...]}") || exit 2 ;;
    esac
    shift
    settings=("$@")
    python=/usr/bin/python3
    passed=0 failed=0
    unset "${!POOL_@}" LD_PRELOAD
    export LC_ALL=C PYTHONDONTWRITEBYTECODE=1
    tmp=$(mktemp -d "${TMPDIR:-/tmp}/poolmark-test.XXXXXX") || exit 2
    chmod 755 "$tmp"
    trap 'rm -rf "$tmp"' EXIT
}

ok()
{
    echo "ok $1"
    passed=$((passed + 1))
}

fail()
{
    echo "FAIL $1: $(tr -s '\n\t' '  ' <<< "${*:2}" | tr -cd '[:print:]' | cut -c1-300)"
    failed=$((failed + 1))
}

finish()
{
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
}

# The words of an env command, in the array `under`: with the library and dumps to FOLDER, or without anything.
under_library()
{
    under=(env "${settings[@]}")
    [ "$lib" = none ] || under+=("LD_PRELOAD=$lib" "POOL_STATS=$1/%n.%p.json")
}

under_nothing()
{
    under=(env)
}

# dumps_are_good FOLDER PATTERN...: prints what is wrong and fails, or says nothing. With lib=none nothing is expected.
dumps_are_good()
{
    [ "$lib" = none ] || "$python" "$here/check-dumps" "$@"
}
