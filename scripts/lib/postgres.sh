# A PostgreSQL of a script's own; to be sourced after common.sh.

cluster=
owner=
binaries=

# Prints the folder with the binaries of the newest PostgreSQL that is new enough, if there is one.
postgres_binaries() {
    local folder major best=14 found=
    for folder in "$(pg_config --bindir 2>/dev/null || true)" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
        /usr/local/pgsql/bin "$(dirname "$(command -v postgres || true)")"; do
        [ -x "$folder/initdb" ] && [ -x "$folder/pg_ctl" ] && [ -x "$folder/postgres" ] || continue
        major="$("$folder/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')"
        if [ "$major" -gt "$best" ]; then
            best="$major" found="$folder"
        fi
    done
    [ -n "$found" ] && echo "$found"
}

# PostgreSQL does not run as root.
as_owner() {
    if [ -n "$owner" ]; then
        (cd / && su "$owner" -s /bin/sh -c "$(printf '%q ' "$@")")
    else
        "$@"
    fi
}

# Finds the binaries, and installs PostgreSQL if there are none; $1 says what else would do.
need_postgres() {
    binaries="$(postgres_binaries || true)"
    if [ -z "$binaries" ] && can_install; then
        install postgresql
        binaries="$(postgres_binaries || true)"
    fi
    [ -n "$binaries" ] || fail "PostgreSQL 15 or later is missing; install its server (Debian: apt-get install \
postgresql)$1"
}

# Starts a private PostgreSQL: user `kopeck`, reached by a socket in the folder $cluster. Each argument is
# a setting, `name = value`.
start_postgres() {
    # Not in TMPDIR: the path of a socket must be short.
    cluster="$(mktemp -d /tmp/kopeck-postgres.XXXXXX)"
    if [ "$(id -u)" = 0 ]; then
        owner=postgres
        if ! id "$owner" >/dev/null 2>&1; then
            owner=kopeck-test
            id "$owner" >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin "$owner"
        fi
        chown "$owner" "$cluster"
    fi
    local said
    said="$(as_owner "$binaries/initdb" -D "$cluster/data" -U kopeck -A trust -E UTF8 --no-locale -N 2>&1)" ||
        { echo "$said" >&2; fail "initdb failed"; }
    printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$cluster'" "$@" >>"$cluster/data/postgresql.conf"
    postgres_ctl start || { cat "$cluster/log" >&2; fail "PostgreSQL does not start"; }
}

# Rules the cluster: start, or stop.
postgres_ctl() {
    as_owner "$binaries/pg_ctl" -D "$cluster/data" -l "$cluster/log" -w -t 60 "$@" >/dev/null
}

# Stops the cluster, if there is one, and removes it.
remove_postgres() {
    if [ -n "$cluster" ]; then
        postgres_ctl stop -m immediate 2>/dev/null || true
        rm -rf "$cluster"
    fi
}
