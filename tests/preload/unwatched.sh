#!/bin/bash
# unwatched.sh LIB.so
# Without any setting nobody reads the numbers, and start-up does less: the programs of programs/ that fork and those with
# threads once so, and the one that forks and then starts threads often, under each policy too (POOL_STATS=off).
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$1"
read -ra policies <<< "$(sed -n 's/^POLICY(\([a-z_-]*\)).*/\1/p' "$here/../../policies/policies.def" | tr '\n' ' ')"

# run LABEL TIMES NAME ENV=VAL...
run()
{
    local status=0
    for ((i = 0; i < $2 && status == 0; i++)); do
        env "${@:4}" LD_PRELOAD="$lib" timeout -k 5 30 "$tmp/$3" "$tmp/$3.so" > "$tmp/log" 2>&1 < /dev/null
        status=$?
    done
    if [ $status -eq 0 ]; then ok "$3 $1"; else fail "$3 $1" "exit status $status: $(tail -n 1 "$tmp/log")"; fi
} 2> /dev/null

for source in "$here"/programs/{fork,thread}_*.c; do
    grep -q 'Exits with 0\.' "$source" || continue
    name=$(basename "$source" .c)
    gcc -std=gnu17 -O1 -fno-builtin -pthread -o "$tmp/$name" "$source" || exit 2
    [ "$name" = thread_timeline ] || run 'no setting' 1 "$name"
done
for policy in "${policies[@]}" balanced; do
    run "$policy" 20 fork_then_threads POOL_STATS=off "POOL_POLICY=$policy"
done
finish
