#!/bin/bash
# Measures copies between disks that process one command at a time, 2 ms per 64 KiB: with haul (argument: its
# binary), dd and sgp_dd, in addition to reading and writing alone, and the part of the writing that dd spends on
# zeros. tests/lab/timing.rs checks the ratios. By hand:
#
#   VMLAB_CLOCK=virtual lab/vmlab bash lab/proofs/copy-times.sh target/release/haul
#
# In virtual time, and from memory, every run takes the same time, independent of the load of the host. Output: time
# DISKS PROGRAM MICROSECONDS, engine DISKS PROGRAM ENGINE, and tasks DISKS PROGRAM NANOSECONDS, the processor time of
# all tasks, including the kernel.
set -eu
. "$(dirname "$0")/../disks.sh"

nsec=2000000
blocks=1536 # of 64 KiB
mib=$((blocks / 16))
haul=$1
[ "$(basename "$haul")" = haul ] || { echo "the argument must be a binary called haul"; exit 2; }

memory_root dd sg_dd sgp_dd "$haul"

# Nanoseconds in which the processor ran any task, without interrupts while it was idle. Exact, unlike the times of
# processes, which are counted in ticks.
tasks_ns() {
    local fields
    while read -ra fields; do
        [ "${fields[0]}" != cpu0 ] || echo "${fields[7]}"
    done < /proc/schedstat
}

timed() { # name command...
    local name=$1 start end tasks
    shift
    tasks=$(tasks_ns)
    start=$EPOCHREALTIME
    in_memory "$@" > /run/said 2> /run/complaints || { cat /run/said /run/complaints; return 1; }
    end=$EPOCHREALTIME
    tasks=$(($(tasks_ns) - tasks))
    echo "time $disks $name $((${end/./} - ${start/./}))"
    echo "tasks $disks $name $tasks"
}

# Non-repeating data, so that misplaced blocks are detected.
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
    timed "$name" haul copy --yes --restart --json --count "${mib}M" "$@" "$from" "$to"
    echo "engine $disks $name $(sed -n 's/^  "engine": "\(.*\)",$/\1/p' /run/said)"
}

copy_times() { # disks
    disks=$1
    local from=/dev/lab/${disks}0 to=/dev/lab/${disks}1
    fill "$from"
    # A first write that is not timed: the kernel allocates the memory of the store.
    dd if=/dev/zero of="$to" bs=64k count=$blocks oflag=direct status=none
    timed read dd if="$from" of=/dev/null bs=64k count=$blocks iflag=direct
    timed write dd if=/dev/zero of="$to" bs=64k count=$blocks oflag=direct conv=fsync
    timed zeros dd if=/dev/zero of=/dev/null bs=64k count=$blocks
    haul_copies haul
    # Checks the copy.
    blockdev --flushbufs "$from" "$to"
    cmp -n "${mib}M" "$from" "$to"
    haul_copies haul-threads --engine threads
    timed dd dd if="$from" of="$to" bs=64k count=$blocks iflag=direct oflag=direct
    timed sgp_dd sgp_dd if="$from" of="$to" bs=512 bpt=128 count="$((blocks * 128))" iflag=direct oflag=direct thr=4
}

# With the page cache, as the seeds' cp and dd copies that they compared with sg.
copy_times_through_cache() { # disks
    disks=$1-cache
    local from=/dev/lab/${1}0 to=/dev/lab/${1}1
    blockdev --flushbufs "$from" "$to"
    haul_copies haul --direct never
    blockdev --flushbufs "$from" "$to"
    timed dd dd if="$from" of="$to" bs=64k count=$blocks conv=fsync
    blockdev --flushbufs "$from" "$to"
}

# haul and sgp_dd in turn, several times: the processor time of sgp_dd's four threads depends on which of them comes
# first to which command.
beside_sgp_dd() { # suffix [operand of sgp_dd...]
    local suffix=$1
    shift
    for _ in 1 2 3; do
        haul_copies "haul$suffix" --block-size 64K
        timed "sgp_dd$suffix" sgp_dd if="$from" of="$to" bs=512 bpt=128 count=$count thr=4 sync=1 "$@"
        timed "front$suffix" haul sgp_dd if="$from" of="$to" bs=512 bpt=128 count=$count thr=4 sync=1 "$@"
    done
}

# With commands on sg nodes, as the seeds' fastest copies. The sg driver does not split commands, so each is of 64
# KiB; it copies data through its own, cleared memory, unless direct I/O is allowed.
copy_times_by_commands() { # disks
    disks=$1-sg
    local from=/dev/lab/${1}0-sg to=/dev/lab/${1}1-sg count=$((blocks * 128))
    timed read sg_dd if="$from" of=/dev/null bs=512 bpt=128 count=$count
    timed write sg_dd if=/dev/zero of="$to" bs=512 bpt=128 count=$count sync=1
    timed zeros sg_dd if=/dev/zero of=/dev/null bs=512 bpt=128 count=$count
    haul_copies haul-first --block-size 64K
    blockdev --flushbufs "${from%-sg}" "${to%-sg}"
    cmp -n "${mib}M" "${from%-sg}" "${to%-sg}"
    haul_copies haul-threads --engine threads --block-size 64K
    timed sg_dd sg_dd if="$from" of="$to" bs=512 bpt=128 count=$count
    beside_sgp_dd ''
    echo 1 > /sys/module/sg/parameters/allow_dio
    beside_sgp_dd -dio dio=1
    echo 0 > /sys/module/sg/parameters/allow_dio
}

# Twice as long, and not flushed by either (sgp_dd flushes only sg nodes): the fixed overhead matters less compared
# with sgp_dd.
longer_copy_times() { # disks
    disks=$1
    local from=/dev/lab/${disks}0 to=/dev/lab/${disks}1 mib=$((2 * mib)) blocks=$((2 * blocks))
    haul_copies haul-longer --no-flush
    timed sgp_dd-longer sgp_dd if="$from" of="$to" bs=512 bpt=128 count="$((blocks * 128))" iflag=direct oflag=direct thr=4
}

debug_disks ndelay=$nsec dev_size_mb=$((2 * mib))
one_at_a_time /dev/lab/debug0 /dev/lab/debug1
copy_times debug
longer_copy_times debug
copy_times_by_commands debug
# The last measurement of these disks, because it changes the state of the memory.
copy_times_through_cache debug
rmmod scsi_debug
slow_disks $nsec
copy_times slow
