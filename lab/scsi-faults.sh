#!/bin/bash
# Faults of disks, in virtual time: the copy is right or its failure is told,
# never wrong with status 0. Arguments are haul's binary and an engine.
set -u
here=$(dirname "$0")
. "$here/disks.sh"
. "$here/judge.sh"
haul=$1
engine=$2
from=/dev/lab/debug0 to=/dev/lab/debug1
copy() { try "$haul" copy --yes --engine "$engine" --block-size 64K "$@"; }
right() { ended 0 "$@" && same $from $to; }
right_or_told() {
    case $status in
        0) same $from $to ;;
        1) ended 1 "cannot " "at byte" ;;
        *) ended 0 ;;
    esac
}

spoil() { # opts every_nth
    echo 0 > "$scsi_debug/every_nth"
    echo "$1" > "$scsi_debug/opts"
    echo "$2" > "$scsi_debug/every_nth"
}
wiped() { dd if=/dev/zero of=$to bs=1M count=16 oflag=direct status=none; }
copy_spoilt() { # opts every_nth haul's-words...
    wiped || echo "FAIL nothing could be wiped: $*"
    spoil "$1" "$2"
    shift 2
    copy "$@"
    spoil 0 0
}

# Blocks 0x1234 to 0x123d of this disk cannot be read.
bad=$((0x1234)) at=$((0x1234 * 512))
debug_disks ndelay=100000 opts=2
copy $from-sg $to-sg
judge "medium error by sg" ended 1 "cannot read source" "at byte $at (sector $bad" "LBA $bad" "unrecovered read error"
copy $from $to
judge "medium error by sd" ended 1 "cannot read source" "at byte $at (sector $bad"
copy --count $at $from-sg $to-sg
judge "up to the medium error by sg" ended 0
copy --skip $((at + 10 * 512)) --seek $((at + 10 * 512)) $from-sg $to-sg
judge "behind the medium error by sg" ended 0
echo 1 > "$scsi_debug/dsense"
copy $from-sg $to-sg
judge "medium error without its place by sg" ended 1 "at byte $at (sector $bad" "unrecovered read error"
echo 0 > "$scsi_debug/dsense"
modprobe dm-mod
dmsetup create bad --table "0 4660 linear $to 0
4660 8 error
4668 100 linear $to 4668"
copy /dev/mapper/bad /run/out
judge "dm-error" ended 1 "cannot read source" "at byte $at (sector $bad"
dmsetup remove bad

debug_disks ndelay=100000
fill $from 1 16M
copy_spoilt 8 7 $from-sg $to-sg
judge "recovered errors" right "disk recovered from"
copy_spoilt 0x10 7 $from-sg $to-sg
judge "aborted commands" right "given again after the disk aborted"
copy_spoilt 0x100 7 $from-sg $to-sg
judge "short transfers" right "short and were continued"
copy_spoilt 0x20 7 $from-sg $to-sg
judge "failed guard checks" right_or_told
copy_spoilt 0x8000 7 $from-sg $to-sg
judge "a busy host" right
copy_spoilt 4 21 --command-timeout 3 $from-sg $to-sg
judge "time-outs now and then" right_or_told
copy_spoilt 0x10 3 $from-sg $to
judge "aborted commands by sd too" right

# An answer that never comes, from the middle of a copy on.
debug_disks ndelay=20000000
before=$(done_by $to)
"$haul" copy --yes --engine "$engine" --block-size 64K --depth 4 --command-timeout 2 $from-sg $to-sg 2> /run/words &
copying=$!
# Once commands that write are done, and none of the first ones that only ask. Time leaps here: no pause will do.
until (($(done_by $to) > before + 40)) || ! kill -0 $copying; do sleep 0.02; done
spoil 4 1
status=0
wait $copying || status=$?
said=$(< /run/words)
spoil 0 0
judge "no answer any more" ended 1 "cannot " "at byte" "time-out"
judge "nobody waits for an answer" nobody_waits

debug_disks ndelay=2000000
fill $from 2 16M
wiped
echo 2 > "$scsi_debug/max_queue"
copy --depth 16 $from-sg $to-sg
echo 64 > "$scsi_debug/max_queue"
judge "a queue that is full" right "full queue"
