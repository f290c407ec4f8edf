#!/bin/sh
# redis-load.sh REQUESTS: becomes a redis-server that redis-benchmark, without the preload, puts under load and stops.
# The client is nobody's child, so that the CPU time is the server's alone. Prints how many values the server then has.
folder=$(mktemp -d) || exit 2
client() {
    unset LD_PRELOAD
    cli="redis-cli -s $folder/socket"
    until $cli ping > /dev/null 2>&1; do
        sleep 0.01
        [ -d "$folder" ] || return
    done
    for test in 'set -d 100 -r 20000' 'set -d 1500 -r 2000' 'lpush -d 40' 'hset -r 5000' 'sadd -r 20000' 'lrange_100'; do
        # shellcheck disable=SC2086
        redis-benchmark -s "$folder/socket" -q -P 16 -n "$1" -t $test > /dev/null 2>&1
    done
    $cli llen mylist
    $cli shutdown nosave
    rm -rf "$folder"
}
(client "$1" 2> /dev/null &)
exec redis-server --port 0 --unixsocket "$folder/socket" --save '' --logfile /dev/null --dir "$folder"
