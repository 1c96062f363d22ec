#!/bin/bash
# Disks that disappear or hang during a copy. Arguments: the haul binary and an engine.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
from=/dev/lab/debug0 to=/dev/lab/debug1

during() { # event source dest option...
    local event=$1 copying before
    shift
    before=$(done_by $to)
    "$haul" copy -v --yes --restart --block-size 64K --depth 4 --progress none "${@:3}" "$1" "$2" 2> /run/words &
    copying=$!
    # Waits for the first write commands, after the initial queries.
    until (($(done_by $to) > before + 40)) || ! kill -0 $copying; do sleep 0.02; done
    # A copy that ends before the event does not test it.
    kill -0 $copying || echo "the copy was over too early" >> /run/words
    $event
    status=0
    wait $copying || status=$?
    said=$(< /run/words)
}
remove_source() { echo 1 > "$(sys_of $from)/device/delete"; }
remove_dest() { echo 1 > "$(sys_of $to)/device/delete"; }
slow() { debug_disks ndelay=30000000; }

slow && during remove_source $from-sg $to-sg --engine "$engine"
judge "source removed, by sg" ended 1 "source $from-sg has disappeared" "at byte" "haul copy" "--resume"
judge "nothing is left of a copy whose source was removed, by sg" nothing_left $to
slow && during remove_dest $from-sg $to-sg --engine "$engine"
judge "dest removed, by sg" ended 1 "destination $to-sg has disappeared" "at byte" "Copy again from the start"
slow && during remove_source $from $to --engine "$engine"
judge "source removed, by sd" ended 1 "source $from has disappeared" "at byte" "haul copy" "--resume"
judge "nothing is left of a copy whose source was removed, by sd" nothing_left $to
slow && during remove_dest $from $to --engine "$engine"
judge "dest removed, by sd" ended 1 "destination $to has disappeared" "at byte" "Copy again from the start"
judge "nothing is left of copies whose disk was removed" nothing_left $from
judge "nor of the removed disks" can_be_unloaded scsi_debug

# A rescue waits for a disk that drops off the bus, and continues with it, whatever its name is then.
drop_and_return() {
    local host
    host=$(readlink -f "$(sys_of $from)/device")
    host=${host%/target*}
    remove_source
    kill -CONT $rescuing
    until grep -q disappeared /run/words || ! kill -0 $rescuing; do sleep 0.02; done
    echo "- - -" > "$host/scsi_host/${host##*/}/scan"
}
rescue_begins() { # option...: rescues in the background as $rescuing, until some of it was read
    rm -f /run/rescued /run/rescued.map
    "$haul" rescue --progress none --json --max-read-rate 1MB "$@" /run/rescued > /run/json 2> /run/words &
    rescuing=$!
    until [ "$(stat -c %b /run/rescued 2> /dev/null || echo 0)" -gt 500 ] || ! kill -0 $rescuing; do sleep 0.02; done
    # Until the disk is removed it reads nothing more, however long that takes.
    kill -STOP $rescuing
    [ "$(stat -c %b /run/rescued)" -lt 30000 ] || echo "the rescue was over too early" >> /run/words
}
rescue_ends() {
    status=0
    wait $rescuing || status=$?
    said=$(cat /run/words /run/json)
}
rescued_over() { # option...: rescues $from, which drops off the bus when some of it was read
    rescue_begins "$@"
    drop_and_return
    rescue_ends
}
for way in sd sg; do
    slow
    noise 5 16M > /run/expected
    dd if=/run/expected of=$from bs=1M oflag=direct status=none
    source=$from
    [ $way = sd ] || source=$from-sg
    rescued_over $source
    judge "a rescue waits for its source, by $way" ended 0 "has disappeared" "is back as /dev/sd" '"missing_bytes": 0,'
    judge "it was lost in mid-rescue, by $way" silent_about "over too early"
    judge "a rescue that waited is right, by $way" same /run/expected /run/rescued
done
slow
rescue_begins $from
remove_source
kill -CONT $rescuing
until grep -q disappeared /run/words || ! kill -0 $rescuing; do sleep 0.02; done
# The shell lets background processes ignore SIGINT.
kill -TERM $rescuing
rescue_ends
judge "a signal ends the waiting for a disk, with a report" ended 143 '"interrupted"' '"is_saved": true' "has disappeared"
rm -f /run/rescued /run/rescued.map
rmmod scsi_debug

# Without MAP, that of a disk is named by its identity; it is never continued unnamed, nor for another source.
debug_disks
noise 5 16M > /run/expected
dd if=/run/expected of=$from bs=1M oflag=direct status=none
export XDG_STATE_HOME=/run/map-of-disk
try "$haul" rescue --progress none $from $to
judge "nothing is created before the user agrees" [ ! -e $XDG_STATE_HOME ]
try "$haul" rescue --progress none --yes $from $to
judge "a rescue to a disk needs no map" ended 0 "$XDG_STATE_HOME/haul/"
judge "a rescue to a disk is right" same $from $to 16M
map=$(echo $XDG_STATE_HOME/haul/*.map)
try "$haul" rescue --progress none --yes $from $to
judge "the map of a disk is not continued unnamed" ended 3 "has left its map $map" "continues it"
try "$haul" rescue --progress none --yes $from $to "$map"
judge "the map of a disk is continued by name" ended 0
try "$haul" rescue --progress none --yes /run/expected $to "$map"
judge "another source is refused by the identity in the map" ended 3 "is of another source"
unset XDG_STATE_HOME
rmmod scsi_debug

# shellcheck source=lab/measured-removal.sh
. "$lab/measured-removal.sh"

# A device that hangs for a while.
modprobe dm-mod
stand_still() {
    dmsetup suspend --nolockfs --noflush still
    sleep 1
    dmsetup resume still
}
slow
fill $from 1 16M
dmsetup create still --table "0 32768 linear $to 0"
during stand_still $from-sg /dev/mapper/still --engine "$engine"
dmsetup remove still
judge "a dest that stood still" ended 0 "copied 16"
judge "it stood still in mid-copy" silent_about "over too early"
judge "a dest that stood still is right" same $from $to 16M
