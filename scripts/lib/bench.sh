# Steps of scripts/bench; to be sourced after the other files of this folder. Each measurement goes to the file $results
# too.

servers=()
server_processes=()
calls=

# Whether a row is to be measured.
wants() {
    [ -z "$only" ] || [[ ",$only," == *",$1,"* ]]
}

wants_any() {
    local row
    for row in "$@"; do
        ! wants "$row" || return 0
    done
    return 1
}

# Runs the measuring program and keeps what it prints.
measure() {
    local line
    line="$("$bench" "$@")" || fail "kopeck-bench $1 ended with $?"
    echo "$line" | tee -a "$results"
    calls="$(sed -nE 's/.*"calls":([0-9]+).*/\1/p' <<<"$line")"
}

# Measures in turns: within one minute a machine that others use too is hardly ever the same. A virtual one also has to
# do without its processors while its host gives them to others; a turn that lost more than a hundredth of their time is
# disturbed. There are turns until five of them were calm, eight at most, and the five that lost least count.
in_turns() {
    local all="$results" turn lost calm=0 turns=()
    for ((turn = 1; turn <= 8 && calm < 5; turn++)); do
        local results="$folder/turn-$turn" before now
        : >"$results"
        before="$(processor_time)"
        "$@"
        now="$(processor_time)"
        lost=$((1000 * (${now% *} - ${before% *}) / (${now#* } - ${before#* })))
        echo "scripts/bench: turn $turn of $1 lost $lost of 1,000 ticks to the host" >&2
        turns+=("$lost $turn")
        if [ "$lost" -le 10 ]; then calm=$((calm + 1)); fi
    done
    local counted
    counted="$(printf '%s\n' "${turns[@]}" | sort -n | head -n 5)"
    while read -r lost turn; do cat "$folder/turn-$turn" >>"$all"; done <<<"$counted"
}

# The time of all processors since the machine started, in ticks: what the host gave to others, and all of it.
processor_time() {
    awk '$1 == "cpu" { print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat
}

# Makes partners on PostgreSQL; $1 is the file for their targets. What was written is on the disk before anything is
# measured.
seed() {
    "$bench" seed --database postgres --targets "$@" | sql
    sync
}

sql() {
    as_owner "$binaries/psql" -h "$cluster" -U kopeck -d postgres -qX -v ON_ERROR_STOP=1 >/dev/null
}

# Starts one more server of the service, with these options.
serve() {
    local name="server-${#servers[@]}" url
    start "$name" "$kopeck" serve --listen 127.0.0.1:0 "$@"
    url="$(said "$name" "serves on $address")"
    servers+=("${url#*http://}")
    server_processes+=("${processes[-1]}")
}

# Stops the servers, and leaves other processes.
stop_servers() {
    local process rest=()
    for process in "${server_processes[@]}"; do
        kill -TERM "$process"
        wait "$process" || fail "a server did not stop well"
    done
    for process in "${processes[@]}"; do
        [[ " ${server_processes[*]} " == *" $process "* ]] || rest+=("$process")
    done
    processes=("${rest[@]}") servers=() server_processes=()
}

# Sends a load to the first server.
load() {
    measure load --address "${servers[0]}" --targets "$folder/targets" --seconds "$seconds" \
        --memory "${server_processes[0]}" "$@"
}

# Sends a load to one of the servers: $1 is its number, from 0.
load_to() {
    local servers=("${servers[$1]}") server_processes=("${server_processes[$1]}")
    load "${@:2}"
}

# Has the first server do mass work.
mass() {
    measure mass --address "${servers[0]}" --memory "${server_processes[0]}" "$@"
}

# The yardstick of a call on PostgreSQL.
pgbench() {
    measure pgbench --side yardstick --program "$binaries/pgbench" --socket "$cluster" --targets "$folder/targets" \
        --seconds "$seconds" "$@"
}

# The yardstick of mass work on PostgreSQL.
statements() {
    measure statements --side yardstick "$@"
}
