# poolmark run. Sourced by command.sh.

folders() { compgen -G '/dev/shm/poolmark-run-*' | sort; }
folders_before=$(folders)

# statuses and streams
runs "run true" 0 "$poolmark" run true
has "summary: ending" err "^poolmark: true exited with 0"
for word in allocated resident pooled allocations next:; do
    has "summary: $word" err "^ +$word"
done
equals "summary: stdout is the program's" "$(wc -c <out)" 0
if [ "$(wc -l <err)" -le 12 ]; then ok "summary: short"; else bad "summary: short" "$(wc -l <err) lines"; fi
runs "status of the program" 7 "$poolmark" run -q sh -c 'exit 7'
equals "-q says nothing" "$(wc -c <err)" 0
runs "signal" 137 "$poolmark" run sh -c 'kill -KILL $$'
has "signal is named" err "ended by SIGKILL"
has "signal: numbers are there" err "^ +allocations +[1-9]"
refuses "run nothing" "PROGRAM" run
runs "not found" 127 "$poolmark" run no-such-program
one_line "not found: one line"
runs "not found by path" 127 "$poolmark" run ./no-such-program
one_line "not found by path: one line"
runs "not executable" 126 "$poolmark" run /etc/passwd
one_line "not executable: one line"
runs "a folder" 126 "$poolmark" run /
runs "options after the program are its own" 0 "$poolmark" run -q echo --json -p x -- -q
equals "options after the program are its own" "$(cat out)" "--json -p x -- -q"
runs "-- before the program" 0 "$poolmark" run -q -- echo -n x
equals "-- before the program" "$(cat out)" x
equals "stdin is the program's" "$(echo hello | "$poolmark" run -q cat)" hello
equals "a pipe that closes" "$("$poolmark" run -q yes 2>/dev/null | head -1)" y
runs "the script's interpreter is missing" 127 "$poolmark" run -q sh -c 'printf "#!/no/such\n" >s; chmod +x s; exec '"$poolmark"' run ./s'
has "the script's interpreter is missing: named" err "interpreter"

# options
refuses "bad route" "did you mean .thread" run -p thred true
refuses "bad native" "did you mean .libc" run --native lib true
refuses "bad stats" "stdout" run --stats stdout true
refuses "route missing" "-p" run -p
refuses "output folder missing" "/no/such" run -o /no/such/file true
POOLMARK_LIBRARY=/no/such runs "library missing" 125 "$poolmark" run true
one_line "library missing: one line"
POOL_LIVE=/no/such runs "POOL_LIVE missing" 125 "$poolmark" run true
one_line "POOL_LIVE missing: one line"
runs "-p" 0 "$poolmark" run -q -p native:1K,thread printenv POOL_POLICY
equals "-p sets POOL_POLICY" "$(cat out)" native:1K,thread
POOL_POLICY=native runs "no -p" 0 "$poolmark" run sh -c 'echo $POOL_POLICY'
equals "no -p keeps POOL_POLICY" "$(cat out)" native
has "no -p: route in the summary" err "route native"
runs "no -p sets nothing" 1 "$poolmark" run -q printenv POOL_POLICY
runs "--native" 0 "$poolmark" run -q --native libc printenv POOL_NATIVE
equals "--native sets POOL_NATIVE" "$(cat out)" libc
runs "--stats" 0 "$poolmark" run -q --stats "$dir/stats.%n.json" ls /
equals "--stats writes" "$(jq -r .schema stats.ls.json)" poolmark.stats/1
POOL_STATS=mine.json runs "POOL_STATS of the user" 0 "$poolmark" run -q ls /
equals "POOL_STATS of the user" "$(jq -r .program mine.json)" ls
runs "--json" 0 "$poolmark" run --json -o run.json sh -c 'ls / >/dev/null; sh -c "exit 3"; echo out'
equals "--json: schema" "$(jq -r .schema run.json)" poolmark.run/1
equals "--json: processes" "$(jq -r '[.processes[].program] | unique | join(" ")' run.json)" "ls sh"
equals "--json: consistent" "$(jq -r '[.processes[].consistent] | all' run.json)" true
equals "--json: preloaded" "$(jq -r .preloaded run.json)" true
equals "--json: the program's stdout" "$(cat out)" out
runs "--json on stderr" 3 "$poolmark" run --json sh -c 'exit 3'
equals "--json on stderr" "$(jq .exit_status err)" 3
runs "-o" 0 "$poolmark" run -o summary true
has "-o has the summary" summary "^  next:"
echo long old content that is much longer than the summary >summary
"$poolmark" run -o - true >out 2>err
has "-o -" out "^  next:"

