#!/bin/bash
# shim.sh [LIB.so] [ENV=VAL...]
# What the shim costs: CPU time of three programs against Debian's mimalloc 2.0.9 as a preload (limit 1.05), and what it
# adds to the smallest program's memory (VmHWM of /bin/true, limit 1536 KiB). ROUNDS (default 15); SHIM='sqlite3 json g++
# true' picks; SHIM_JSON=FOLDER keeps every sample. Exit status 1 if a limit is exceeded.
here=$(cd "$(dirname "$0")" && pwd)
lib=$(realpath -e -- "${1:-$here/../../build/libpoolmark.so}") || exit 2
shift
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
poolmark="poolmark=$lib$(printf ',%s' "$@")"
poolmark=${poolmark%,}
failed=0

measure() # NAME OPTIONS... -- PROGRAM...
{
    local name=$1
    shift
    [[ " ${SHIM-sqlite3 json g++ true} " == *" $name "* ]] || return 0
    echo "$name:"
    if [ -n "${SHIM_JSON-}" ]; then
        /usr/bin/python3 "$here/compare.py" --json -n "${ROUNDS-15}" --arm none= --arm mimalloc=libmimalloc.so.2 \
            --arm "$poolmark" "$@" > "$SHIM_JSON/$name.json" || failed=1
    else
        /usr/bin/python3 "$here/compare.py" -n "${ROUNDS-15}" --arm none= --arm mimalloc=libmimalloc.so.2 \
            --arm "$poolmark" "$@" || failed=1
    fi
}

"$here/sqlite-rows.sh" 200000 > rows.sql
measure sqlite3 --max-ratio poolmark=1.05 --stdin rows.sql -- sqlite3 :memory:
measure json --max-ratio poolmark=1.05 --env PYTHONMALLOC=malloc -- /usr/bin/python3 "$here/json-round-trip.py" 6
measure g++ --max-ratio poolmark=1.05 -- g++ -O1 -c "$here/template-heavy.cc" -o out.o
measure true --max-kib poolmark=1536 --memory-runs 5 -- /bin/true
exit $failed
