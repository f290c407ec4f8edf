# Verbs that run no program. Sourced by command.sh.

# help
runs "no arguments" 0 "$poolmark"
has "no arguments lists verbs" out "^  explain "
runs "-h" 0 "$poolmark" -h
lacks "-h is short" out "^Examples"
runs "--help" 0 "$poolmark" --help
has "--help has examples" out "^Examples"
has "--help has exit statuses" out "125"
runs "--version" 0 "$poolmark" --version
has "--version" out "^poolmark [0-9]"
for verb in run policies options explain help; do
    runs "$verb -h" 0 "$poolmark" $verb -h
    has "$verb -h has usage" out "poolmark $verb \[OPTION"
    runs "$verb --help" 0 "$poolmark" $verb --help
    equals "$verb --help has examples first" "$(sed -n 3p out)" Examples
    cp out help
    runs "help $verb" 0 "$poolmark" help $verb
    if cmp -s out help; then ok "help $verb is $verb --help"; else bad "help $verb is $verb --help" "they differ"; fi
    lacks "$verb: every option has help" out '^ +(-[a-z], )?--[a-z]+(=[A-Z]+)?$'
    refuses "$verb: unknown option" "--nonsense" $verb --nonsense
    refuses "$verb: near option" "did you mean .--json" $verb --jsn
    refuses "$verb: unknown letter" "-Z" $verb -Z
    refuses "$verb: bad colour" "pink" $verb --color pink
    refuses "$verb: value for a flag" "--json" $verb --json=3
    refuses "$verb: value missing" "--color" $verb --color
    refuses "near name of $verb" "did you mean .$verb" "x$verb"
done
refuses "unknown verb" "xyzzy" xyzzy
refuses "empty verb" "unknown command" ""
refuses "a program as verb" "poolmark run true" true
refuses "unknown first option" "--frobnicate" --frobnicate
refuses "control characters" "a[?]b" $'a\nb'
refuses "help of nothing" "did you mean .run" help rnu
refuses "help of two" "policies" help run policies
printf '%70000s' x | tr ' ' x >long
refuses "a very long verb" "xxx" "$(cat long)"

# policies
runs "policies" 0 "$poolmark" policies
for policy in native thread array onecache balanced; do
    has "policies lists $policy" out "^$policy "
done
runs "policies --json" 0 "$poolmark" policies --json
equals "policies --json" "$(jq -r .schema out)" poolmark.policies/1
equals "policies --json has presets" "$(jq -r '.presets[0].name' out)" balanced
runs "policies --markdown" 0 "$poolmark" policies --markdown
has "policies --markdown" out '^\|---\|'
refuses "policies with an argument" "thing" policies thing

# options
runs "options" 0 "$poolmark" options
equals "options lists all" "$(grep -c ^POOL_ out)" "$("$poolmark" options --json | jq '.options | length')"
equals "options says nothing" "$(wc -c <err)" 0
runs "options that are set" 0 env POOL_TRIM=2s POOL_POLICY=native "$poolmark" options
has "options shows what is set" out "^POOL_TRIM +2s +10s"
runs "bad time" 1 env POOL_TRIM=2 "$poolmark" options
one_line "bad time: one line"
has "bad time is named" err 'POOL_TRIM.*`2`'
runs "bad route" 1 env POOL_POLICY=thread:-1 "$poolmark" options
one_line "bad route: one line"
has "bad route is named" err 'POOL_POLICY.*-1'
runs "near name" 1 env POOL_TRIN=2s "$poolmark" options
has "near name is suggested" err 'POOL_TRIN.*POOL_TRIM'
runs "options --json" 1 env POOL_TRIM=2 POOL_SIGNAL=USR1 "$poolmark" options --json
equals "options --json complains" "$(jq '.complaints | length' out)" 1
equals "options --json has sources" "$(jq -r '.options[] | select(.source == "env") | .name' out)" POOL_SIGNAL
POOL_TRIM=2 runs "options --markdown knows no environment" 0 "$poolmark" options --markdown
has "options --markdown escapes bars" out 'mimalloc\\\|libc'
refuses "options with an argument" "POOL_TRIM" options POOL_TRIM

# explain
runs "explain" 0 "$poolmark" explain thread:32K,array:1M,native
has "explain: canonical route" out "^route  thread:32K,array:1M,native"
has "explain: first range" out "0 B +32 KiB +[0-9]+  thread"
has "explain: last range" out "1 MiB +128 TiB +[0-9]+  native"
runs "explain a preset" 0 "$poolmark" explain balanced
has "explain a preset: canonical" out "^route  thread:32K,array:1M,native"
runs "explain --all" 0 "$poolmark" explain native --all
equals "explain --all: one row per class" "$(grep -c ' native$' out)" 209
runs "explain --json" 0 "$poolmark" explain --json thread:1K,native
equals "explain --json: policies" "$(jq -r '[.classes[].policy] | unique | join(" ")' out)" "native thread"
equals "explain --json: limit" "$(jq -r '[.classes[] | select(.policy == "thread") | .size] | max' out)" 1024
refuses "explain nothing" "ROUTE" explain
refuses "explain two" "array" explain thread array
refuses "explain a near name" "did you mean .thread" explain thred
refuses "explain a bad size" "-1" explain thread:-1
refuses "explain an empty route" "." explain ""
refuses "explain falling sizes" "1K" explain thread:32K,array:1K,native
refuses "explain a very long route" "." explain "$(cat long)"

# output
"$poolmark" policies >/dev/full 2>err
equals "full device: status" $? 125
one_line "full device: one line"
runs "no colour into a file" 0 "$poolmark" policies
lacks "no colour into a file" out $'\033'
runs "--color always" 0 "$poolmark" policies --color always
has "--color always" out $'\033'
NO_COLOR=1 runs "--color always beats NO_COLOR" 0 "$poolmark" policies --color=always
has "--color always beats NO_COLOR" out $'\033'
on_terminal() { script -qec "$1" /dev/null </dev/null >out 2>&1; }
on_terminal "env TERM=xterm $poolmark policies"
has "colour on a terminal" out $'\033'
on_terminal "env TERM=xterm NO_COLOR=1 $poolmark policies"
lacks "NO_COLOR on a terminal" out $'\033'
on_terminal "env TERM=xterm $poolmark policies --color never"
lacks "--color never on a terminal" out $'\033'
