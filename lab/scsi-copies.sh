#!/bin/bash
# Copies between SCSI disks, with SCSI commands, and all other kinds. Arguments: the haul binary and an engine;
# VMLAB_DISK=4T. tests/lab/scsi.rs lists the checks.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
odd=5000777 # bytes: not a multiple of the block or page size
all=8M # bytes of a disk
disks() { debug_disks dev_size_mb=${all%M} "$@"; }

# Where the kernel can forbid io_uring, haul must detect that.
choice=(--engine "$engine")
if [ "$engine" = threads ] && [ -e /proc/sys/kernel/io_uring_disabled ]; then
    echo 2 > /proc/sys/kernel/io_uring_disabled
    choice=()
fi
copy() { try "$haul" copy -v --yes --restart "${choice[@]}" "$@"; }

as() { # name words-of-the-report bytes: checks the last copy, from $from to $to
    judge "$1" right "$2" "$3"
}
right() { ended 0 "$1" && same "$from" "$to" "$2"; }

spoilt() { # disk: fills it with other data
    fill "$1" 99 $all
}

modprobe null_blk nr_devices=1 gb=1 memory_backed=1
disks
sg=/dev/lab/debug0-sg
by_sg="engine $engine"
fill /dev/lab/debug0 1 $all
fill /dev/nullb0 2 $all
fill /run/file 3 $odd

# Between disks.
to=/dev/lab/debug1
from=/dev/lab/debug0 && spoilt $to && copy $sg $to-sg && as "sg to sg" "$by_sg" $all
from=/dev/lab/debug0 && spoilt $to && copy $sg $to && as "sg to sd" "source: SCSI commands" $all
from=/dev/lab/debug0 && spoilt $to && copy $from $to-sg && as "sd to sg" "destination: SCSI commands" $all
from=/dev/lab/debug0 && spoilt $to && copy --passthrough $from $to && as "sd to sd, passed through" "block device, passthrough" $all
from=/dev/lab/debug0 && spoilt $to && copy --passthrough=dest $from $to
judge "sd to sd, the dest passed through" right "destination: SCSI commands" $all
judge "sd to sd, the source not passed through" silent_about "source: SCSI commands"
from=/dev/nullb0 && spoilt $to && copy --count $all $from $to-sg && as "null_blk to sg" "$by_sg" $all
from=/dev/lab/debug0 to=/dev/nullb0 && spoilt $to && copy $sg $to && as "sg to null_blk" "$by_sg" $all

# Read-back through the same node, and --delta.
from=/dev/lab/debug0 to=/dev/lab/debug1 && spoilt $to && copy --verify $sg $to-sg
judge "sg to sg, read back" right "durable, verified" $all
printf '\1' | dd of=$to bs=1 seek=5000000 conv=notrunc,fsync status=none
copy --delta --verify $sg $to-sg
judge "sg to sg, only what differs" right "wrote 65.5 kB of it; the rest was already identical, verified" $all

# Direct I/O of the driver, if it allows that.
if [ "$engine" = ring ]; then
    copy $sg /run/out
    judge "a copy in the driver is reported" ended 0 "the driver copied all"
fi
echo 1 > /sys/module/sg/parameters/allow_dio
to=/dev/lab/debug1
from=/dev/lab/debug0 && spoilt $to && copy $sg $to-sg && as "sg to sg, the driver may do without a copy" "$by_sg" $all
if [ "$engine" = ring ]; then
    judge "no copy in the driver is reported" silent_about "the driver copied"
fi
echo 0 > /sys/module/sg/parameters/allow_dio

# Streams and files of odd sizes. The rest of the last disk block must not change.
from=/run/file to=/dev/lab/debug1
spoilt $to && copy $from $to-sg && as "file to sg" "$by_sg" $odd
noise 99 $all | tail -c +$((odd + 1)) > /run/rest
judge "file to sg keeps the bytes behind" cmp -i $odd:0 $to /run/rest
spoilt $to && status=0 said=$("$haul" copy -v --yes --restart "${choice[@]}" - $to-sg < <(cat $from) 2>&1) || status=$?
as "pipe to sg" "$by_sg" $odd
to=/run/back && rm -f $to && copy --count $odd /dev/lab/debug1-sg $to && as "sg to file" "$by_sg" $odd
"$haul" copy -v --count $odd "${choice[@]}" /dev/lab/debug1-sg - 2> /run/words | cat > /run/piped
status=${PIPESTATUS[0]} said=$(< /run/words) to=/run/piped
as "sg to pipe" "$by_sg" $odd
spoilt /dev/lab/debug1 && copy --seek 777 $from /dev/lab/debug1-sg
judge "file to sg from within a block on" cmp -n $odd -i 0:777 $from /dev/lab/debug1
judge "file to sg keeps the bytes before" cmp -n 777 <(noise 99 777) /dev/lab/debug1
copy --skip 777 --count $odd /dev/lab/debug1-sg /run/back && from=/run/file to=/run/back
as "sg to file from within a block on" "$by_sg" $odd
truncate -s 8M /run/hollow && noise 4 1M | dd of=/run/hollow bs=1M seek=4 conv=notrunc status=none
from=/run/hollow to=/dev/lab/debug1 && spoilt $to && copy $from $to-sg && as "file with holes to sg" "$by_sg" 8M

