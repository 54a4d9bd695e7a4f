# What it takes to run the partners' clients in Python and TypeScript; to be sourced after common.sh and workspace.sh.

# Sees to a program: $1 its name, $2 what tells whether it will do, $3 the Debian package.
need() {
    $2 && return
    ! can_install || install "$3"
    $2 || fail "$1 is missing; install it (Debian: apt-get install $3)"
}
has_python() { python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; }
has_node() { node -e 'const [major, minor] = process.versions.node.split("."); process.exitCode = major * 100 + +minor < 2019 ? 1 : 0' 2>/dev/null; }
has_npm() { command -v npm >/dev/null; }

need_languages() {
    need "Python 3.10 or later with venv" has_python python3-venv
    need "Node 20.19 or later" has_node nodejs
    need npm has_npm npm
}

# Puts a Python with the client, and with what else is named, into the folder $1, and what builds the other client into
# clients/typescript/node_modules.
install_clients() {
    local venv="$1"
    shift
    python3 -m venv "$venv"
    in_group "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "./clients/python[async]" "$@"
    in_group npm ci --prefix clients/typescript --no-audit --no-fund --ignore-scripts
}

# Plays the book with all its languages; $1 is the folder of the Python, the other client and the workspace are built.
play_book() {
    local strip_types
    strip_types="file://$(realpath scripts/lib/strip_types.mjs)"
    PATH="$1/bin:$PATH" NODE_OPTIONS="--import $strip_types" TEST_BOOK_TOOLS=python,node,cargo \
        in_group run_tests app test it book::
}
