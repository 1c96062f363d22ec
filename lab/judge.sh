# judge.sh - to be sourced by a script that runs in the guest: says what was
# found right and what was not, for tests/support/lab.rs. Every judgement is one
# line on standard output, "ok NAME", "skip NAME: WHY" or "FAIL NAME: WHY", and
# a script never ends early because of one.
# shellcheck shell=bash

judge() { # name command...: the command succeeds
    local name=$1 judged_words
    shift
    if judged_words=$("$@" 2>&1); then
        echo "ok $name"
    else
        echo "FAIL $name: $*"
        printf '%s\n' "$judged_words" | tail -n 30
    fi
}

skipped() { # name why
    echo "skip $1: $2"
}

# Run a command; its words are kept in $said, its status in $status.
try() { # command...
    status=0
    said=$("$@" 2>&1) || status=$?
}

# Of the last try: it ended with this status and said all of these words, on one
# line or wrapped.
ended() { # status word...
    local word flat flat_words
    # By the shell alone: a process more for each judgement is long in an emulated machine.
    read -rd '' -a flat_words <<< "$said" || true
    flat=${flat_words[*]}
    if [ "$status" != "$1" ]; then
        printf 'status %s, not %s; it said:\n%s\n' "$status" "$1" "$said"
        return 1
    fi
    shift
    for word in "$@"; do
        case $flat in
            *"$word"*) ;;
            *)
                printf "it did not say '%s' but:\n%s\n" "$word" "$said"
                return 1
                ;;
        esac
    done
}

# Nothing of what the last try said has this word in it.
silent_about() { # word
    case $(tr -s ' \n' ' ' <<< "$said") in
        *"$1"*)
            printf "it said '%s':\n%s\n" "$1" "$said"
            return 1
            ;;
    esac
}

# Two disks, or files in memory, hold the same bytes, read anew past the page
# cache of either. That of everything is not dropped: every program would be
# fetched from the host again.
same() { # one other [bytes]
    local disk
    for disk in "$1" "$2"; do
        [ ! -b "$disk" ] || blockdev --flushbufs "$disk"
    done
    cmp ${3:+-n "$3"} "$1" "$2"
}

# A file in memory of bytes without a period, so that a block in a wrong place
# is seen; the same for the same seed, and made once: ciphers are slow here.
make_noise() { # seed bytes: in $noise_file
    local new=/run/noise.new.$BASHPID
    noise_file=/run/noise.$1.$2
    [ ! -e "$noise_file" ] || return 0
    openssl enc -aes-128-ctr -nosalt -K "$(printf '%032x' "$1")" -iv "$(printf '%032x' 0)" -in /dev/zero 2> /dev/null |
        head -c "$2" > "$new"
    mv "$new" "$noise_file"
}

noise() { # seed bytes
    make_noise "$1" "$2"
    cat "$noise_file"
}

fill() { # disk-or-file seed bytes
    make_noise "$2" "$3"
    if [ -b "$1" ]; then
        dd if="$noise_file" of="$1" bs=1M conv=fsync status=none
        blockdev --flushbufs "$1"
    else
        cat "$noise_file" > "$1"
    fi
}

# No process in this guest waits for a device for ever.
nobody_waits() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        grep -ls '^State:.D ' /proc/[0-9]*/status > /dev/null || return 0
        sleep 0.1
    done
    grep -ls '^State:.D ' /proc/[0-9]*/status | xargs -r grep -h '^Name:'
    return 1
}

# No process waits for a device for ever, and of copies that have ended there is no thread, neither of the program nor
# of the kernel on its behalf, and no claim on these block devices: each can be had exclusively, which wipefs wants.
nothing_left() { # disk...
    local tries found disk
    nobody_waits || return 1
    for ((tries = 0; tries < 100; tries++)); do
        found=$(cat /proc/[0-9]*/task/[0-9]*/comm 2> /dev/null | grep -E '^(haul|iou-)' || true)
        [ -n "$found" ] || break
        sleep 0.1
    done
    [ -z "$found" ] || printf 'still there:\n%s\n' "$found"
    for disk in "$@"; do
        wipefs --all "$disk" || found=$disk
    done
    [ -z "$found" ]
}

# Nobody uses anything of this driver any more.
can_be_unloaded() { # module
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        ! rmmod "$1" 2> /dev/null || return 0
        sleep 0.1
    done
    rmmod "$1"
}
