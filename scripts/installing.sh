# shellcheck shell=sh
# Sourced by the scripts that install what is missing; they set `name`, how they call themselves.
# Without root or apt, what is missing is said and nothing fails.
PATH=$PATH:/usr/sbin:/sbin
export DEBIAN_FRONTEND=noninteractive
wanted=
missing=

# want WHAT PACKAGE REASON: remembers PACKAGE.
want() {
    echo "$name: $1 is missing (package $2): $3"
    case " $wanted " in *" $2 "*) ;; *) wanted="$wanted $2" ;; esac
}

# need COMMAND PACKAGE REASON: remembers PACKAGE when COMMAND is not there.
need() {
    command -v "$1" >/dev/null 2>&1 || want "$@"
}

# install_wanted CONSEQUENCE: installs what is wanted so far, or says what it means that it cannot; the next call begins
# anew.
install_wanted() {
    if [ -z "$wanted" ]; then return; fi
    missing=1
    packages=$wanted
    wanted=
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "$name: there is no apt-get here; install what provides:$packages"
    elif [ "$(id -u)" -ne 0 ]; then
        echo "$name: not root; as root: apt-get install$packages"
    else
        echo "$name: installing$packages"
        # Not quoted: one word a package.
        # shellcheck disable=SC2086
        if apt-get install -y --no-install-recommends $packages; then return; fi
        # The lists of a fresh machine are empty or old.
        # shellcheck disable=SC2086
        if apt-get update && apt-get install -y --no-install-recommends $packages; then return; fi
        echo "$name: could not install all of:$packages"
    fi
    echo "$name: going on; $1"
}

say_if_nothing_is_missing() {
    if [ -z "$missing" ]; then echo "$name: nothing is missing"; fi
}
