# several.sh HAUL SILENCE_S PROOF... - runs proofs in sequence in this guest. Each PROOF is one argument: a script of
# lab/ and the arguments that follow HAUL. A proof that prints nothing for SILENCE_S seconds is killed as hung. After
# each proof the guest is reset, so that proofs are independent. Output for proof N, from 0 on:
#   N begin            before it starts
#   N | LINE           its output; if it failed, also the end of its standard error
#   N hung             no output for too long
#   N left WHAT        it left this in the guest, and it could not be removed
#   N end STATUS MS    the proof has ended and the guest has been reset
# tests/lab/guests.rs parses this output.
# shellcheck shell=bash
set -u
[ "${VMLAB:-}" = 1 ] || { echo "several.sh removes files and disks; it runs in the guest only" >&2; exit 2; }
lab=$(dirname "$0")
# shellcheck source=lab/disks.sh
. "$lab/disks.sh"
haul=$1 silence_s=$2
shift 2

# Everything that exists now is kept.
kept=/run/proofs
mkdir -p $kept/groups
mount -t cgroup2 none $kept/groups
# The existing files are kept, and so is the data that judge.sh generates: it is the same for every proof.
cp "$haul" /run/haul
there_before=" $(echo /run/* /dev/lab/*) "
mounts_before=$(cut -d ' ' -f 2 /proc/mounts)
# Disks of the launcher that proofs write to. Each is initially zero.
blank_disks=(scsi0 scsi1 nvme0 nvme1)

written_sectors() { # disk
    local numbers
    read -ra numbers < "$(sys_of "/dev/lab/$1")/stat" && echo "${numbers[6]}"
}
# Retries once a second for two minutes.
within_2_min() { # command...
    local tries
    for ((tries = 0; tries < 120; tries++)); do
        ! "$@" 2> /dev/null || return 0
        sleep 1
    done
    "$@"
}
left() {
    echo "$number left $*"
}

# Kills every process of the group, including those that started a new session.
end_processes() { # group
    local pids
    kill_them() {
        mapfile -t pids < "$1/cgroup.procs"
        [ "${#pids[@]}" = 0 ] || { kill -KILL "${pids[@]}"; sleep 0.05; mapfile -t pids < "$1/cgroup.procs"; }
        [ "${#pids[@]}" = 0 ]
    }
    within_2_min kill_them "$1" || left "processes: $(ps -o pid=,stat=,args= -p "$(IFS=,; echo "${pids[*]}")" | tr '\n' ';')"
    rmdir "$1" 2> /dev/null
}
unmount_new() {
    local places i
    mapfile -t places < <(cut -d ' ' -f 2 /proc/mounts)
    for ((i = ${#places[@]} - 1; i >= 0; i--)); do
        # The kernel's configuration file systems stay mounted.
        case $'\n'$mounts_before$'\n'/sys/kernel/config$'\n' in *$'\n'"${places[i]}"$'\n'*) continue ;; esac
        within_2_min umount "${places[i]}" || left "mount ${places[i]}"
    done
}
unload() { # module...
    local module
    for module in "$@"; do
        [ ! -e "/sys/module/$module" ] || within_2_min rmmod "$module" || left "driver $module"
    done
}
remove_files() {
    local file
    for file in /run/* /dev/lab/* /dev/shm/* /scratch "${XDG_STATE_HOME:-${HOME%/}/.local/state}/haul"; do
        case $there_before in *" $file "*) continue ;; esac
        case $file in /run/noise.new.*) ;; /run/noise.*) continue ;; esac
        rm -rf "$file" || left "file $file"
    done
}
# Restores the original names of disks that were removed and reattached.
all_disks_are_there() {
    local disk
    for disk in "${blank_disks[@]}"; do
        if [ ! -b "/dev/lab/$disk" ]; then
            link_nvme
            return 1
        fi
    done
    [ -c /dev/lab/nvme0-ng ] && [ -c /dev/lab/nvme1-ng ]
}
put_in_order() { # group
    end_processes "$1"
    unmount_new
    dmsetup remove_all --force > /dev/null 2>&1 || left "device-mapper: $(dmsetup ls 2>&1 | tr '\n' ';')"
    lio_gone || left "the kernel's SCSI target"
    rmdir /sys/kernel/config/nullb/*/ 2> /dev/null
    unload scsi_debug null_blk brd
    remove_files
    echo 0 > /sys/module/sg/parameters/allow_dio
    [ ! -e /proc/sys/kernel/io_uring_disabled ] || echo 0 > /proc/sys/kernel/io_uring_disabled
    if ! all_disks_are_there; then
        # The names may change.
        rm -f /dev/lab/nvme0* /dev/lab/nvme1*
        echo 1 > /sys/bus/pci/rescan
        within_2_min all_disks_are_there || left "disks that are not back: $(ls /dev/lab)"
    fi
    local disk
    for disk in "${blank_disks[@]}"; do
        [ "$(written_sectors "$disk")" = "${written[$disk]:-}" ] || blank "/dev/lab/$disk" || left "bytes on $disk"
    done
}
blank() { # disk
    blkdiscard --zeroout --length 16M "$1" && blockdev --flushbufs --rereadpt "$1"
}

declare -A written
proof() { # number words
    local number=$1 words group=$kept/groups/$1 from line status=ended failed="" started=$EPOCHREALTIME disk
    read -ra words <<< "$2"
    mkdir "$group"
    for disk in "${blank_disks[@]}"; do
        written[$disk]=$(written_sectors "$disk")
    done
    echo "$number begin"
    exec {from}< <(
        echo $BASHPID > "$group/cgroup.procs"
        bash "$lab/${words[0]}" "$haul" "${words[@]:1}" 2> "$kept/complaints"
        echo "=over= $?"
    )
    # Leftovers of an earlier proof write to their own pipe, which has no reader.
    while read -r -t "$silence_s" line <&"$from" || { (($? > 128)) && status=hung; }; do
        [ "$status" != hung ] || break
        if [[ $line = "=over= "* ]]; then
            status=${line#=over= }
            break
        fi
        echo "$number | $line"
        [[ $line != FAIL* ]] || failed=yes
    done
    [ "$status" != hung ] || echo "$number hung"
    [ "$status$failed" = 0 ] || tail -n 60 "$kept/complaints" | sed "s/^/$number | stderr: /"
    put_in_order "$group" 2> "$kept/complaints"
    exec {from}<&-
    echo "$number end $status $(((${EPOCHREALTIME/./} - ${started/./}) / 1000))"
}
number=0
for words in "$@"; do
    proof $number "$words"
    number=$((number + 1))
done
