# disks.sh - sourced by scripts in the guest: disks in memory, and programs that run from memory. Every disk gets a
# name in /dev/lab.
# shellcheck shell=bash

scsi_debug=/sys/bus/pseudo/drivers/scsi_debug

# link_scsi NAME PATTERN-OF-ITS-SYSFS-DIRECTORY: names a SCSI disk once it is ready.
link_scsi() {
    local block generic
    until block=$(compgen -G "$2/block/*") && generic=$(compgen -G "$2/scsi_generic/*") &&
        [ "$(cat "$block/size")" != 0 ]; do
        sleep 0.01
    done
    ln -sf "../${block##*/}" "/dev/lab/$1"
    ln -sf "../${generic##*/}" "/dev/lab/$1-sg"
}

# Creates two disks in memory, debug0 and debug1, each with its own host and store; otherwise all scsi_debug disks
# share one store, and any copy between them "works". Arguments are parameters of the module.
debug_disks() {
    rmmod scsi_debug 2> /dev/null || true
    modprobe scsi_debug add_host=2 per_host_store=1 dev_size_mb=16 delay=0 "$@"
    link_scsi debug0 "$scsi_debug/adapter0/host*/target*/*:*"
    link_scsi debug1 "$scsi_debug/adapter1/host*/target*/*:*"
}

# Names the NVMe drives of the QEMU command line in /dev/lab by their serial numbers.
link_nvme() {
    local disk
    for disk in /sys/block/nvme* /sys/class/nvme-generic/ng*; do
        case $disk in
            */ng*) ln -sfn "../${disk##*/}" "/dev/lab/$(tr -d ' ' < "$disk/device/serial")-ng" ;;
            *) ln -sfn "../${disk##*/}" "/dev/lab/$(tr -d ' ' < "$disk/device/serial")" ;;
        esac
    done
}

sys_of() { # disk: its sysfs directory
    echo "/sys/block/$(basename "$(readlink -f "$1")")"
}

done_by() { # SCSI disk: completed commands
    cat "$(sys_of "$1")/device/iodone_cnt"
}

# Drives that process one command at a time, of at most 64 KiB: a delay of N ns per command gives a bandwidth of 64
# KiB / N ns.
one_at_a_time() {
    local disk
    for disk in "$@"; do
        echo 1 > "$(sys_of "$disk")/device/queue_depth"
        echo 64 > "$(sys_of "$disk")/queue/max_sectors_kb"
    done
}

# Two such disks without SCSI, slow0 and slow1: each 64 KiB takes NSEC.
slow_disks() { # nsec
    rmmod null_blk 2> /dev/null || true
    modprobe null_blk nr_devices=2 gb=1 memory_backed=1 queue_mode=2 submit_queues=1 \
        irqmode=2 completion_nsec="$1" hw_queue_depth=1 max_sectors=128
    ln -sf ../nullb0 /dev/lab/slow0
    ln -sf ../nullb1 /dev/lab/slow1
}

# Copies programs and their libraries to a root directory in memory. With VMLAB_CLOCK=virtual the clock jumps ahead
# when the guest waits for the host, as in every access to files of the host; programs in memory avoid that.
memory_root() { # program...
    local program file system
    mkdir -p /run/memory/bin
    for system in dev proc sys; do
        mkdir -p "/run/memory/$system"
        mountpoint -q "/run/memory/$system" || mount --bind "/$system" "/run/memory/$system"
    done
    for program in "$@"; do
        program=$(command -v "$program")
        cp -L "$program" /run/memory/bin
        for file in $(ldd "$program" | grep -o '/[^ ]*'); do
            mkdir -p "/run/memory${file%/*}"
            cp -L "$file" "/run/memory$file"
        done
    done
}
in_memory() { # command...
    /run/busybox chroot /run/memory "$@"
}

# Two logical units of the kernel's SCSI target (LIO), lio0 and lio1, of 16 MiB: they support EXTENDED COPY and
# reservations. The second has another path, lio1-other, for another initiator.
lio_disks() {
    modprobe tcm_loop
    mkdir -p /var/target/pr # holds the reservations
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    local target=/sys/kernel/config/target i store port other host name
    port=$target/loopback/naa.6001405000000001/tpgt_1
    other=$target/loopback/naa.6001405000000003/tpgt_1
    mkdir -p "$port" "$other"
    echo naa.6001405000000002 > "$port/nexus"
    echo naa.6001405000000004 > "$other/nexus"
    for i in 0 1; do
        store=$target/core/rd_mcp_$i/lio$i
        mkdir -p "$store" "$port/lun/lun_$i"
        echo rd_pages=4096 > "$store/control"
        echo 1 > "$store/enable"
        echo "lio$i" > "$store/wwn/vpd_unit_serial"
        ln -s "$store" "$port/lun/lun_$i/lio$i"
    done
    mkdir -p "$other/lun/lun_1"
    ln -s "$store" "$other/lun/lun_1/lio1"
    for host in /sys/devices/tcm_loop*/tcm_loop_adapter_*; do
        name=lio1-other
        if compgen -G "$host/host*/target*/*:0/block" > /dev/null; then
            name=lio1
            link_scsi lio0 "$host/host*/target*/*:0"
        fi
        link_scsi $name "$host/host*/target*/*:1"
    done
}

# Removes both.
lio_gone() {
    local target=/sys/kernel/config/target
    [ -d $target/loopback ] || return 0
    rm -f $target/loopback/naa.*/tpgt_1/lun/lun_*/lio*
    rmdir $target/loopback/naa.*/tpgt_1/lun/lun_* $target/loopback/naa.*/tpgt_1 $target/loopback/naa.* &&
        rmdir $target/core/rd_mcp_*/lio* $target/core/rd_mcp_* $target/loopback && modprobe -r tcm_loop
}

wipe() { # disk
    dd if=/dev/zero of="$1" bs=1M oflag=direct status=none 2> /dev/null || true # up to the end of the disk
}
