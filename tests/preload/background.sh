#!/bin/bash
# background.sh LIB.so [ENV=VAL...]
# POOL_BACKGROUND: the memory of a program that only sleeps goes back (stress/sleeper.c), by one thread that is only there
# when it is wanted, has no descriptors, is not in the child of a fork and does not hold up an exit.
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$@"
given=("${settings[@]}" POOL_TRIM=500ms)
gcc -std=gnu17 -O1 -fno-builtin -pthread -o "$tmp/sleeper" "$here/../stress/sleeper.c" || exit 2

# sleeper WANTED BACKGROUND ARGUMENT...: what it must print
sleeper()
{
    local wanted=$1 said why
    rm -rf "$tmp/dumps" && mkdir "$tmp/dumps"
    settings=("${given[@]}" "POOL_BACKGROUND=$2")
    under_library "$tmp/dumps"
    said=$(timeout -k 5 60 "${under[@]}" "$tmp/sleeper" "${@:3}" 2>&1 < /dev/null | tr '\n' ' ')
    if [ "$said" != "$wanted" ]; then
        fail "$*" "said $said"
    elif ! why=$(dumps_are_good "$tmp/dumps" sleeper); then
        fail "$*" "$why"
    else
        ok "$*"
    fi
}

sleeper 'fell 4 0 ' auto 2 64
sleeper 'fell 3 0 ' auto 1 100000
sleeper 'fell 3 0 ' auto 1 3000000
sleeper 'stayed 2 -1 ' off 1 64
sleeper 'stayed 1 -1 ' auto 0 64
sleeper 'fell 2 0 ' on 0 64
sleeper 'fell 3 0 fell 3 0 ' auto 1 1000 fork

hung=0
for _ in {1..50}; do
    env LD_PRELOAD="$lib" POOL_STATS=off POOL_TRIM=1ms POOL_BACKGROUND=on timeout 20 "$tmp/sleeper" 1 20000 quick || hung=$?
done
if [ $hung -eq 0 ]; then ok 'exits while it works'; else fail 'exits while it works' "status $hung"; fi
finish
