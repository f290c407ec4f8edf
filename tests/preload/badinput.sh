#!/bin/bash
# badinput.sh LIB.so
# Mistaken, hostile and impossible settings: the program keeps its output and exit status, one line is said where one is
# due, and nothing else is touched. Parts need root (other users, mount namespaces) and say "skipped" without.
# BADINPUT='pattern...' picks by name.
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$1"
[ "$lib" = none ] || { cp "$lib" "$tmp/libpoolmark.so" && lib=$tmp/libpoolmark.so; } # the tree may be closed to nobody
unset XDG_RUNTIME_DIR
read -ra picks <<< "${BADINPUT-}"
speaks=(sh -c 'echo said; echo complained >&2; exit 11')
quiet=(sh -c 'echo said; exit 11')
wrap=()           # runs before the library comes in: sets limits, closes descriptors, changes the user
may_appear='^$'   # names in `place` that the run may make or change
limited() # LIMIT...: a wrap that sets shell limits
{
    wrap=(bash -c 'ulimit $1 $2 && shift 2 && exec "$@"' - "$@")
}

fresh()
{
    chmod -R u+w "$tmp/place" 2> /dev/null
    rm -rf "$tmp/place"
    mkdir "$tmp/place"
    chmod 777 "$tmp/place"
    wrap=()
    may_appear='^$'
}

# All in `place` (names, types, targets, sizes, contents), without what may appear.
snapshot()
{
    (cd "$tmp/place" && find . ! -name . -printf '%P %y %l %s %m\n' | grep -a -E -v "$may_appear" | sort
        find . -type f -printf '%P\n' | grep -a -E -v "$may_appear" | sort | xargs -r cksum)
}

