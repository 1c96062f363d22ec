# power.sh HAUL ENGINE begin|resume - a power failure during a copy with a journal, and the rest of the copy in
# another machine. The journal is in a file system on a separate disk, whose flushes do not affect the destination.
# tests/lab/power.rs cuts the power when the journal has some lines, and checks the disks.
# power.sh HAUL ENGINE measure|restore - the same for measuring by writing: the undo journal of the measured
# partition is on another partition of the same disk, so that the order of all writes is known.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"

disks=(source dest records)
[[ $3 != measure && $3 != restore ]] || disks=(both)
all_there() {
    local disk
    for disk in "${disks[@]}"; do
        [ -b "/dev/lab/$disk" ] || return
    done
}
until all_there; do
    link_nvme
    sleep 0.05
done
mkdir /run/records
both=$(readlink -f /dev/lab/both)
case $3 in
    measure | restore)
        mount "${both}p1" /run/records
        export XDG_STATE_HOME=/run/records
        ;;
    *) mount /dev/lab/records /run/records ;;
esac
# Uses the page cache, so that a power failure loses unflushed data.
copy=("$haul" copy -v --yes --progress none --direct never --engine "$engine" --journal /run/records/journal)
journal=/run/records/journal lines=()
case $3 in
    begin)
        # Slow, then suspended, so that the host has enough time to cut the power.
        "${copy[@]}" --block-size 64K --checkpoint 0.2 --limit 1M /dev/lab/source /dev/lab/dest &
        until ((${#lines[@]} >= 6)); do
            kill -0 $! || exit
            sleep 0.05
            [ ! -e $journal ] || mapfile -t lines < $journal
        done
        kill -STOP $!
        echo now
        wait
        ;;
    resume)
        try "${copy[@]}" --resume /dev/lab/source /dev/lab/dest
        judge "a copy is resumed in another machine" ended 0 "already copied by earlier runs"
        umount /run/records
        ;;
    measure)
        "$haul" tune --write --yes --time 600 --engine "$engine" "${both}p2" &
        written=0
        # Number of written sectors: some MiB.
        until ((written >= 6000)); do
            kill -0 $! || exit
            sleep 0.02
            read -ra numbers < "/sys/class/block/${both##*/}p2/stat"
            written=${numbers[6]}
        done
        kill -STOP $!
        echo now
        wait
        ;;
    restore)
        try "$haul" list --all
        judge "the list marks a partition with modified data" ended 0 "DATA MODIFIED" "haul tune --restore ${both}p2"
        try "$haul" tune --restore "${both}p2"
        judge "what measuring left is put back in another machine" ended 0 "was interrupted; of the 16.8 MB"
        try "$haul" tune --restore "${both}p2"
        judge "and nothing is left to be put back" ended 0 "nothing to restore"
        umount /run/records
        ;;
esac
