#!/bin/bash
# bench.sh LIB.so: what scripts/bench writes is complete: every sample, and tables of the same programs. Values, no times.
. "$(dirname "$0")/../preload/verdicts.sh"
verdicts_start "$1"
bench() { BUILD=$(dirname "$lib") "$here/../../scripts/bench" "$@" 2> "$tmp/err"; }

bench --quick --rounds 2 --arms none,poolmark --only small-fixed --only calloc --json "$tmp/j" > "$tmp/table"
status=$?
[ $status -eq 0 ] && ok status || fail status "$status: $(tail -n 1 "$tmp/err")"
for name in small-fixed calloc; do
    count=$("$python" -c "import json, sys
found = json.load(open(sys.argv[1]))['programs']['$name']
print(len(found['samples']['none']), len(found['samples']['poolmark']), len(found['memory']['poolmark']), found['failed'])" "$tmp/j")
    [ "$count" = '2 2 1 []' ] && ok "samples of $name" || fail "samples of $name" "$count"
    [ "$(grep -c "^| $name | [0-9.]* \[[0-9.]*, [0-9.]*\] [0-9.]* |$" "$tmp/table")" -eq 1 ] && ok "row of $name" ||
        fail "row of $name" "$(cat "$tmp/table")"
done
bench --only nonsense > /dev/null
status=$?
[ $status -ne 0 ] && grep -q 'no such program: nonsense' "$tmp/err" && ok 'unknown program' || fail 'unknown program' "$status"
bench --list > "$tmp/list" && grep -q 'random-large.*thread-churn' "$tmp/list" && ok list || fail list "$(cat "$tmp/list")"
finish
