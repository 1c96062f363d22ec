#!/bin/bash
# Disks that report unmapped blocks, and disks that are not ready. Arguments: the haul binary and an engine.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
copy() { try "$haul" copy -v --yes --restart --progress none --engine "$engine" "$@"; }
size=$((16 << 20))

debug_disks lbpu=1 lbpws=1 lbprz=1
thin=/dev/lab/debug0 other=/dev/lab/debug1
fill $other 3 16M
fill $thin 2 192K
noise 4 70000 | dd of=$thin bs=1M seek=10 oflag=seek_bytes conv=fsync status=none
noise 5 64K | dd of=$thin bs=64K seek=255 conv=fsync status=none

# Thin provisioning: unmapped blocks are not read.
copy $thin-sg $other-sg
judge "unmapped blocks are not read" ended 0 "zeroed by the destination"
judge "and they are zeros on the dest" same $thin $other
copy $thin-sg /run/sparse
sparse() { ended 0 && cmp $thin /run/sparse && [ "$(du -k /run/sparse | cut -f 1)" -lt 1024 ]; }
judge "a file of a thin disk is sparse" sparse
copy --sparse never $thin-sg $other-sg
judge "and all is read where that was asked for" ended 0 "$size bytes"
judge "and is the same" same $thin $other
printf 'start=20001,size=4096\n' | sfdisk -q $thin > /dev/null 2>&1
partition=$(readlink -f $thin)1
until [ -b "$partition" ]; do sleep 0.05; done
noise 6 9K | dd of="$partition" bs=512 seek=1000 conv=fsync status=none
blockdev --flushbufs "$partition"
copy --passthrough=source "$partition" /run/part
judge "holes of a partition are in their place" cmp "$partition" /run/part
try "$haul" verify -v --passthrough=source "$partition" /run/part
judge "and are verified" ended 0
debug_disks lbpu=1 lbpws=1 lbprz=0
fill $thin 2 64K
copy $thin-sg /run/all
judge "unmapped blocks that promise nothing are read" ended 0 "$size bytes"

# A write cache that the kernel does not flush: the disk is unchanged, and haul can flush it with commands.
echo "write through" > "/sys/block/$(basename "$(readlink -f $other)")/queue/write_cache"
copy --json --count 1M $thin $other
judge "an unflushed write cache is memory" ended 0 '"durability": "memory"'
copy --json --count 1M $thin $other-sg
judge "but commands flush it" ended 0 '"durability": "medium"'

# shellcheck source=lab/scsi-profile.sh
. "$lab/scsi-profile.sh"

# Disks that are not ready.
sg_start --stop $other-sg
copy $other-sg /run/out
judge "a source that was stopped" ended 1 "source $other-sg" "not ready: a start command is needed" "sg_start"
copy $thin-sg $other-sg
judge "a dest that was stopped" ended 1 "destination $other-sg" "a start command is needed"
sg_start --start $other-sg
copy $thin-sg $other-sg
judge "a disk that was started again" ended 0
rmmod scsi_debug
modprobe scsi_debug dev_size_mb=16 delay=0 tur_ms_to_ready=3000 &
# shellcheck disable=SC2154 # set by disks.sh
until node=$(compgen -G "$scsi_debug/adapter0/host*/target*/*:*/scsi_generic/*"); do sleep 0.02; done
until [ -e "/dev/${node##*/}" ]; do sleep 0.02; done
try sg_turs "/dev/${node##*/}"
judge "a disk is getting ready" ended 2
copy --count 1M "/dev/${node##*/}" /run/out
judge "a disk that is getting ready is waited for" ended 0
wait
