#!/bin/bash
# programs.sh LIB.so [FOLDER]
# The programs of programs/ whose first comment says "Exits with N." run under every policy, and once over each native
# allocator, with a time limit: the exit status must be N and every dump consistent. They are built here, or taken from
# FOLDER (NAME, and NAME.so for those that say "Plugin."). PROGRAMS='pattern...' picks; POLICIES='a b' too; LIB.so may
# be `none`: then each runs once on plain glibc.
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$1"
folder=${2:-$tmp}
read -ra picks <<< "${PROGRAMS-}"
read -ra policies <<< "${POLICIES-$(sed -n 's/^POLICY(\([a-z_-]*\)).*/\1/p' "$here/../../policies/policies.def" | tr '\n' ' ')balanced}"
[ "$lib" = none ] && policies=(none)

build()
{
    local flags=(-std=gnu17 -O1 -g -fno-builtin -pthread)
    [ -x "$folder/$1" ] && return
    gcc "${flags[@]}" -o "$folder/$1" "$here/programs/$1.c" || return
    ! grep -q 'Plugin\.' "$here/programs/$1.c" ||
        gcc "${flags[@]}" -DPLUGIN -shared -fPIC -o "$folder/$1.so" "$here/programs/$1.c"
}

# run NAME LABEL ENV=VAL...: one program under one setting
run()
{
    local name=$1 label=$2 status wanted why
    wanted=$(sed -n 's/.*Exits with \([0-9]*\)\..*/\1/p' "$here/programs/$name.c" | head -n 1)
    rm -rf "$tmp/cwd" "$tmp/dumps" && mkdir "$tmp/cwd" "$tmp/dumps"
    settings=("${@:3}")
    if [ "$lib" = none ]; then under_nothing; else under_library "$tmp/dumps"; fi
    (cd "$tmp/cwd" && exec timeout -k 5 "${PROGRAM_TIMEOUT:-30}" "${under[@]}" "$folder/$name" "$folder/$name.so") \
        > "$tmp/log" 2>&1 < /dev/null
    status=$?
    if [ $status -ne "$wanted" ]; then
        fail "$name $label" "exit status $status, wanted $wanted: $(tail -n 1 "$tmp/log")"
    elif ! why=$(dumps_are_good "$tmp/dumps"); then
        fail "$name $label" "$why"
    else
        why=$(grep -m1 '^skipped' "$tmp/log")
        ok "$name $label${why:+ # $why}"
    fi
} 2> /dev/null

for source in "$here"/programs/*.c; do
    name=$(basename "$source" .c) pick=
    grep -q 'Exits with [0-9]*\.' "$source" || continue
    for pick in "${picks[@]}"; do
        # shellcheck disable=SC2053
        [[ $name == $pick ]] && break
        pick=
    done
    [ ${#picks[@]} -eq 0 ] || [ -n "$pick" ] || continue
    build "$name" > "$tmp/log" 2>&1 || { fail "$name" "does not compile: $(grep -m1 error "$tmp/log")"; continue; }
    for policy in "${policies[@]}"; do
        run "$name" "$policy" "POOL_POLICY=$policy"
    done
    [ "$lib" = none ] && continue
    for native in libc mmap; do
        run "$name" "native/$native" POOL_POLICY=native "POOL_NATIVE=$native"
    done
done
finish
