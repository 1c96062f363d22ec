# judge.sh - sourced by scripts in the guest: prints passed and failed checks for tests/support/lab.rs. Each check is
# one line on standard output: "ok NAME", "skip NAME: WHY" or "FAIL NAME: WHY". A failed check never ends a script.
# shellcheck shell=bash

judge() { # name command...: ok if the command succeeds
    local name=$1 words_of_check
    shift
    if words_of_check=$("$@" 2>&1); then
        echo "ok $name"
    else
        echo "FAIL $name: $*"
        printf '%s\n' "$words_of_check" | tail -n 30
    fi
}

skipped() { # name why
    echo "skip $1: $2"
}

# Runs a command; sets $said to its output and $status to its status.
try() { # command...
    status=0
    said=$("$@" 2>&1) || status=$?
}

# Succeeds if the last try ended with this status and printed all of these words, possibly wrapped across lines.
ended() { # status word...
    local word flat flat_words
    # Uses only the shell: starting a process takes long in an emulated machine.
    read -rd '' -a flat_words <<< "$said" || true
    flat=${flat_words[*]}
    if [ "$status" != "$1" ]; then
        printf 'status %s, not %s; output:\n%s\n' "$status" "$1" "$said"
        return 1
    fi
    shift
    for word in "$@"; do
        case $flat in
            *"$word"*) ;;
            *)
                printf "'%s' is missing in:\n%s\n" "$word" "$said"
                return 1
                ;;
        esac
    done
}

# Succeeds if the output of the last try does not contain this word.
silent_about() { # word
    case $(tr -s ' \n' ' ' <<< "$said") in
        *"$1"*)
            printf "'%s' is in:\n%s\n" "$1" "$said"
            return 1
            ;;
    esac
}

# Compares two disks, or files in memory, without their page cache. Only their caches are dropped; without the whole
# page cache every program would be read from the host again.
same() { # one other [bytes]
    local disk
    for disk in "$1" "$2"; do
        [ ! -b "$disk" ] || blockdev --flushbufs "$disk"
    done
    cmp ${3:+-n "$3"} "$1" "$2"
}

# Writes incompressible, non-repeating data to a file in memory, so that misplaced blocks are detected. The same seed
# gives the same data, which is generated only once, because ciphers are slow here.
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

# Succeeds if no process in this guest hangs on a device.
nobody_waits() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        grep -ls '^State:.D ' /proc/[0-9]*/status > /dev/null || return 0
        sleep 0.1
    done
    grep -ls '^State:.D ' /proc/[0-9]*/status | xargs -r grep -h '^Name:'
    return 1
}

# Succeeds if no process hangs on a device and completed copies left no thread (of the program or of the kernel) and
# no claim on these block devices: each can be opened exclusively, as wipefs does.
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

# Succeeds if the driver has no user.
can_be_unloaded() { # module
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        ! rmmod "$1" 2> /dev/null || return 0
        sleep 0.1
    done
    rmmod "$1"
}
