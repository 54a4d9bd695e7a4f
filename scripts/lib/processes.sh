# Processes of a script in the background; to be sourced after common.sh and postgres.sh. They, the folder and the
# cluster are gone when the script ends, whatever ends it.

folder=
processes=()

# Starts a command in the background; what it says goes into a file of this name.
start() {
    local name="$1"
    shift
    "$@" >"$folder/$name.log" 2>&1 &
    processes+=("$!")
}

# Waits until the process started last has printed what matches the pattern, and prints that.
said() {
    local found
    for _ in {1..6000}; do
        found="$(grep -oEm1 "$2" "$folder/$1.log" 2>/dev/null || true)"
        [ -z "$found" ] || { echo "$found"; return; }
        kill -0 "${processes[-1]}" 2>/dev/null || break
        sleep 0.01
    done
    tail -n 20 "$folder/$1.log" >&2
    fail "$1 does not start"
}

# Asks the processes to end, the last one first, and waits for them.
stop_all() {
    local number status=0
    for ((number = ${#processes[@]} - 1; number >= 0; number--)); do
        kill -TERM "${processes[number]}" 2>/dev/null || true
        wait "${processes[number]}" || status=1
    done
    processes=()
    return "$status"
}

clean_up() {
    local status=$?
    trap '' INT TERM HUP
    end_group
    stop_all 2>/dev/null || true
    if [ "$status" != 0 ] && [ -n "$folder" ]; then
        for log in "$folder"/*.log; do
            [ ! -s "$log" ] || { echo "== the end of $(basename "$log")" && tail -n 20 "$log"; } >&2
        done
    fi
    remove_postgres
    [ -z "$folder" ] || rm -rf "$folder"
    exit "$status"
}

# Makes the folder, and sees to the end.
begin() {
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    folder="$(mktemp -d)"
}

# Where a server says that it listens.
address='http://127\.0\.0\.1:[1-9][0-9]*'

# Random bytes for a key, as base64url.
new_key() {
    head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n'
}

# The URL of the cluster, for the service.
cluster_url() {
    echo "postgres://kopeck@/postgres?host=${cluster//\//%2F}"
}
