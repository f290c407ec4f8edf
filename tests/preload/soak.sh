#!/bin/bash
# soak.sh LIB.so [ENV=VAL...]
# tests/stress/soak.c under every policy, several routes, every native allocator and a hasty trim, each with its seeds:
# the payloads must be right and every dump consistent. Some 40 s; SOAK_OPERATIONS makes it longer, SOAK_SEEDS="1 2 3"
# chooses other sequences.
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$@"
given=("${settings[@]}")
operations=${SOAK_OPERATIONS:-250000}
read -ra seeds <<< "${SOAK_SEEDS-1 2}"
gcc -std=gnu17 -O2 -g -fno-builtin -pthread -o "$tmp/soak" "$here/../stress/soak.c" || exit 2
read -ra policies <<< "$(sed -n 's/^POLICY(\([a-z_-]*\)).*/\1/p' "$here/../../policies/policies.def" | tr '\n' ' ')"

# soak NAME OPERATIONS THREADS ENV=VAL...: once per seed
soak()
{
    local name=$1 seed status why
    for seed in "${seeds[@]}"; do
        rm -rf "$tmp/dumps" && mkdir "$tmp/dumps"
        settings=("${given[@]}" "${@:4}")
        under_library "$tmp/dumps"
        timeout -k 5 60 "${under[@]}" "$tmp/soak" "$2" "$3" "$seed" > "$tmp/log" 2>&1 < /dev/null
        status=$?
        if [ $status -ne 0 ]; then
            fail "$name seed $seed" "exit status $status: $(tail -n 1 "$tmp/log")"
        elif ! why=$(dumps_are_good "$tmp/dumps" soak); then
            fail "$name seed $seed" "$why"
        else
            ok "$name seed $seed"
        fi
    done
} 2> /dev/null

for policy in "${policies[@]}" balanced; do
    soak "$policy" "$operations" 4 "POOL_POLICY=$policy"
done
soak thread:1K,array:64K,native "$operations" 8 POOL_POLICY=thread:1K,array:64K,native
soak onecache:256,thread:4K,array "$operations" 3 POOL_POLICY=onecache:256,thread:4K,array
soak array:128,native:1K,thread:8K,onecache "$operations" 16 POOL_POLICY=array:128,native:1K,thread:8K,onecache
for native in libc mmap; do
    soak "native/$native" $((operations / 10)) 4 POOL_POLICY=native "POOL_NATIVE=$native"
    soak "balanced/$native" $((operations / 2)) 4 POOL_POLICY=balanced "POOL_NATIVE=$native"
done
soak "trim 1ms" "$operations" 4 POOL_POLICY=balanced POOL_TRIM=1ms
soak "small pools" "$operations" 4 POOL_POLICY=thread:2K,array POOL_THREAD_BYTES=4K POOL_POOL_BYTES=64K
soak "one thread" "$operations" 1 POOL_POLICY=balanced
finish
