# mappings.sh HAUL ENGINE - copies to and from device-mapper devices that corrupt data, fail, are slow, hang or are
# replaced. tests/lab/mappings.rs lists the checks.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"

bytes=$((8 << 20)) sectors=16384
modprobe dm-mod
modprobe brd rd_nr=2 rd_size=$((bytes >> 10))
from=/dev/ram0 below=/dev/ram1 over=/dev/mapper/over
noise 1 $bytes > /run/noise
dd if=/run/noise of=$from bs=1M oflag=direct status=none

copy() { try $haul copy -v --yes --restart --progress none --engine "$engine" --block-size 64K --depth 4 "$@"; }
verify() { try $haul verify -v --progress none --engine "$engine" --block-size 64K --depth 4 "$@"; }
# Creates a mapping with this table on a zeroed disk.
mapped() { # table
    dmsetup remove over 2> /dev/null
    dd if=/dev/zero of=$below bs=1M count=8 oflag=direct status=none
    dmsetup create over --table "$1"
}
# Compares both an uncached read of the mapping and the underlying disk with the source.
right() { # haul's-words...
    ended 0 "$@" && dd if=$over bs=1M iflag=direct status=none | cmp - /run/noise
}
differs() { ! cmp -s "$1" "$2"; }

# Disks that silently lose or corrupt data: only a comparison detects it. They do so permanently (0 s up, 1 s down),
# so rewriting does not help.
mapped "0 $sectors flakey $below 0 0 1 1 drop_writes"
copy $from $over
judge "a copy to a disk that drops what is written ends well" ended 0 "copied 8"
verify $from $over
judge "verify finds that nothing was written" ended 1 "different" "first byte 0"
blockdev --flushbufs $over
judge "cmp finds it too" differs $from $over
copy --verify $from $over
judge "copy --verify finds it by itself" ended 1 "8.39 MB on the destination are wrong" "differ on the destination: 0+8388608"
# The destination differs in one byte, and the write of --delta is lost.
noise 1 $bytes | dd of=$below bs=1M iflag=fullblock oflag=direct status=none
printf '\1' | dd of=$below bs=1 seek=5000000 conv=notrunc,fsync status=none
blockdev --flushbufs $below $over
copy --delta --verify --manifest-block 64K $from $over
judge "copy --delta --verify finds the one piece of it" ended 1 "65.5 kB on the destination are wrong" "differ on the destination: 4980736+65536"
mapped "0 $sectors flakey $below 0 0 1 5 corrupt_bio_byte 32 w 255 0"
copy $from $over
judge "a copy to a disk that changes what is written ends well" ended 0 "copied 8"
verify $from $over
judge "verify finds the byte that was changed" ended 1 "different" "first byte 31"
blockdev --flushbufs $over
judge "cmp finds that byte too" differs $from $over
# Until Linux 6.5 the corruption also changes the memory of the writer before digests are calculated; the page cache
# protects it.
copy --verify --direct never $from $over
judge "copy --verify finds it by itself, too" ended 1 "on the destination are wrong" "differ on the destination"
mapped "0 $sectors flakey $from 0 0 1 5 corrupt_bio_byte 32 r 255 0"
verify /run/noise $over
judge "verify finds a byte that is changed as it is read" ended 1 "different" "first byte 31"
mapped "0 $sectors flakey $below 0 0 1 5 corrupt_bio_byte 32 r 255 0"
copy --verify /run/noise $over
judge "copy --verify finds a byte that is changed as it is read back" ended 1 "on the destination are wrong"
judge "and what is there is right" cmp $below /run/noise

# Disks that fail at known sectors.
mapped "0 $sectors flakey $below 0 0 1 1 error_writes"
copy $from $over
judge "a disk that takes no writes" ended 1 "cannot write destination $over" "at byte 0 (sector 0"
at=4096 # sectors
holed() { # disk
    printf '%s\n' "0 $at linear $1 0" "$at 8 error" "$((at + 8)) $((sectors - at - 8)) linear $1 $((at + 8))"
}
mapped "$(holed $from)"
copy $over /run/out
judge "a hole in the source" ended 1 "cannot read source $over" "at byte $((at * 512)) (sector $at"
mapped "$(holed $below)"
copy $from $over
judge "a hole in the dest" ended 1 "cannot write destination $over" "at byte $((at * 512)) (sector $at"
judge "the bytes before it are copied" cmp -n $((at * 512)) $below /run/noise

# Slow disks.
mapped "0 $sectors delay $below 0 8"
copy $from $over
judge "a slow dest" right
mapped "0 $sectors delay $from 0 8 $below 0 4"
copy $over /run/out
judge "a slow source" ended 0
judge "a slow source is read right" cmp /run/out /run/noise

# Disks that hang during a copy, and then resume or fail. A gate holds eight blocks in the middle, so that the copy
# is in progress while the gate is closed, on a guest of any speed.
gate=$((sectors / 2)) behind=1024 # sectors
gated() { # disk
    dmsetup remove over 2> /dev/null
    dmsetup remove gate 2> /dev/null
    dmsetup create gate --table "0 $behind linear $1 $gate"
    mapped "0 $gate linear $1 0
$gate $behind linear /dev/mapper/gate 0
$((gate + behind)) $((sectors - gate - behind)) linear $1 $((gate + behind))"
    dmsetup suspend --nolockfs --noflush gate
}
during() { # event source dest
    local event=$1 copying mapping
    mapping=/sys/block/dm-$(dmsetup info -c --noheadings -o minor over)
    $haul copy -v --yes --restart --progress none --engine "$engine" --block-size 64K --depth 4 "$2" "$3" 2> /run/words &
    copying=$!
    # Most of the blocks before the gate: more than haul's first probes of the disk.
    until (($(requests_done "$mapping") > 60)) || ! kill -0 $copying; do sleep 0.02; done
    kill -0 $copying || echo "the copy was over too early" >> /run/words
    $event
    status=0
    wait $copying || status=$?
    said=$(< /run/words)
}
# Completed requests of the mapping.
requests_done() {
    local fields
    read -ra fields < "$1/stat"
    echo $((fields[0] + fields[4]))
}
stand_still() {
    sleep 2
    stood=no
    ! kill -0 "$copying" || stood=yes
    dmsetup resume gate
}
become_bad() {
    dmsetup load gate --table "0 $behind error"
    dmsetup resume gate
}
gated $below
during stand_still $from $over
judge "a dest that stood still" right "copied 8"
judge "the copy waited for the dest" [ "$stood" = yes ]
gated $below
during become_bad $from $over
judge "a dest that became bad" ended 1 "cannot write destination $over" "at byte $((gate * 512)) (sector $gate"
gated $from
during stand_still $over $below
judge "a source that stood still" ended 0 "copied 8"
judge "a source that stood still was read right" cmp $below /run/noise
judge "the copy waited for the source" [ "$stood" = yes ]
gated $from
during become_bad $over $below
judge "a source that became bad" ended 1 "cannot read source $over" "at byte $((gate * 512)) (sector $gate"
dmsetup remove over
dmsetup remove gate
judge "nothing is left of the copies" nothing_left $below
