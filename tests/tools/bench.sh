#!/bin/bash
# bench.sh LIB.so: what scripts/bench writes is complete and adds up: every sample, ratios of these samples, tables of the
# same programs; what fails, or is not there, is named and not counted. Values, no times.
. "$(dirname "$0")/../preload/verdicts.sh"
verdicts_start "$1"
bench() { BUILD=$(dirname "$lib") "$here/../../scripts/bench" "$@" > "$tmp/out" 2> "$tmp/err"; status=$?; }
is() { [ "$2" = "$3" ] && ok "$1" || fail "$1" "$2, not $3; $(tail -n 1 "$tmp/err")"; }
has() { grep -qE -- "$3" "$2" && ok "$1" || fail "$1" "no $3 in: $(cat "$2")"; }
value() { "$python" -c 'import json, sys; found = json.load(open(sys.argv[1])); print(eval("(%s)" % sys.argv[2]))' "$tmp/j" "$1" 2>&1; }

# an allocator that is none, and one under which a program fails
echo 'not a library' > "$tmp/text.so"
echo '__attribute__((constructor)) static void end(void)
{ if (!strcmp(program_invocation_short_name, getenv("FAILING"))) _exit(3); }' |
    gcc -D_GNU_SOURCE -include errno.h -include string.h -include stdlib.h -include unistd.h -shared -fPIC -x c -o "$tmp/fails.so" - || exit 2

bench --quick --only small-fixed --rounds 2 --arms none,poolmark --json "$tmp/j" --markdown "$tmp/m"
is status "$status" 0
is samples "$(value '{name: len(rows) for name, rows in found["programs"]["small-fixed"]["samples"].items()}')" \
    "{'none': 2, 'poolmark': 2}"
is programs "$(value 'list(found["programs"])')" "['small-fixed']"
is 'nothing failed' "$(value 'found["programs"]["small-fixed"]["failed"]')" '{}'
is 'keys of a sample' "$(value 'sorted(found["programs"]["small-fixed"]["samples"]["none"][0])')" \
    "['complaint', 'cpu', 'faults', 'output', 'status', 'user', 'wall']"
is memory "$(value 'all(row["largest"] > 500 for rows in found["programs"]["small-fixed"]["memory"].values() for row in rows)')" True
is 'one output' "$(value 'len({row["output"] for rows in found["programs"]["small-fixed"]["samples"].values() for row in rows})')" 1
is 'ratios are those of the samples' "$(value '[round(ours["cpu"] / theirs["cpu"], 9) for ours, theirs in
    zip(*(found["programs"]["small-fixed"]["samples"][arm] for arm in ("poolmark", "none")))] ==
    [round(ratio, 9) for ratio in found["programs"]["small-fixed"]["ratios"]["poolmark"]["none"]["rounds"]]')" True
is 'the mean of one' "$(value 'abs(found["means"]["poolmark"]["none"]["cpu"] /
    found["programs"]["small-fixed"]["ratios"]["poolmark"]["none"]["cpu"] - 1) < 1e-9')" True
is 'the machine' "$(value 'all(found["machine"][key] for key in ("cpu", "cores", "kernel", "libraries", "date"))')" True
has row "$tmp/out" '^\| small-fixed \| [0-9.]+ s, [0-9.]+ MiB, [0-9]+ \| [0-9.]+ \[[0-9.]+, [0-9.]+\] [0-9.]+ \|$'
has 'row of means' "$tmp/out" '^\| \*\*poolmark\*\* \| [0-9.]+ \[[0-9.]+, [0-9.]+\] [0-9.]+ \(1\) \|$'
cmp -s "$tmp/out" "$tmp/m" && ok '--markdown' || fail '--markdown' "$(diff "$tmp/out" "$tmp/m")"

bench --quick --only calloc --only fan --rounds 1 --arms none,text,fails,set,poolmark,native --allocator "text=$tmp/text.so" \
    --allocator "fails=$tmp/fails.so,FAILING=shapes" --allocator "set=$lib,POOL_POLICY=thread:32K,array:1M,native" --json "$tmp/j"
is 'several: status' "$status" 0
has 'what cannot be loaded is left out' "$tmp/err" '^bench: text is left out: .*cannot be preloaded$'
has 'what fails is shown' "$tmp/out" '^- failed: fan under fails: status 3'
has 'its cell' "$tmp/out" '^\| fan \|.*\| failed: fails \|'
is 'is not counted' "$(value 'sorted(found["means"]["native"].items(), key=str)[-1][0], found["means"]["poolmark"]["fails"]')" \
    "('set', None)"
is 'routes have commas' "$(value 'found["machine"]["libraries"]["set"].split()[-1]')" 'POOL_POLICY=thread:32K,array:1M,native'
has 'other routes' "$tmp/out" '^\| calloc \| [0-9.]+ \[[0-9.]+, [0-9.]+\] [0-9.]+ \|$'

bench --list
is 'list: status' "$status" 0
has 'list: programs' "$tmp/out" '^programs: small-fixed .*thread-churn'
has 'list: arms' "$tmp/out" '^arms: none .*poolmark thread array native$'
while read -r words; do
    read -ra list <<< "${words#*: }"
    bench "${list[@]}"
    is "$words: status, lines, output" "$status $(wc -l < "$tmp/err") $(wc -c < "$tmp/out")" '2 1 0'
    has "$words: names it" "$tmp/err" "${words%%: *}"
done << 'END'
nonsense: --only nonsense
nonsense: --arms none,nonsense
--nonsense: --nonsense
0 is not: --rounds 0
NAME=LIB: --allocator nonsense
already: --allocator jemalloc=libjemalloc.so.2
poolmark: --arms none
/none/there: --only small-fixed --arms none,poolmark --json /none/there
END
finish
