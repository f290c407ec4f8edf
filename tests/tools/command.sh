#!/bin/bash
# Tests the command `poolmark`. Usage: command.sh BUILD (the folder, or the libpoolmark.so in it). Prints "ok NAME" or
# "FAIL NAME: why", last "N passed, N failed"; exits 1 on a failure.
here=$(realpath "$(dirname "$0")")
build=$(realpath "${1:-build}")
[ -d "$build" ] || build=${build%/*}
poolmark=$build/poolmark
passed=0 failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
unset LD_PRELOAD POOLMARK_LIBRARY TMPDIR XDG_RUNTIME_DIR ${!POOL_*}
unset NO_COLOR
export LC_ALL=C.UTF-8

ok() { echo "ok $1"; passed=$((passed + 1)); }
bad() { echo "FAIL $1: $2"; failed=$((failed + 1)); }
# runs NAME STATUS WORDS...: leaves stdout in out, stderr in err
runs() {
    name=$1 want=$2
    shift 2
    "$@" >out 2>err </dev/null
    status=$?
    if [ $status = "$want" ]; then ok "$name"; else bad "$name" "status $status instead of $want: $(head -1 err)"; fi
}
has() { if grep -qE -- "$3" "$2"; then ok "$1"; else bad "$1" "no \`$3\` in $2: $(head -2 "$2")"; fi; }
lacks() { if grep -qE -- "$3" "$2"; then bad "$1" "\`$3\` in $2"; else ok "$1"; fi; }
one_line() { if [ "$(wc -l <err)" = 1 ]; then ok "$1"; else bad "$1" "$(wc -l <err) lines instead of 1 on stderr"; fi; }
equals() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "\`$2\` instead of \`$3\`"; fi; }
# refuses NAME WORD WORDS...: status 125, one line that has WORD, nothing on stdout
refuses() {
    name=$1 word=$2
    shift 2
    runs "$name: status" 125 "$poolmark" "$@"
    one_line "$name: one line"
    has "$name: names the word" err "$word"
    equals "$name: stdout" "$(wc -c <out)" 0
}

source "$here"/command_cases.sh
source "$here"/run_cases.sh

echo "$passed passed, $failed failed"
[ $failed = 0 ]
