#!/bin/bash
# on-error.sh HAUL - disks with bad sectors: everything else is copied, bad sectors become zeros, and the mapfile
# lists them; with both engines.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
from=/dev/lab/debug0 to=/dev/lab/debug1

copy() { # argument...
    rm -f /run/map
    try $haul copy -v --yes --restart --progress none --engine "$engine" --block-size 64K --on-error skip --mapfile /run/map "$@"
}
holes() { # file first-sector sectors: writes zeros
    dd if=/dev/zero of="$1" bs=512 seek="$2" count="$3" conv=notrunc status=none
}
# The bad areas of a mapfile, as lines of "first-byte bytes".
listed() { awk '$3 == "-" { print $1, $2 }' /run/map; }
lists() { [ "$(listed)" = "$1" ] || { listed; return 1; }; }
unread() { # sectors: the last copy skipped this number
    ended 1 "$1 sectors could not be read" "the destination has zeros in their place"
}

# Blocks 0x1234 to 0x123d become unreadable after they have been written.
debug_disks ndelay=100000 opts=0
fill $from 1 16M
noise 1 16M > /run/expected
holes /run/expected $((0x1234)) 10
noise 2 16M > /run/stale
modprobe dm-mod
echo 2 > "$scsi_debug/opts"
for engine in ring threads; do
    for way in "sg sg" "sd sd" "sg sd" "sd sg" "sg file" "sd file"; do
        read -r one other <<< "$way"
        source=$from dest=$to
        [ "$one" = sd ] || source=$from-sg
        case $other in
            sg) dest=$to-sg ;;
            file) dest=/run/copy ;;
        esac
        # The old data must not remain.
        [ "$other" = file ] || dd if=/run/stale of=$to bs=1M oflag=direct status=none
        rm -f /run/copy
        copy $source $dest
        judge "medium errors, $one to $other by $engine" unread 10
        # The destination has such blocks, too: writable, but not comparable.
        echo 0 > "$scsi_debug/opts"
        judge "medium errors, $one to $other by $engine, all else" same "${dest%-sg}" /run/expected
        echo 2 > "$scsi_debug/opts"
        judge "medium errors, $one to $other by $engine, the list" lists "0x00246800 0x00001400"
    done
    echo 0 > "$scsi_debug/opts"
    dmsetup create bad --table "0 4660 linear $to 0
4660 8 error
4668 28091 linear $to 4668
32759 9 error"
    dd if=/run/stale of=$to bs=1M oflag=direct status=none
    cp /run/stale /run/bad
    holes /run/bad 4660 8
    holes /run/bad 32759 9
    rm -f /run/copy
    copy /dev/mapper/bad /run/copy
    judge "dm-error by $engine" unread 17
    judge "dm-error by $engine, all else" same /run/copy /run/bad
    judge "dm-error by $engine, the list" lists "0x00246800 0x00001000
0x00FFEE00 0x00001200"
    try $haul verify -v --progress none --engine "$engine" --on-error skip /dev/mapper/bad /run/stale
    judge "dm-error by $engine, verified" ended 1 "equal in everything that could be read" "17 sectors could not be read"
    dmsetup remove bad
    echo 2 > "$scsi_debug/opts"
done

# A rescue by commands: the disk reports each bad sector, which costs one failed read; the first one is checked.
cp /run/expected /run/rescuable
rescue() { # argument...
    rm -f /run/rescued /run/map
    try $haul rescue --progress none --json "$@" /run/rescued /run/map
}
rescued() { # failed-reads
    ended 1 "\"failed_reads\": $1," '"bad_bytes": 5120,'
}
rescue $from-sg
judge "rescue by sg" rescued 11
judge "rescue by sg, all else" same /run/rescued /run/rescuable
judge "rescue by sg, the list" lists "0x00246800 0x00001400"
judge "rescue by sg, time limits" ended 1 '"read_timeouts_s": [ 3.0, 10.0 ]' '"kernel_timeout_s": null'
rescue $from
judge "rescue by sd, all else" same /run/rescued /run/rescuable
judge "rescue by sd, the list" lists "0x00246800 0x00001400"
judge "rescue by sd, time limits" ended 1 '"read_timeouts_s": null' '"kernel_timeout_s": 30.0' "with --passthrough, haul reads by"

# An NVMe drive whose sector 8192 is unreadable.
bad=/dev/lab/nvme-bad
noise 3 8M > /run/nvme
dd if=/run/nvme of=$bad bs=1M count=8 conv=fsync status=none
holes /run/nvme 8192 1
for engine in ring threads; do
    for way in ng block; do
        source=$bad
        [ $way = block ] || source=$bad-ng
        rm -f /run/copy
        copy --count 8M $source /run/copy
        judge "$way by $engine" ended 1 "1 sector could not be read" "4194304+512"
        judge "$way by $engine, all else" same /run/copy /run/nvme
    done
done
