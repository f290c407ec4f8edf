#!/bin/bash
# apps.sh LIB.so [ENV=VAL...]
# Real programs do the same work with and without LIB.so: same output, same exit status, and a consistent JSON dump from
# each process that ended by itself. Only unix sockets and the loopback are used; every program is bounded in time.
# APPS='pattern...' picks some; LIB.so may be `none` to try the script itself.
. "$(dirname "$0")/verdicts.sh"
verdicts_start "$@"
read -ra picks <<< "${APPS-}"
work=$tmp/work limit=${APP_TIMEOUT:-60}

# app NAME "PROGRAM:PACKAGE..." "PATTERN..." FUNCTION: runs the function without and with the library, each time in a
# fresh folder of the same name. It puts "${under[@]}" in front of each program; PATTERNs are the dumps that must be there.
app()
{
    local name=$1 status_plain status_under why pick='' need patterns
    for need in "${picks[@]}"; do
        # shellcheck disable=SC2053
        [[ $name == $need ]] && pick=1
    done
    [ ${#picks[@]} -eq 0 ] || [ -n "$pick" ] || return 0
    for need in $2; do
        if ! command -v "${need%%:*}" > /dev/null; then
            fail "$name" "${need%%:*} is missing (package ${need##*:}; scripts/setup installs it)"
            return
        fi
    done
    read -ra patterns <<< "$3"
    mkdir "$tmp/$name" "$tmp/$name/dumps"
    under_nothing
    attempt "$4" "$tmp/$name/plain"
    status_plain=$?
    under_library "$tmp/$name/dumps"
    attempt "$4" "$tmp/$name/under"
    status_under=$?
    if [ $status_plain -ne 0 ]; then
        fail "$name" "fails without the library too: $(tail -n 2 "$tmp/$name/plain.err")"
    elif [ $status_under -ne 0 ]; then
        fail "$name" "exit status $status_under: $(tail -n 2 "$tmp/$name/under.err")"
    elif ! cmp -s "$tmp/$name/plain" "$tmp/$name/under"; then
        fail "$name" "output differs: $(diff "$tmp/$name/plain" "$tmp/$name/under" | head -n 4)"
    elif ! why=$(dumps_are_good "$tmp/$name/dumps" "${patterns[@]}"); then
        fail "$name" "$why"
    else
        ok "$name"
    fi
    [ -n "${APPS_KEEP-}" ] || rm -rf "${tmp:?}/$name"
}

attempt()
{
    rm -rf "$work"
    mkdir "$work"
    (cd "$work" && set -e && "$1") > "$2" 2> "$2.err" < /dev/null
}

bounded()
{
    timeout -k 5 "$limit" "${under[@]}" "$@"
}

# until_true COMMAND...: waits for it to succeed, 10 s at most
until_true()
{
    local n
    for ((n = 0; n < 200; n++)); do
        "$@" > /dev/null 2>&1 && return 0
        sleep 0.05
    done
    echo "never came true: $*" >&2
    return 1
}

# server_stop PID: SIGTERM, and the exit status that the server gives itself
server_stop()
{
    kill -TERM "$1"
    (sleep 15 && kill -KILL "$1") 2> /dev/null &
    local watchdog=$! status=0
    wait "$1" || status=$?
    kill $watchdog 2> /dev/null || true
    echo "server exit status $status"
}

python_json()
{
    PYTHONMALLOC=malloc bounded "$python" "$here/../bench/json-round-trip.py" 20
}

# The interpreter's own tests. Those that fail are run again without the library: what fails there too is not ours.
python_tests()
{
    [ "${#under[@]}" -gt 1 ] || return 0
    local tests=(test_list test_dict test_bytes test_io test_threading test_json test_re test_zlib test_subprocess)
    "$python" -c 'import test.test_list' 2> /dev/null || { echo "package libpython3.11-testsuite is missing" >&2; return 1; }
    PYTHONMALLOC=malloc limit=120 bounded "$python" -m test -j2 "${tests[@]}" > log 2>&1 && return 0
    local failing
    failing=$(sed -n 's/.*\] \(test_[a-z]*\) \(failed\|crashed\|timed out\).*/\1/p' log | sort -u)
    grep -E '^(FAIL|ERROR|Fatal|poolmark):? ' log | head -n 3 >&2 || true
    [ -n "$failing" ] || { tail -n 3 log >&2; return 1; }
    # shellcheck disable=SC2086
    if PYTHONMALLOC=malloc timeout -k 5 100 "$python" -m test -j2 $failing > plain.log 2>&1; then
        echo "only with the library:" $failing >&2
        return 1
    fi
    diff <(sed -n 's/^\(FAIL\|ERROR\): //p' plain.log | sort -u) <(sed -n 's/^\(FAIL\|ERROR\): //p' log | sort -u) |
        sed -n 's/^>/only with the library:/p' > ours
    head -n 2 ours >&2
    [ ! -s ours ]
}

compile_c()
{
    local n
    for ((n = 0; n < 400; n++)); do
        echo "struct s$n { int a[$n + 1]; double d; }; static int f$n(struct s$n *s, int x) {" \
            "switch (x) { case 1: return s->a[0]; case $n + 2: return (int)s->d * $n; } return s->a[x % ($n + 1)]; }" \
            "int g$n(struct s$n *s, int x) { int t = 0; for (int i = 0; i < x; i++) t += f$n(s, i); return t; }"
    done > many.c
    bounded gcc -O2 -g -c many.c -o many.o
    bounded gcc -O0 -Wall -DX=1 -S many.c -o many.s
    sha256sum many.o many.s
    ! bounded gcc -c no-such-file.c
}

compile_cxx()
{
    cp "$here/../bench/template-heavy.cc" .
    bounded g++ -O1 -g -c template-heavy.cc -o t.o
    sha256sum t.o
    bounded g++ t.o -o t
    bounded ./t
}

sqlite_bulk()
{
    bash "$here/../bench/sqlite-rows.sh" 60000 > rows.sql
    bounded sqlite3 rows.db < rows.sql
    bounded sqlite3 rows.db 'PRAGMA integrity_check; SELECT count(*), sum(length(name)) FROM t; VACUUM;'
    sha256sum rows.db
}

redis_load()
{
    "${under[@]}" redis-server --port 0 --unixsocket "$PWD/s" --save '' --appendonly no --daemonize no --dir "$PWD" \
        > server.log 2>&1 &
    local server=$! n
    until_true redis-cli -s s ping
    limit=60 bounded redis-benchmark -s s -n 15000 -c 20 -P 4 -d 100 -r 1000 -q \
        -t set,get,incr,lpush,lpop,sadd,hset,zadd,lrange_100,mset > bench.log
    echo "$(tr '\r' '\n' < bench.log | grep -c 'requests per second, p50')" "benchmarks ran"
    for ((n = 0; n < 3000; n++)); do
        echo "SET own:$n $(printf "%0$((n % 300 + 1))d" $n)"
        echo "RPUSH list $n"
        [ $((n % 3)) -ne 0 ] || echo "DEL own:$((n / 2))"
    done | bounded redis-cli -s s > replies
    sha256sum replies
    bounded redis-cli -s s LRANGE list 0 -1 | sha256sum
    bounded redis-cli -s s FLUSHALL
    server_stop $server
}

git_repack()
{
    export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' HOME=$PWD
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
    local n
    bounded git init -q -b main repo
    cd repo
    for ((n = 1; n <= 25; n++)); do
        seq $((n * 37)) $((n * 37 + 4000)) > file$((n % 7))
        seq -f "line %g of $n" 3000 > other$n
        bounded git add -A
        bounded git commit -q -m "commit $n"
    done
    bounded git repack -a -d -f -q --window=20 --threads=2
    bounded git gc -q --prune=now
    bounded git fsck --full 2>&1
    bounded git rev-list --objects --all | sort | sha256sum
    bounded git log -p --stat | sha256sum
}

perl_work()
{
    # shellcheck disable=SC2016
    bounded perl -e 'my %h; for my $i (1 .. 120000) { my $k = "key" . ($i * 7919 % 50021); push @{$h{$k}}, "v$i"; }
        my $s = ""; for my $k (sort keys %h) { my $v = join ",", reverse @{$h{$k}}; $v =~ s/v(\d+)/<$1>/g;
        $s .= substr($v, 0, 30); } printf "%d %d %s\n", scalar(keys %h), length $s, unpack("%32C*", $s);
        die "as it should\n" if fork() == 0; wait; print "child ", $? >> 8, "\n"; exit 3' || echo "status $?"
}

node_work()
{
    cat > work.js <<'JS'
const { Worker, isMainThread, parentPort } = require('worker_threads');
const zlib = require('zlib'), crypto = require('crypto');
function work(seed) {
    const rows = [];
    for (let i = 0; i < 20000; i++) rows.push({ id: i, name: 'n' + (i * seed % 9973), list: [i, String(i)], b: Buffer.alloc(i % 97, i) });
    const text = JSON.stringify(rows), packed = zlib.deflateSync(text);
    return crypto.createHash('sha256').update(zlib.inflateSync(packed)).digest('hex') + ' ' + JSON.parse(text).length;
}
if (!isMainThread) parentPort.postMessage(work(31));
else {
    console.log(work(17));
    let left = 3;
    for (let i = 0; i < 3; i++) new Worker(__filename).on('message', m => console.log(m)).on('exit', c => { if (!--left) process.exit(4 + c); });
}
JS
    bounded node work.js || echo "status $?"
}

xz_threads()
{
    seq -f 'row %g of the input' 600000 > in
    bounded xz -T2 --block-size=2MiB -6 -k in
    sha256sum in.xz
    bounded xz -T2 -d -c in.xz | cmp - in
    ! bounded xz -t in
}

memcached_load()
{
    "${under[@]}" memcached -u root -s "$PWD/s" -t 4 -m 32 > server.log 2>&1 &
    local server=$!
    until_true test -S s
    timeout 60 "$python" "$here/memcached-client.py" s
    server_stop $server
}

nginx_load()
{
    local port server user
    port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    user=$([ "$(id -u)" -ne 0 ] || echo "user root;")
    mkdir html logs
    seq 8000 > html/numbers.txt
    cat > nginx.conf <<CONF
$user daemon off; worker_processes 2; pid nginx.pid; error_log logs/error.log;
events { worker_connections 128; }
http { access_log logs/access.log; gzip on; gzip_min_length 100; gzip_types text/plain; default_type text/plain;
    client_body_temp_path logs/a; proxy_temp_path logs/b; fastcgi_temp_path logs/c; uwsgi_temp_path logs/d; scgi_temp_path logs/e;
    server { listen 127.0.0.1:$port; root html; } }
CONF
    "${under[@]}" nginx -p "$PWD" -e logs/error.log -c nginx.conf > server.log 2>&1 &
    server=$!
    until_true curl -sf "http://127.0.0.1:$port/numbers.txt"
    bounded ab -q -n 4000 -c 8 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/numbers.txt" > ab.log 2>&1
    grep -E '^(Complete requests|Failed requests|Document Length|Non-2xx)' ab.log
    curl -s --compressed "http://127.0.0.1:$port/numbers.txt" | sha256sum
    curl -s "http://127.0.0.1:$port/none" | grep -c '404 Not Found'
    server_stop $server
    wc -l < logs/access.log > /dev/null
}

app python-json "$python:python3" 'python3*' python_json
app gcc gcc:gcc '*gcc* cc1 *as' compile_c
app g++ g++:g++ '*g++* cc1plus *as *collect2 *ld* t' compile_cxx
app sqlite3 sqlite3:sqlite3 sqlite3 sqlite_bulk
app redis 'redis-server:redis-server redis-benchmark:redis-tools' 'redis-server redis-benchmark redis-cli' redis_load
app git git:git 'git*' git_repack
app perl perl:perl 'perl*' perl_work
app node node:nodejs 'node*' node_work
app xz xz:xz-utils xz xz_threads
app memcached memcached:memcached memcached memcached_load
app nginx 'nginx:nginx-light ab:apache2-utils curl:curl' 'nginx ab' nginx_load
app python-tests "$python:python3" 'python3*' python_tests
finish