# the tree
runs "tree" 0 "$poolmark" run sh -c '/bin/ls / >/dev/null; sh -c "/bin/cat </dev/null; exit 3"; exit 0'
has "tree: root" err "^  sh .* _?exit 0$"
has "tree: child" err "^    ls .* exit 0$"
has "tree: child's status" err "^    sh .* _?exit 3$"
has "tree: grandchild" err "^      cat .* exit 0$"
runs "exec" 0 "$poolmark" run sh -c 'exec env /bin/true'
has "exec: images of one pid" err "^  sh .* exec$"
has "exec: the last image" err "^  true .* exit 0$"
has "exec: head" err "largest of 3 processes"

# LD_PRELOAD
LD_PRELOAD=libm.so.6 runs "prepends" 0 "$poolmark" run -q printenv LD_PRELOAD
equals "prepends to LD_PRELOAD" "$(cat out)" "$build/libpoolmark.so:libm.so.6"
mkdir 'a b:c'
cp "$build/libpoolmark.so" 'a b:c/'
POOLMARK_LIBRARY='a b:c/libpoolmark.so' runs "a path with a space and a colon" 0 "$poolmark" run true
has "a path with a space and a colon: works" err "^ +allocations"
mkdir -p tree/bin tree/lib
cp "$poolmark" tree/bin
cp "$build/libpoolmark.so" tree/lib
runs "an installed tree" 0 tree/bin/poolmark run -q printenv LD_PRELOAD
equals "an installed tree" "$(cat out)" "$dir/tree/lib/libpoolmark.so"

# programs that cannot be preloaded: their own status, one line
echo 'int main(void) { return 5; }' >five.c
objects() {
    runs "$1: status" 5 "$poolmark" run "${@:3}"
    one_line "$1: one line"
    has "$1: reason" err "$2"
}
if gcc -static -o static five.c 2>/dev/null; then
    objects "static" "static program" ./static
    printf '#!%s/static\n' "$dir" >script
    chmod +x script
    objects "script of a static interpreter" "interpreter.*static program" ./script
    echo 'void _start(void) { __asm__("syscall" : : "a"(60), "D"(5)); }' >loader.c
    gcc -static -nostdlib -o ld-musl-x86_64.so.1 loader.c
    gcc -o musl five.c -Wl,--dynamic-linker="$dir/ld-musl-x86_64.so.1" && objects "musl" "musl" ./musl
    cp ld-musl-x86_64.so.1 loader.so
    gcc -o other five.c -Wl,--dynamic-linker="$dir/loader.so" && objects "another loader" "not that of glibc" ./other
    runs "exec of a static program" 5 "$poolmark" run -q env ./static
    has "exec of a static program: said" err "env went on by exec"
    runs "static, --json" 5 "$poolmark" run --json -o static.json ./static
    equals "static, --json" "$(jq -r '.preloaded, (.objection | test("static"))' static.json | tr '\n' ' ')" "false true "
fi
if [ "$(id -u)" = 0 ]; then
    gcc -o setuid five.c && chown nobody setuid && chmod u+s setuid && objects "setuid" "setuid" ./setuid
fi

# page files of the user's own folder, and foreign files in it
mkdir pages
POOL_LIVE=pages runs "POOL_LIVE of the user" 0 "$poolmark" run true
has "POOL_LIVE of the user: summary" err "^ +allocations"
head -c 3000 /dev/urandom >pages/1-2-3.pool
: >pages/1-2-4.pool
mkdir pages/1-2-5.pool
mkfifo pages/1-2-6.pool
ln -s /etc/passwd pages/1-2-7.pool
echo x >pages/notes
POOL_LIVE=pages runs "foreign files" 0 "$poolmark" run true
equals "foreign files: a line each" "$(grep -c 'pool is skipped' err)" 5
has "foreign files: summary" err "^ +allocations"
lacks "only this run's processes" err "largest of"

# signals
cat >traps.sh <<'EOF'
trap 'exit 9' TERM
trap 'exit 8' HUP
trap 'exit 7' INT
: >ready
while :; do sleep 0.05; done
EOF
# signalled NAME SIGNAL STATUS: sends it to poolmark alone
signalled() {
    rm -f ready
    "$poolmark" run -q sh traps.sh 2>err &
    until [ -e ready ]; do sleep 0.02; done
    kill -"$2" $!
    wait $!
    equals "$1" $? "$3"
}
signalled "SIGTERM is passed on" TERM 9
signalled "SIGHUP is passed on" HUP 8
(trap '' HUP; exec "$poolmark" run -q sh -c 'kill -HUP $$; exit 4')
equals "an ignored SIGHUP stays ignored" $? 4
cat >interrupt.py <<'EOF'
import os, pty, sys, time
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
while not os.path.exists("ready"):
    time.sleep(0.02)
os.write(fd, b"\x03")
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOF
rm -f ready
/usr/bin/python3 interrupt.py "$poolmark" run sh traps.sh
equals "Ctrl-C goes to the program" $? 7
rm -f ready
/usr/bin/python3 interrupt.py "$poolmark" run sh -c ': >ready; exec sleep 5'
equals "Ctrl-C ends the program" $? 130

equals "no folder is left" "$(folders)" "$folders_before"
