# What the scripts of this folder share; to be sourced. Errors name the script that runs.

fail() {
    echo "scripts/$(basename "$0"): $1" >&2
    exit 1
}

can_install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

install() {
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$1"
}

# Sees to a program that cargo installs: $1 its name, $2 the version that is installed where there is none. It is compiled
# without optimisation, in a third of the time.
need_cargo_program() {
    command -v "$1" >/dev/null && return
    export PATH="$PWD/target/programs/bin:$PATH"
    command -v "$1" >/dev/null && return
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --debug --locked --root target/programs "$1@$2" ||
        fail "$1 is missing and could not be installed; install it (cargo install --locked $1)"
}

child=

# Runs a command in a process group of its own, so that a signal to this script ends it with all its children. Returns its
# exit code.
in_group() {
    set -m
    "$@" &
    child=$!
    set +m
    local status=0
    wait "$child" || status=$?
    child=
    return "$status"
}

# Ends the command of `in_group`, if it still runs.
end_group() {
    if [ -n "$child" ]; then
        kill -TERM -- "-$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
}

# Kopecks as roubles, which is how `kopeck partner` takes amounts.
roubles() { printf '%d.%02d' $(($1 / 100)) $(($1 % 100)); }
