# shellcheck shell=sh
# Sourced by the scripts in this directory, with the root of the repository as working directory: names and timestamp of
# packages. The timestamp is that of the last commit, so that the same commit always gives the same bytes.
umask 022
LC_ALL=C
TZ=UTC
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=$(stat -c %Y Cargo.lock)
fi
export LC_ALL TZ SOURCE_DATE_EPOCH

# shellcheck disable=SC2034 # The scripts that source this file use them.
{
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
    machine=$(uname -m)
    target=${CARGO_TARGET_DIR:-target}
    dist=$target/dist
    static=$target/static/haul
}

# need COMMAND PACKAGE: fails if COMMAND is not installed.
need() {
    if ! command -v "$1" >/dev/null 2>&1; then
        echo "${0##*/}: $1 is not installed; install the Debian package $2, or run: make package-deps" >&2
        exit 1
    fi
}

# A temporary directory, $work, which is removed on every exit.
make_work() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

# set_times DIRECTORY: sets the modification time of everything in it to that of the last commit.
set_times() {
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# store FILE PATTERN: moves a finished package into target/dist, replaces older ones and removes the outdated checksums.
store() {
    mkdir -p "$dist"
    # shellcheck disable=SC2086 # A pattern.
    rm -f "$dist"/$2 "$dist/SHA256SUMS"
    mv "$1" "$dist/"
    echo "made $dist/${1##*/}"
}
