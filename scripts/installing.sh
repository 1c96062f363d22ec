# shellcheck shell=sh
# Sourced by the scripts that install missing packages; they set `name`, the prefix of their messages.
# Without root or apt, the functions print what is missing and do not fail.
PATH=$PATH:/usr/sbin:/sbin
export DEBIAN_FRONTEND=noninteractive
wanted=
missing=

# want WHAT PACKAGE REASON: adds PACKAGE to the list.
want() {
    echo "$name: $1 is missing (package $2): $3"
    case " $wanted " in *" $2 "*) ;; *) wanted="$wanted $2" ;; esac
}

# need COMMAND PACKAGE REASON: adds PACKAGE to the list if COMMAND is not installed.
need() {
    command -v "$1" >/dev/null 2>&1 || want "$@"
}

# install_wanted CONSEQUENCE: installs the listed packages, or prints CONSEQUENCE; empties the list.
install_wanted() {
    if [ -z "$wanted" ]; then return; fi
    missing=1
    packages=$wanted
    wanted=
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "$name: apt-get is not installed; install the equivalents of:$packages"
    elif [ "$(id -u)" -ne 0 ]; then
        echo "$name: not root; as root: apt-get install$packages"
    else
        echo "$name: installing$packages"
        # Unquoted, because it is a list of packages.
        # shellcheck disable=SC2086
        if apt-get install -y --no-install-recommends $packages; then return; fi
        # The package lists of a new machine are empty or old.
        # shellcheck disable=SC2086
        if apt-get update && apt-get install -y --no-install-recommends $packages; then return; fi
        echo "$name: could not install all of:$packages"
    fi
    echo "$name: continuing; $1"
}

report_if_nothing_is_missing() {
    if [ -z "$missing" ]; then echo "$name: nothing is missing"; fi
}
