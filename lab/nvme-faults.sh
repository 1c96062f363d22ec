# nvme-faults.sh HAUL ENGINE - errors of NVMe drives, and drives that cannot be copied, with this engine.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"

room=/dev/shm
bad=/dev/lab/nvme-bad
link_nvme

copy() { # argument...
    try "$haul" copy -v --yes --restart --progress none --engine "$engine" "$@"
}

# Sector 8192 of nvme-bad is unreadable, sector 16384 is unwritable.
noise 1 $((12 << 20)) > $room/noise
dd if=$room/noise of=$bad bs=1M count=8 conv=fsync status=none
copy $bad-ng $room/copy
judge "a block that cannot be read is named" \
    ended 1 "at byte 4194304 (sector 8192 of 512 bytes)" "unrecovered read error (NVMe status 2/81), LBA 8192"
judge "and the command for the rest is printed" ended 1 "haul copy --skip 4194304 --seek 4194304"
judge "and the bytes before it are copied" cmp -n 4194304 $room/noise $room/copy
rm -f $room/copy
copy --skip 4194816 --count 4193792 $bad-ng $room/copy
judge "behind it the copy goes on" ended 0
judge "and is right" cmp $room/copy <(tail -c +4194817 $room/noise | head -c 4193792)
rm -f $room/copy
copy --block-size 1000448 --depth 3 $bad-ng $room/copy
judge "it is named with any block size" ended 1 "LBA 8192" "at byte 4194304"
rm -f $room/copy

copy $room/noise $bad-ng
judge "a block that cannot be written is named" \
    ended 1 "at byte 8388608 (sector 16384 of 512 bytes)" "write fault (NVMe status 2/80), LBA 16384"
judge "and the bytes before that are copied" ended 1 "the first 8.39 MB (8388608 bytes), contiguous"

# The same through the block layer, which reports the offset but not the reason.
copy $bad $room/copy
judge "by the block layer, too, a block that cannot be read is named" \
    ended 1 "cannot read source $bad" "at byte 4194304 (sector 8192 of 512 bytes)"
judge "and the bytes before it are copied by the block layer" cmp -n 4194304 $room/noise $room/copy
rm -f $room/copy
copy $room/noise $bad
judge "by the block layer, too, a block that cannot be written is named" \
    ended 1 "cannot write destination $bad" "at byte 8388608 (sector 16384 of 512 bytes)"

# Unsupported drives, and missing permissions.
copy /dev/lab/metadata-ng $room/copy
judge "metadata that would be lost is refused" ended 1 "8 bytes of metadata" "cannot be used"
copy $room/noise /dev/lab/zoned-ng
judge "a zoned namespace is refused" ended 1 "zoned" "cannot be used"
ng=$(readlink -f /dev/lab/nvme0-ng)
copy "/dev/nvme$(basename "$ng" | sed 's/ng\([0-9]*\)n.*/\1/')" $room/copy
judge "a controller is no disk" ended 2 "that holds no data"
chmod 666 "$ng" "$(readlink -f /dev/lab/nvme0)"
chmod 777 $room
try setpriv --reuid 65534 --regid 65534 --clear-groups \
    "$haul" copy -v --yes --restart --progress none --engine "$engine" "$ng" $room/copy.nobody
judge "a missing permission for commands is reported" ended 1 "ermission denied"

removed() { # name
    local controller
    controller=$(basename "$(readlink -f "/dev/lab/$1-ng")" | sed 's/ng\([0-9]*\)n.*/nvme\1/')
    echo 1 > "/sys/class/nvme/$controller/device/remove"
}
finished() {
    status=0
    wait $running || status=$?
    said=$(tr -s ' \n' ' ' < $room/words)
}

# Rescues. The drive of qemu always has 50 °C.
rescue() { # argument... : starts one
    rm -f $room/rescued $room/map
    "$haul" rescue --progress plain "$@" $room/rescued $room/map > $room/words 2>&1 &
    running=$!
}
said_by_then() { # words : waits for them
    until grep -q "$1" $room/words || ! kill -0 $running 2> /dev/null; do sleep 0.1; done
}
for way in "" -ng; do
    rescue --max-temperature 45 "$bad$way"
    said_by_then "paused at 50"
    kill -TERM $running
    finished
    judge "a rescue of a warm drive pauses, nvme-bad$way" \
        ended 143 "no read begins until it has 40 °C" "rescued 0 bytes" "continue haul rescue"
    rescue --max-temperature 60 "$bad$way"
    finished
    judge "and goes on below the limit, nvme-bad$way" ended 1 "bad sectors 512 bytes" "temperature 50 °C"
done
for way in "" -ng; do
    rescue --max-read-rate 2M --reconnect 5m "/dev/lab/nvme0$way"
    said_by_then ' MB, in '
    removed nvme0
    said_by_then "haul waits up to"
    echo 1 > /sys/bus/pci/rescan
    finished
    judge "a drive that comes back is known by its serial number, nvme0$way" \
        ended 0 "with serial number nvme0 is back as" "100.0000 %"
    link_nvme
    judge "and all of it is rescued, nvme0$way" cmp $room/rescued /dev/lab/nvme0
done
rm -f $room/rescued $room/map

# Removal during a copy.
under_way() { # argument... : starts a slow copy, waits for its first bytes
    "$haul" copy -v --yes --restart --progress plain --limit 1M --engine "$engine" "$@" > $room/words 2>&1 &
    running=$!
    until grep -q ' of 1[26]\.[68] MB' $room/words || ! kill -0 $running 2> /dev/null; do sleep 0.1; done
}
rm -f $room/copy
under_way /dev/lab/nvme0-ng $room/copy
removed nvme0
finished
judge "a source that is pulled out is reported" ended 1 "source /dev/lab/nvme0-ng has disappeared: cannot read it at byte"
judge "and the command for the rest from there is printed" ended 1 "To copy the rest" "haul copy --skip"
under_way $room/noise /dev/lab/nvme1-ng
removed nvme1
finished
judge "a dest that is pulled out is reported" ended 1 "destination /dev/lab/nvme1-ng has disappeared: cannot write it at byte"
judge "nothing is left of those copies" nothing_left
