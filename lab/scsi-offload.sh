#!/bin/bash
# Disks that support offloaded copies (LIO), and disks reserved by others. Argument: the haul binary.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
copy() { try "$haul" copy -v --yes --restart --progress none "$@"; }
size=$((16 << 20))

lio_disks
from=/dev/lab/lio0 to=/dev/lab/lio1
fill $from 1 16M
by_itself() { # bytes: this number was offloaded, and all are correct
    ended 0 "offload: source: SCSI commands" "$1 copied by the device itself" && same $from $to
}
try "$haul" copy -v --dry-run --offload $from-sg $to-sg
judge "the plan has the copy by the disk" ended 0 "offload" "the device copies the data"
copy --offload $from-sg $to-sg
judge "a disk copies by itself from another" by_itself $size
try "$haul" verify -v $from-sg $to-sg
judge "and what it copied is verified" ended 0
wipe $to
copy --offload --skip 1M --seek 1M --count 3M $from-sg $to-sg
dd if=$from of=/run/expected bs=1M skip=1 count=3 status=none
dd if=$to of=/run/found bs=1M count=5 iflag=direct status=none
placed() {
    ended 0 "3145728 copied by the device itself" &&
        cmp /run/expected <(tail -c +$(((1 << 20) + 1)) /run/found | head -c 3M) &&
        cmp -n $((1 << 20)) /run/found /dev/zero && cmp -n $((1 << 20)) <(tail -c 1M /run/found) /dev/zero
}
judge "a range is copied to its place and nowhere else" placed
copy --offload --skip 0 --seek 8M --count 4M $to-sg $to-sg
judge "a disk copies within itself" ended 0 "4194304 copied by the device itself"
judge "and that is right" cmp -n $((4 << 20)) $to <(tail -c +$(((8 << 20) + 1)) $to)
wipe $to
copy --offload --passthrough --count 1M $from $to
judge "block devices that are passed through copy by themselves" ended 0 "1048576 copied by the device itself"
copy --offload --count 1000 $from-sg $to-sg
judge "what is no whole block goes through haul" ended 0 "not a multiple of the device block size" "haul copies the data itself"

# Reserved by another host.
other=/dev/lab/lio1-other-sg
reserve() { # type
    sg_persist -n --out --register --param-sark=0x1 $other &&
        sg_persist -n --out --reserve --param-rk=0x1 --prout-type="$1" $other
}
release() { sg_persist -n --out --clear --param-rk=0x1 $other; }
judge "a reservation is taken" reserve 3
copy $from-sg $to-sg
judge "a reserved dest" ended 3 "destination $to-sg" "RESERVATION CONFLICT: reserved by another host" "sg_persist"
copy $to-sg /run/out
judge "a reserved source" ended 3 "source $to-sg" "RESERVATION CONFLICT"
release
reserve 1
copy --count 1M $to-sg /run/out
judge "what is reserved for writing can be read" ended 0 "source: SCSI commands"
copy $from-sg $to-sg
judge "what is reserved for writing is not written" ended 3 "RESERVATION CONFLICT" "destination $to-sg"
copy --offload $from-sg $to-sg
judge "nor by itself" ended 3 "RESERVATION CONFLICT" "destination $to-sg"
release
copy $from-sg $to-sg
judge "and what was released is written" ended 0

# Disks that cannot offload, or not from this source.
debug_disks ndelay=0
fill /dev/lab/debug0 2 16M
copy --offload /dev/lab/debug0-sg $to-sg
judge "a source that the copy manager does not take" ended 0 "refuses the offloaded copy" "haul copies the data itself"
judge "goes through haul and is right" same /dev/lab/debug0 $to
copy --offload --count 1M $from-sg /dev/lab/debug1-sg
judge "a dest without a copy manager is reported" ended 0 "--offload: the destination does not support offloaded copies"
