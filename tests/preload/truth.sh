#!/bin/bash
# truth.sh LIB.so [ENV=VAL...]
# Single-threaded real programs run under tracer.so (an exact count) and LIB.so at once: the dump's allocs and frees must
# be the tracer's, its peak of allocated bytes within its own error. TRUTH='pattern...' picks.
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$@"
read -ra picks <<< "${TRUTH-}"
gcc -std=gnu17 -O2 -fno-builtin -shared -fPIC -o "$tmp/tracer.so" "$here/tracer.c" || exit 2
cd "$tmp" || exit 2

# truth NAME COMMAND...: the input, if any, is the file NAME.in
truth()
{
    local name=$1 pick wanted status input=/dev/null why
    shift
    for pick in "${picks[@]}"; do
        # shellcheck disable=SC2053
        [[ $name == $pick ]] && break
        pick=
    done
    [ ${#picks[@]} -eq 0 ] || [ -n "$pick" ] || return 0
    [ -e "$name.in" ] && input=$name.in
    rm -rf dumps && mkdir dumps
    command -v "$1" > /dev/null || { fail "$name" "$1 is missing"; return; }
    "$@" < "$input" > plain 2> plain.err
    wanted=$?
    timeout -k 5 60 env "${settings[@]}" TRACER_OUT="$tmp/dumps/traced" POOL_STATS="$tmp/dumps/dump.%p.json" \
        LD_PRELOAD="$tmp/tracer.so $lib" "$@" < "$input" > under 2> under.err
    status=$?
    [ $status -eq $wanted ] || { fail "$name" "exit status $status instead of $wanted: $(tail -n 1 under.err)"; return; }
    cmp -s plain under || { fail "$name" "output differs"; return; }
    if why=$("$python" "$here/check-truth" dumps/traced dumps/dump.*.json); then
        ok "$name # ${why##*; peak}"
    else
        fail "$name" "$why"
    fi
}

bash "$here/../bench/sqlite-rows.sh" 20000 > sqlite3.in
truth sqlite3 sqlite3 :memory:
truth python3 env PYTHONMALLOC=malloc "$python" "$here/../bench/json-round-trip.py" 3
# shellcheck disable=SC2016
truth perl perl -e 'my %h; push @{$h{"k" . ($_ * 7919 % 5003)}}, "v" x ($_ % 300) for 1 .. 40000; print scalar(keys %h), "\n"; exit 3'
for ((n = 0; n < 200; n++)); do echo "int f$n(int x) { return x > $n ? f$((n / 2))(x - 1) * $n : x; }"; done > many.c
sed -i '1i int f0(int x);' many.c
truth cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 many.c -o -
seq -f '{"id": %g, "list": [1, "two", null], "text": "some words"}' 4000 > jq.in
truth jq jq -cS 'select(.id % 7 == 0) | .list += [.id] | .text |= ascii_upcase'
seq 60000 > awk.in
# shellcheck disable=SC2016
truth awk awk '{ a["key" $1 % 9973] = a["key" $1 % 9973] substr($1, 1, 2) } END { for (k in a) n += length(a[k]); print n }'
seq -f 'row %g of the input' 200000 > xz.in
truth xz xz -T1 -6 -c
finish
