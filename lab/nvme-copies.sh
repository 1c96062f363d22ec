# nvme-copies.sh HAUL ENGINE - copies between an NVMe namespace, with NVMe commands, and all other kinds, with this
# engine.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"

bytes=$((8 << 20))
door=uring_cmd
[ "$engine" = ring ] || door=ioctl
room=/dev/shm
first=/dev/lab/nvme0 second=/dev/lab/nvme1 four=/dev/lab/four scsi=/dev/lab/scsi0
# Includes a drive with 4096-byte blocks and a limit of 16 KiB per command.
link_nvme

copy() { # argument...
    try "$haul" copy -v --yes --restart --progress none --engine "$engine" "$@"
}
# Removes the data of earlier copies.
wipe() { # disk...
    local disk
    for disk in "$@"; do
        blkdiscard -z -l "$bytes" "$disk" && blockdev --flushbufs "$disk"
    done
}
# Succeeds if the last copy succeeded with commands and both sides are equal.
right() { # source dest door...
    local source=$1 dest=$2
    shift 2
    ended 0 "$@" && same "$source" "$dest" "$bytes"
}

noise 1 $bytes > $room/noise
dd if=$room/noise of=$first bs=1M conv=fsync status=none
dd if=$room/noise of=$scsi bs=1M conv=fsync status=none

wipe $second
copy --count $bytes $first-ng $second-ng
judge "ng to ng" right $first $second "to /dev/ng" "($door"

# The whole namespace, so that the last block is included.
dd if=$room/noise of=$first bs=512 seek=32767 count=1 conv=fsync status=none
copy $first-ng $second-ng
judge "a whole namespace, to its last block" ended 0 "($door"
judge "and the last block is copied" same $first $second

wipe $second
copy --count $bytes --passthrough=dest $scsi $second
judge "sd to nvme by --passthrough" right $scsi $second "destination: NVMe commands" "($door"

wipe $second
copy $room/noise $second-ng
judge "file to ng" right $room/noise $second "($door"

copy --count $bytes $first-ng $room/copy
judge "ng to file" right $first $room/copy "($door"
rm $room/copy

wipe $second
copy - $second-ng < $room/noise
judge "pipe to ng" right $room/noise $second "($door"

try bash -c "$haul copy -v --count $bytes --engine $engine --progress none $first-ng - | cmp - $room/noise"
judge "ng to pipe" ended 0 "($door"

wipe $second
copy --count $bytes $first-ng $second
judge "ng to the block layer" right $first $second "source: NVMe commands" "($door"

# Read-back through the same node, and --delta.
wipe $second
copy --count $bytes --verify $first-ng $second-ng
judge "ng to ng, read back" right $first $second "durable, verified" "($door"
printf '\1' | dd of=$second bs=1 seek=5000000 conv=notrunc,fsync status=none
copy --count $bytes --delta --verify $first-ng $second-ng
judge "ng to ng, only what differs" right $first $second "wrote 65.5 kB of it; the rest was already identical, verified"

wipe $four
copy --count $bytes $first-ng $four-ng
judge "512-byte blocks to 4096-byte blocks" right $first $four "($door"

wipe $second
copy --count $bytes --block-size 1M --depth 4 $four-ng $second-ng
judge "blocks longer than the drive's commands" right $four $second "($door"

# Overlapping ranges within one namespace, by one name and by two.
copy --skip 0 --seek 1M --count 6M $first-ng $first-ng
judge "a range that overlaps is moved right" cmp -n $((6 << 20)) $room/noise <(tail -c +$((1 + (1 << 20))) $first)
copy --skip 1M --seek 0 --count 6M $first $first-ng
judge "and back, by the block layer and by commands" cmp -n $((6 << 20)) $room/noise $first
copy $first $first-ng
judge "a node is known to be its block device" ended 3 "are the same data"
dd if=$room/noise of=$first bs=1M conv=fsync status=none

# Offloaded copies by the drive.
wipe $second
copy --count 2M $room/noise $second-ng
copy --offload --skip 0 --seek 3M --count 2M $second-ng $second-ng
judge "a drive copies by itself" ended 0 "offload: source: NVMe" "2097152 copied by the device itself"
judge "and what it copied is right" cmp -n $((2 << 20)) $room/noise <(tail -c +$((1 + (3 << 20))) $second)
copy --offload --count 1M $first-ng $second-ng
judge "offload between two drives is refused with the reason" ended 0 "--offload: source and destination are different devices" "($door"

# Odd lengths. Bytes after the end do not change.
wipe $second
dd if=$room/noise of=$second bs=1M count=4 conv=fsync status=none
head -c 1000003 $room/noise > $room/odd
odd() {
    ended 0 "($door" && cmp $room/odd $room/odd.copy
}
cp $room/noise $room/expected
dd if=$room/odd of=$room/expected conv=notrunc bs=4096 seek=1 status=none
copy --seek 4096 $room/odd $second-ng
blockdev --flushbufs $second
head -c $((4 << 20)) $room/expected > $room/expected.4
judge "an odd length changes nothing behind it" bash -c "cmp -n $((4 << 20)) $room/expected.4 $second"
copy --skip 4096 --count 1000003 $second-ng $room/odd.copy
judge "an odd length is read exactly" odd

# Holes: zeroed by the drive, not transferred.
truncate -s $bytes $room/holes
dd if=$room/noise of=$room/holes bs=1M count=1 seek=3 conv=notrunc status=none
copy $room/noise $second-ng
copy $room/holes $second-ng
judge "holes are zeroed by the drive" right $room/holes $second "zeroed"

# Writes to a partition stay within its bounds, and the page cache is invalidated.
wipe $second
printf 'start=2048,size=4096\nstart=8192,size=8192\n' | sfdisk -q $second > /dev/null 2>&1
partition=$(readlink -f $second)p2
until [ -b "$partition" ]; do sleep 0.1; done
head -c $((4 << 20)) $room/noise > $room/four
dd if=$second of=$room/before bs=1M count=8 status=none
exec 7< "$partition"
cat <&7 > /dev/null
copy --passthrough=dest $room/four "$partition"
judge "a partition is written in its place" ended 0 "($door"
judge "the page cache is dropped after commands wrote" cmp $room/four "$partition"
exec 7<&-
dd if=$room/four of=$room/before bs=512 seek=8192 conv=notrunc status=none
judge "and nothing else of the disk is changed" cmp -n $bytes $room/before $second
exec 7<> "$partition"
tail -c 4096 $room/noise | tee $room/dirty >&7
copy --passthrough=source --count 4096 "$partition" $room/copy
judge "what the page cache holds is written back before" cmp $room/dirty $room/copy
exec 7>&-

# The same safety checks as for the corresponding block device.
mkfs.ext4 -q "$partition" 2> /dev/null
mkdir -p /run/mounted
mount "$partition" /run/mounted
copy $room/four $second-ng
judge "a mounted partition protects the whole node" ended 3 "mounted at /run/mounted"
umount /run/mounted
