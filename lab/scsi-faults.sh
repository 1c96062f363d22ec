#!/bin/bash
# Disk errors, in virtual time: every copy is either correct or fails with a report; it never ends with status 0 and
# wrong data. Arguments: the haul binary and an engine.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
from=/dev/lab/debug0 to=/dev/lab/debug1
mib=8 # of each disk
disks() { debug_disks dev_size_mb=$mib "$@"; }
copy() { try $haul copy -v --yes --restart --engine "$engine" --block-size 64K "$@"; }
right() { ended 0 "$@" && same $from $to; }
right_or_reported() {
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
wiped() { dd if=/dev/zero of=$to bs=1M count=$mib oflag=direct status=none; }
copy_spoilt() { # opts every_nth haul's-words...
    wiped || echo "FAIL nothing could be wiped: $*"
    spoil "$1" "$2"
    shift 2
    copy "$@"
    spoil 0 0
}

# Blocks 0x1234 to 0x123d of this disk are unreadable.
bad=$((0x1234)) at=$((0x1234 * 512))
disks ndelay=100000 opts=2
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

disks ndelay=100000
fill $from 1 ${mib}M
copy_spoilt 8 7 $from-sg $to-sg
judge "recovered errors" right "recovered by the disk"
copy_spoilt 0x10 7 $from-sg $to-sg
judge "aborted commands" right "retried after the disk aborted"
copy_spoilt 0x100 7 $from-sg $to-sg
judge "short transfers" right "short transfers, continued"
copy_spoilt 0x20 7 $from-sg $to-sg
judge "failed guard checks" right_or_reported
copy_spoilt 0x8000 7 $from-sg $to-sg
judge "a busy host" right
copy_spoilt 4 21 --command-timeout 3 $from-sg $to-sg
judge "occasional time-outs" right_or_reported
copy_spoilt 0x10 7 $from-sg $to
judge "aborted commands by sd too" right
copy_spoilt 0x40 7 $from-sg $to-sg
judge "failed checks of what the host adds" right_or_reported
copy_spoilt 0x80 21 --command-timeout 3 $from-sg $to-sg
judge "time-outs of the medium" right_or_reported
copy_spoilt 0x10000 21 --command-timeout 3 $from-sg $to-sg
judge "commands that the kernel aborts" right_or_reported

# A rescue: what timed out is tried again later, and the rescue does not end by it.
rescue() { try $haul rescue --progress none --json --read-timeout 1,2 "$@" $from-sg /run/rescued /run/rescued.map; }
spoil 4 21
rescue
judge "time-outs in a rescue" ended 1 '"status": "complete"' '"read_timeouts_s": [ 1.0, 2.0 ]'
judge "time-outs in a rescue are bad sectors" silent_about '"bad_bytes": 0,'
spoil 0 0
rescue --retries 1
judge "a rescue after time-outs" ended 0 '"missing_bytes": 0,'
judge "a rescue after time-outs, all of it" same $from /run/rescued
rm -f /run/rescued /run/rescued.map

# The same through the block layer, which handles the errors.
while read -r opts nth name; do
    copy_spoilt "$opts" "$nth" $from $to < /dev/null
    case $name in
        recovered* | short* | "a busy"*) judge "$name" right ;;
        *) judge "$name" right_or_reported ;;
    esac
done << END
8 7 recovered errors by sd
0x10 7 aborted commands of both sides by sd
0x100 7 short transfers by sd
0x20 7 failed guard checks by sd
0x40 7 failed checks of what the host adds by sd
0x8000 7 a busy host by sd
4 21 occasional time-outs by sd
0x80 21 time-outs of the medium by sd
0x10000 21 commands that the kernel aborts by sd
END

during() { # event source dest option...: runs the event during the copy
    local event=$1 before
    shift
    before=$(done_by $to)
    $haul copy -v --yes --restart --engine "$engine" --block-size 64K --depth 4 "${@:3}" "$1" "$2" 2> /run/words &
    copying=$!
    # Waits for the first write commands, after the initial queries. Virtual time jumps ahead, so only polling from
    # memory works, without files of the host.
    until (($(done_by $to) > before + 40)) || ! kill -0 $copying; do /run/busybox sleep 0.02; done
    # A copy that ends before the event does not test it.
    kill -0 $copying || echo "the copy was over too early" >> /run/words
    $event
    status=0
    wait $copying || status=$?
    said=$(< /run/words)
}
in_time() { silent_about "over too early"; }

# After a reset, the next command reports it. These copies take longer, because virtual time jumps ahead while
# sg_reset is loaded.
mib=16
disks ndelay=20000000
fill $from 3 ${mib}M
memory_root sg_reset
reset() { # disk
    in_memory sg_reset --device "$1-sg" > /dev/null
    kill -0 $copying || echo "the copy was over too early" >> /run/words
}
reset_source() { reset $from; }
reset_dest() { reset $to; }
for side in source dest; do
    wiped
    during reset_$side $from-sg $to-sg
    judge "a $side that is reset in mid-copy" right "after a unit attention"
    wiped
    during reset_$side $from $to
    judge "a $side that is reset in mid-copy, by sd" right
    judge "it was reset in mid-copy, the $side" in_time
done

# Commands time out from the middle of a copy on.
no_answer() { spoil 4 1; }
during no_answer $from-sg $to-sg --command-timeout 2
spoil 0 0
# The first command without an answer may be the flush of a checkpoint, which has no offset.
judge "no answer any more" ended 1 "cannot " "timeout"
judge "no process waits for an answer" nothing_left $to

mib=8
disks ndelay=2000000
fill $from 2 ${mib}M
wiped
echo 2 > "$scsi_debug/max_queue"
copy --depth 16 $from-sg $to-sg
echo 64 > "$scsi_debug/max_queue"
judge "a queue that is full" right "full queue"

# TASK SET FULL occasionally, whenever one slot remains.
rarely_full() { # source dest
    echo 4 > "$(sys_of $from)/device/queue_depth"
    echo 4 > "$(sys_of $to)/device/queue_depth"
    copy_spoilt 0x800 7 --depth 16 "$@"
}
rarely_full $from-sg $to-sg
judge "a queue that is full occasionally" right "full queue"
rarely_full $from $to
# scsi_debug also reports DID_ABORT, which the block layer does not retry; haul does, once.
judge "a queue that is full occasionally, by sd" right_or_reported
