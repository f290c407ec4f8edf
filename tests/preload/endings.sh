#!/bin/bash
# endings.sh LIB.so [ENV=VAL...]
# However a process ends, its wait status is the one without the library, and its record is there, whole, and says how.
# The programs are programs/end_*.c; each runs once bare and once under the library.
# shellcheck source=tests/preload/verdicts.sh
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$@"
[ "$lib" != none ] || { echo "endings.sh needs a library" >&2; exit 2; }
ulimit -c 0

build()
{
    [ -x "$tmp/$1" ] || gcc -std=gnu17 -O1 -g -fno-builtin -pthread -o "$tmp/$1" "$here/programs/$1.c" > "$tmp/log" 2>&1 ||
        { fail "$1" "does not compile: $(grep -m1 error "$tmp/log")"; return 1; }
}

# The raw wait status of a command, which a shell cannot tell from an exit status.
raw_status()
{
    "$python" -c '
import os, signal, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
signal.alarm(30)
print(os.waitpid(child, 0)[1])' "$@" 2>> "$tmp/log" < /dev/null
}

# said FOLDER PROGRAM: how the records of PROGRAM say that it ended, sorted, with a comma between; their sum of
# allocations each after a colon if COUNTS is set.
said()
{
    "$python" - "$1" "$2" "${COUNTS-}" << 'END'
import json, os, sys
folder, program, counts = sys.argv[1:]
ends = []
for name in os.listdir(folder):
    if name.startswith(program + ".") and name.endswith(".json"):
        with open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape") as file:
            dump = json.load(file)
        ends.append((sum(row["allocs"] for row in dump["policies"]), dump["exit"]))
print(",".join(sorted(end + (":%d" % allocs if counts else "") for allocs, end in ends)))
END
}

matches()
{
    # shellcheck disable=SC2053
    [[ $1 == $2 ]]
}

# ending NAME SAID [ENV=VAL...]: runs programs/NAME.c; SAID is what its records must say, a shell pattern.
ending()
{
    local name=$1 wanted=$2 bare under why
    shift 2
    rm -rf "$tmp/dumps" && mkdir "$tmp/dumps"
    : > "$tmp/log"
    build "$name" || return
    bare=$(raw_status "$tmp/$name")
    under=$(raw_status env "${settings[@]}" POOL_POLICY=balanced "POOL_STATS=$tmp/dumps/%n.%p.json" "$@" \
        "LD_PRELOAD=$lib" "$tmp/$name")
    name="$name${1:+ ${1%%=*}}"
    if [ -z "$under" ] || [ "$bare" != "$under" ]; then
        fail "$name" "wait status $under, without the library $bare: $(tail -n 1 "$tmp/log")"
    elif ! why=$(dumps_are_good "$tmp/dumps" 2>&1); then
        fail "$name" "$why"
    elif ! why=$(said "$tmp/dumps" "${name%% *}" 2>&1) || ! matches "$why" "$wanted"; then
        fail "$name" "its records say '$why', wanted '$wanted'"
    elif [ -n "$(find "$tmp/dumps" -type f ! -name '*.json')" ]; then
        fail "$name" "leaves $(find "$tmp/dumps" -type f ! -name '*.json' -printf '%f ') behind"
    else
        ok "$name"
    fi
}

ending end_return "exit"
ending end_exit "exit"
ending end_quick "quick_exit"
ending end_now "_exit"
ending end_abort "signal SIGABRT"
ending end_term "signal SIGTERM"
ending end_once "signal SIGTERM"
ending end_fault "signal SIGSEGV"
ending end_exec "exec"
ending end_exec_fails "exit"
ending end_vfork "exit"
ending end_hidden "exit"
ending end_snapshot "exit" POOL_SIGNAL=USR1
ending end_sandbox "snapshot"
ending end_kill ""

# a child's record is its own: 100 blocks and no more than the work of fork and exit, the parent's 20,100
COUNTS=1 ending end_fork 'exit:1[0-9][0-9],exit:20[1-9][0-9][0-9]'

# what nothing in the process can tell, the live page keeps
mkdir "$tmp/live"
ending end_kill "" POOL_LIVE="$tmp/live"
page=$(find "$tmp/live" -name '*.pool' | head -n 1)
if [ -n "$page" ] && [ "$(head -c 8 "$page")" = poolmark ]; then
    ok "end_kill leaves its live page"
else
    fail "end_kill leaves its live page" "$(ls -A "$tmp/live")"
fi
finish