# Runs a command in `place`; its output goes through pipes to FILE and FILE.err, so that no limit of its own hides it.
capture()
{
    (cd "$tmp/place" && exec "$python" -c '
import subprocess, sys
try:
    run = subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
except subprocess.TimeoutExpired:
    sys.exit(124)
open(sys.argv[1], "wb").write(run.stdout)
open(sys.argv[1] + ".err", "wb").write(run.stderr)
sys.exit(run.returncode if run.returncode >= 0 else 128 - run.returncode)' "$@")
}

# unharmed NAME LINES PATTERN ENV=VAL... [-- COMMAND...]: LINES is a number or LOW-HIGH, PATTERN (extended regular
# expression) is in what is said.
unharmed()
{
    local name=$1 lines=$2 pattern=$3 given=() pick status wanted said before
    shift 3
    for pick in "${picks[@]}"; do
        # shellcheck disable=SC2053
        [[ $name == $pick ]] && break
        pick=
    done
    [ ${#picks[@]} -eq 0 ] || [ -n "$pick" ] || return 0
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        given+=("$1")
        shift
    done
    shift
    [ $# -gt 0 ] || set -- "${speaks[@]}"
    capture "$tmp/plain" "${wrap[@]}" env "$@"
    wanted=$?
    before=$(snapshot)
    capture "$tmp/under" "${wrap[@]}" env LD_PRELOAD="$lib" "${given[@]}" "$@"
    status=$?
    said=$(grep -a -c '^poolmark: ' "$tmp/under.err")
    if [ $status -ne $wanted ]; then
        fail "$name" "exit status $status, wanted $wanted: $(tail -n 1 "$tmp/under.err")"
    elif ! cmp -s "$tmp/plain" "$tmp/under"; then
        fail "$name" "output differs: $(diff -a "$tmp/plain" "$tmp/under" | head -n 3)"
    elif ! grep -a -v '^poolmark: ' "$tmp/under.err" | cmp -s "$tmp/plain.err" -; then
        fail "$name" "stderr differs: $(diff -a "$tmp/plain.err" "$tmp/under.err" | grep -v '^> poolmark: ' | head -n 3 | cut -c1-200)"
    elif [ "$said" -lt "${lines%-*}" ] || [ "$said" -gt "${lines#*-}" ]; then
        fail "$name" "says $said lines, wanted $lines: $(grep -a '^poolmark: ' "$tmp/under.err" | cut -c1-120)"
    elif [ "$said" -gt 0 ] && ! grep -a -E -q -- "^poolmark: .*($pattern)" "$tmp/under.err"; then
        fail "$name" "does not say '$pattern': $(head -n 1 "$tmp/under.err" | cut -c1-200)"
    elif [ "$(awk '{ if (length > n) n = length } END { print n + 0 }' "$tmp/under.err")" -gt 600 ]; then
        fail "$name" "says a line of more than 600 bytes"
    elif [ "$(snapshot)" != "$before" ]; then
        fail "$name" "changes the folder: $(diff <(echo "$before") <(snapshot) | grep '^[<>]')"
    else
        ok "$name"
    fi
}

# a_dump NAME FILE: a regular file with a whole dump in it
a_dump()
{
    [ ${#picks[@]} -eq 0 ] || return 0
    if [ -L "$tmp/place/$2" ] || ! "$python" -m json.tool "$tmp/place/$2" > /dev/null 2>&1; then
        fail "$1" "is no dump: $(ls -l "$tmp/place")"
    else
        ok "$1"
    fi
}

# settings
fresh
unharmed "no settings" 0 ''
unharmed "unknown policy" 1 no_such_policy POOL_POLICY=no_such_policy POOL_STATS=off
unharmed "misspelt policy" 1 'thred.*did you mean .thread' POOL_POLICY=thred POOL_STATS=off
for route in thread:-1 thread: thread:12Q thread:99999999999999999999G ,thread thread,,native :32K thread:0x10 'thread; rm'; do
    unharmed "route '$route'" 1 POOL_POLICY "POOL_POLICY=$route" POOL_STATS=off
done
unharmed "empty values" 0-4 POOL_ POOL_POLICY= POOL_NATIVE= POOL_STATS= POOL_LIVE= POOL_TRIM=
for bad in POOL_NATIVE=jemalloc POOL_TRIM=-5 POOL_TRIM=10parsecs POOL_SIGNAL=NOPE POOL_ARRAY_DEPTH=-1 \
    POOL_ARRAY_DEPTH=99999999999 POOL_THREAD_BYTES=many POOL_POOL_BYTES=-1K; do
    unharmed "$bad" 1 "${bad%%=*}" "$bad"
done
unharmed "misspelt variable" 1 'POOL_POLCY.*POOL_POLICY' POOL_POLCY=thread
unharmed "swapped letters" 1 'POOL_TIRM.*POOL_TRIM' POOL_TIRM=5s
unharmed "other people's variables" 0 '' POOL_PARTY_SIZE=5 POOLS=3 SWIMMING_POOL=1

# variables of nearly 128 KiB, the longest that exec passes on; together a megabyte
long=$(printf '%0130000d' 0)
variables=(POOL_POOL_BYTES POOL_NATIVE POOL_STATS POOL_LIVE POOL_TRIM POOL_SIGNAL POOL_ARRAY_DEPTH POOL_THREAD_BYTES)
for variable in POOL_POLICY "${variables[@]}"; do
    unharmed "130,000 bytes in $variable" 1 "$variable|too long" POOL_STATS=off "$variable=x$long"
done
unharmed "a megabyte in all" 8-9 POOL_ "${variables[@]/%/=x$long}"
unharmed "a long name" 0-1 POOL_ "POOL_POLICY$long=x"

# where the dump goes
unharmed "stats in a missing folder" 1 missing POOL_STATS=missing/folder/x.json
unharmed "stats under a device" 1 /dev/null/x POOL_STATS=/dev/null/x.json
unharmed "stats to a full device" 1 /dev/full POOL_STATS=/dev/full
unharmed "stats into proc" 1 /proc POOL_STATS=/proc/self/nothing.json
may_appear='^none'
unharmed "stats with strange percent signs" 0-1 none 'POOL_STATS=none/x%q%99999d%s%n%'
fresh
mkfifo "$tmp/place/fifo"
unharmed "stats to a fifo" 1 fifo POOL_STATS=fifo
echo victim > "$tmp/place/victim"
ln -s victim "$tmp/place/link.json"
ln -s nowhere/at/all "$tmp/place/dangling.json"
may_appear='^(link|dangling).json( |$)'
unharmed "stats to a symlink" 0 '' POOL_STATS=link.json
a_dump "symlink replaced" link.json
unharmed "stats to a dangling symlink" 0 '' POOL_STATS=dangling.json
a_dump "dangling symlink replaced" dangling.json
mkdir "$tmp/place/folder"
may_appear='^folder'
unharmed "stats to a folder" 0 '' POOL_STATS=folder
made=("$tmp/place/folder"/*)
a_dump "dump in the folder" "folder/$(basename "${made[0]}")"

# the live page
fresh
unharmed "live in a missing folder" 1 POOL_LIVE POOL_LIVE=/no/such/folder
unharmed "live in a file" 1 POOL_LIVE POOL_LIVE=/etc/passwd
unharmed "live in proc" 1 POOL_LIVE POOL_LIVE=/proc
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2> /dev/null; then
    ok "other users and mounts # skipped: needs root"
else
    # shellcheck disable=SC2016
    wrap=(unshare -m sh -c 'mount -t tmpfs -o ro none /dev/shm && exec "$@"' -)
    unharmed "read-only /dev/shm" 1 'POOL_LIVE|/dev/shm' POOL_LIVE=on
    # shellcheck disable=SC2016
    wrap=(unshare -m sh -c 'mount -t tmpfs none /dev/shm && ln -s "$PWD" /dev/shm/poolmark-0 && exec "$@"' -)
    unharmed "symlink in /dev/shm" 1 'POOL_LIVE|/dev/shm' POOL_LIVE=on
    # shellcheck disable=SC2016
    wrap=(unshare -m sh -c 'mount -t tmpfs none /dev/shm && mkdir -m 777 /dev/shm/poolmark-0 &&
        chown nobody /dev/shm/poolmark-0 && exec "$@"' -)
    unharmed "another user's folder in /dev/shm" 1 'POOL_LIVE|/dev/shm' POOL_LIVE=on -- \
        sh -c 'echo said /dev/shm/poolmark-0/*; exit 11'
    fresh
    mkdir -m 555 "$tmp/place/closed"
    wrap=(setpriv --reuid nobody --regid nogroup --clear-groups)
    unharmed "stats in an unwritable folder" 1 closed POOL_STATS=closed/x.json
    unharmed "live in an unwritable folder" 1 closed POOL_LIVE="$tmp/place/closed"
    fresh
    cp "$(command -v id)" "$tmp/place/id" && chown nobody "$tmp/place/id" && chmod 4755 "$tmp/place/id"
    unharmed "setuid program" 0 '' POOL_POLICY=thread POOL_STATS=stats.json "POOL_LIVE=$tmp/place" -- ./id
    unharmed "setuid child" 0 '' POOL_POLICY=thread POOL_STATS=off -- sh -c './id -un; ./id; exit 3'
fi

# descriptors and limits
fresh
# shellcheck disable=SC2016
wrap=(sh -c 'exec "$@" 0<&- 1>&- 2>&-' -)
files=(perl -e 'for my $n ("a", "b", "c") { open $h{$n}, "+>", $n; syswrite $h{$n}, fileno $h{$n}; } exit 6')
for stats in stderr off; do
    unharmed "closed 0-2, stats $stats" 0 '' POOL_POLICY=thread "POOL_STATS=$stats" -- "${files[@]}"
    unharmed "closed 0-2, unknown policy, stats $stats" 0 '' POOL_POLICY=thred "POOL_STATS=$stats" -- "${files[@]}"
done
fresh
wrap=("$python" -c 'import os, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
read, write = os.pipe()
if sys.argv[1] == "full":
    os.dup2(read, 9)
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
os.close(read)
os.dup2(write, 2)
os.close(write)
os.execvp(sys.argv[2], sys.argv[2:])')
plain_wrap=("${wrap[@]}")
for kind in closed full; do
    wrap=("${plain_wrap[@]}" "$kind")
    unharmed "stderr a $kind pipe, dump" 0 '' POOL_POLICY=thread POOL_STATS=stderr -- "${quiet[@]}"
    unharmed "stderr a $kind pipe, unknown policy" 0 '' POOL_POLICY=thred POOL_STATS=off -- "${quiet[@]}"
done
fresh
limited -f 0
unharmed "no file size" 1 x.json POOL_STATS=x.json
unharmed "no file size, live" 1 POOL_LIVE "POOL_LIVE=$tmp/place"
wrap=()
unharmed "no more files" 0-1 x.json POOL_STATS=x.json -- bash -c 'ulimit -n 0; echo said; exit 9'
limited -v 65536
may_appear='^x.json'
unharmed "little address space" 0 '' POOL_STATS=x.json -- sh -c 'echo said; exit 9'
limited -s 100
unharmed "little stack" 0 '' POOL_STATS=x.json -- sh -c 'echo said; exit 9'
finish