# Copies include dirty pages of the block device and invalidate stale ones. An open descriptor keeps the page cache
# alive.
exec 9< /dev/lab/debug0 8< /dev/lab/debug1
cat /dev/lab/debug1 > /dev/null
noise 5 $all | dd of=/dev/lab/debug0 bs=1M iflag=fullblock status=none
copy $sg /dev/lab/debug1-sg
judge "what was only in the cache of the source is copied" cmp <(noise 5 $all) /dev/lab/debug1
exec 9<&- 8<&-

# Writes to a partition stay within its bounds.
spoilt /dev/lab/debug1
echo '2048,8192' | sfdisk -q /dev/lab/debug1 2> /dev/null
disk=$(readlink -f /dev/lab/debug1)
until [ -b "${disk}1" ]; do sleep 0.1; done
dd if=/dev/lab/debug1 of=/run/before bs=1M count=${all%M} iflag=fullblock status=none
copy --count 4M --passthrough=dest /run/hollow "${disk}1"
dd if=/run/hollow of=/run/before bs=1M seek=1 count=4 conv=notrunc status=none
from=/run/before to=/dev/lab/debug1 && as "a partition keeps to its place" "destination: SCSI commands" $all
copy --passthrough=dest /run/file "${disk}1"
judge "more than a partition holds is refused" ended 3 "too small"
mkfs.ext4 -q "${disk}1" && mkdir -p /run/mounted && mount "${disk}1" /run/mounted
copy --count 1M /run/hollow /dev/lab/debug1-sg
judge "a disk with a mounted part is refused by its node" ended 3 "is mounted at /run/mounted"
umount /run/mounted

# A disk without a driver.
device=$(basename "$(readlink -f "$(sys_of /dev/lab/debug1)/device")")
spoilt /dev/lab/debug1
echo "$device" > /sys/bus/scsi/drivers/sd/unbind
copy $sg /dev/lab/debug1-sg
judge "to a disk without a block device" ended 0 "destination: SCSI commands"
copy /dev/lab/debug1-sg /dev/lab/debug1-sg
judge "a disk without a block device onto itself" ended 3 "the same data"
echo "$device" > /sys/bus/scsi/drivers/sd/bind
until disk=$(compgen -G "/sys/bus/scsi/devices/$device/block/*") && [ -b "/dev/${disk##*/}" ]; do sleep 0.1; done
ln -sf "../${disk##*/}" /dev/lab/debug1
judge "a disk without a block device has the bytes" same /dev/lab/debug0 /dev/lab/debug1 $all

# Larger blocks, and block addresses beyond 32 bits.
disks sector_size=4096
fill /dev/lab/debug0 6 $all
from=/dev/lab/debug0 to=/dev/lab/debug1
copy $sg $to-sg && as "sg to sg in blocks of 4096" "$by_sg" $all
from=/run/file && spoilt $to && copy $from $to-sg && as "file to sg in blocks of 4096" "$by_sg" $odd
copy --count $odd $to-sg /run/back && to=/run/back && as "sg to file in blocks of 4096" "$by_sg" $odd
# Disks of QEMU store every block; large disks of scsi_debug repeat their store.
big=/dev/lab/scsi1
for at in $((3 << 40)) $(((2 << 40) - 2000384)); do
    copy --seek $at /run/file $big-sg
    dd if=$big of=/run/back bs=512 skip=$at count=$odd iflag=skip_bytes,count_bytes,fullblock status=none
    judge "written $at bytes into 4 TiB" cmp /run/file /run/back
    copy --skip $at --count $odd $big-sg /run/back && from=/run/file to=/run/back
    as "read $at bytes into 4 TiB" "$by_sg" $odd
    dd if=$big of=/run/elsewhere bs=512 skip=$((at % (2 << 40))) count=1M iflag=skip_bytes,count_bytes status=none
    there=/run/file
    [ "$at" -lt $((2 << 40)) ] || there=/dev/zero
    judge "written $at bytes into 4 TiB and nowhere else" cmp -n 1M /run/elsewhere $there
done

# The disk zeroes blocks if it can; the old data must not remain.
disks lbpu=1 lbpws=1 lbprz=1
from=/run/hollow to=/dev/lab/debug1 && spoilt $to && copy $from $to-sg
as "file with holes to a disk that zeroes by itself" "zeroed by the destination" 8M

# A disk that acknowledges every write but stores nothing, and reads as arbitrary memory.
disks fake_rw=1
copy --verify /run/hollow /dev/lab/debug1-sg
judge "a disk that keeps nothing is found by --verify" ended 1 "on the destination are wrong" "destination: SCSI commands"
