# What cargo builds for the scripts; to be sourced after common.sh. All of them select the whole workspace, with its tests: a
# smaller selection has another set of features, for which cargo would compile most dependencies once more.

executables=
kopeck=

# Builds the tests, binaries and examples of the workspace. $executables lists them, one a line: the crate's folder, the
# kind of target, its name, whether it is a test, and the path. $kopeck is the path of the service.
build_workspace() {
    local build=(cargo test --workspace --locked --no-run)
    in_group "${build[@]}"
    executables="$("${build[@]}" --message-format=json 2>/dev/null | sed -nE \
        's#.*"manifest_path":"[^"]*/(crates|tools)/([^/"]+)/Cargo\.toml","target":\{"kind":\["([^"]+)"\].*,"name":"([^"]+)","src_path":.*,"test":(true|false)\},"features".*,"executable":"([^"]+)".*#\2 \3 \4 \5 \6#p')"
    kopeck="$(executable app bin kopeck false)"
}

# Prints the path of the executable whose line in $executables begins with these words.
executable() {
    awk -v wanted="$*" '$1 " " $2 " " $3 " " $4 == wanted { print $5; found = 1 } END { exit !found }' <<<"$executables" ||
        fail "cargo test built no executable $*"
}

# Runs tests in the folder of their crate, as cargo does: $1 the crate's folder, $2 the kind of target, $3 its name. The
# rest goes to the tests.
run_tests() {
    local path
    path="$(executable "$1" "$2" "$3" true)" || return
    env -C "crates/$1" "$path" "${@:4}"
}
