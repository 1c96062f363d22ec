#!/bin/bash
# How long copies take between disks that serve one command at a time, 2 ms for
# every 64 KiB: by haul (the argument: its binary), dd and sgp_dd, beside what
# reading and writing take alone, and what of the latter is dd making zeros.
# tests/lab_timing.rs holds the ratios to their figures; by hand:
#
#   VMLAB_CLOCK=virtual lab/vmlab bash lab/proofs/copy-times.sh target/release/haul
#
# In virtual time, and from memory, everything takes the same time at every run,
# whatever else the host does. Lines: time DISKS PROGRAM MICROSECONDS, and
# engine DISKS PROGRAM ENGINE.
set -eu
. "$(dirname "$0")/../disks.sh"

nsec=2000000
blocks=1536 # of 64 KiB
mib=$((blocks / 16))
haul=$1
[ "$(basename "$haul")" = haul ] || { echo "the argument must be a binary called haul"; exit 2; }

memory_root dd sgp_dd "$haul"

timed() { # name command...
    local name=$1 start=$EPOCHREALTIME end
    shift
    in_memory "$@" > /run/said 2> /run/complaints || { cat /run/said /run/complaints; return 1; }
    end=$EPOCHREALTIME
    echo "time $disks $name $((${end/./} - ${start/./}))"
}

# Bytes without a period, so that a block in a wrong place is seen.
fill() { # disk
    local piece
    head -c 1M /dev/urandom > /run/noise
    for ((piece = 0; piece < mib; piece++)); do
        echo "piece $piece"
        /run/busybox cat /run/noise
    done | dd of="$1" bs=1M count="$mib" iflag=fullblock oflag=direct status=none
}

haul_copies() { # name [option...]
    local name=$1
    shift
    timed "$name" haul copy --yes --json --count "${mib}M" "$@" "$from" "$to"
    echo "engine $disks $name $(sed -n 's/^  "engine": "\(.*\)",$/\1/p' /run/said)"
}

copy_times() { # disks
    disks=$1
    local from=/dev/lab/${disks}0 to=/dev/lab/${disks}1
    fill "$from"
    # Once before it is timed: the first time, the kernel finds memory for what is written.
    dd if=/dev/zero of="$to" bs=64k count=$blocks oflag=direct status=none
    timed read dd if="$from" of=/dev/null bs=64k count=$blocks iflag=direct
    timed write dd if=/dev/zero of="$to" bs=64k count=$blocks oflag=direct conv=fsync
    timed zeros dd if=/dev/zero of=/dev/null bs=64k count=$blocks
    haul_copies haul
    # What was timed was a copy.
    blockdev --flushbufs "$from" "$to"
    cmp -n "${mib}M" "$from" "$to"
    haul_copies haul-threads --engine threads
    timed dd dd if="$from" of="$to" bs=64k count=$blocks iflag=direct oflag=direct
    timed sgp_dd sgp_dd if="$from" of="$to" bs=512 bpt=128 count="$((blocks * 128))" iflag=direct oflag=direct thr=4
}

debug_disks ndelay=$nsec dev_size_mb=$mib
one_at_a_time /dev/lab/debug0 /dev/lab/debug1
copy_times debug
rmmod scsi_debug
slow_disks $nsec
copy_times slow
