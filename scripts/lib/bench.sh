# Steps of scripts/bench; to be sourced after the other files of this folder. Each measurement goes to the file $results
# too.

servers=()
server_processes=()
postmaster=
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
    run_server "$kopeck" serve --listen 127.0.0.1:0 "$@"
}

# Starts a server with the service's front door and another store.
serve_ceiling() {
    run_server "$bench" ceiling --targets "$folder/targets" "$@"
}

run_server() {
    local name="server-${#servers[@]}" url
    start "$name" "$@"
    url="$(said "$name" "$address")"
    servers+=("${url#http://}")
    server_processes+=("${processes[-1]}")
}

# Stops the servers that `run_server` has started, and leaves the others.
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

# Whose processor time and memory count: the first server's, and PostgreSQL's time if it runs.
watched() {
    local server="serve=${server_processes[0]}"
    echo "--cpu $server --memory $server${postmaster:+ --cpu postgres=$postmaster}"
}

# Sends a load to the servers.
load() {
    local all
    all="$(IFS=,; echo "${servers[*]}")"
    # shellcheck disable=SC2046
    measure load --address "$all" --targets "$folder/targets" --seconds "$seconds" $(watched) "$@"
}

# Has the first server do mass work.
mass() {
    # shellcheck disable=SC2046
    measure mass --address "${servers[0]}" $(watched) "$@"
}

# The yardstick of a call on PostgreSQL.
pgbench() {
    measure pgbench --side yardstick --program "$binaries/pgbench" --socket "$cluster" --targets "$folder/targets" \
        --seconds "$seconds" --cpu "postgres=$postmaster" "$@"
}

# The yardstick of mass work on PostgreSQL.
statements() {
    measure statements --side yardstick --cpu "postgres=$postmaster" "$@"
}
