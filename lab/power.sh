# power.sh HAUL ENGINE begin|resume - a copy with a journal, whose machine loses its power; and its end in another machine.
# The journal lies in a file system on a disk of its own, whose flushes do nothing for the dest. tests/lab/power.rs pulls
# the plug as soon as the journal has some lines, and judges the disks.
# power.sh HAUL ENGINE measure|restore - the same of measuring by writing: a partition is measured, its undo journal lies
# on another of the same disk, so that the order of all writes is known.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"

disks=(source dest papers)
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
mkdir /run/papers
both=$(readlink -f /dev/lab/both)
case $3 in
    measure | restore)
        mount "${both}p1" /run/papers
        export XDG_STATE_HOME=/run/papers
        ;;
    *) mount /dev/lab/papers /run/papers ;;
esac
# Through the page cache, so that a loss of power takes what was not flushed.
copy=("$haul" copy -v --yes --progress none --direct never --engine "$engine" --journal /run/papers/journal)
journal=/run/papers/journal lines=()
case $3 in
    begin)
        # Slowly, and then not at all: the host may take its time with the plug.
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
        umount /run/papers
        ;;
    measure)
        "$haul" tune --write --yes --time 600 --engine "$engine" "${both}p2" &
        written=0
        # Sectors of it that were written: some MiB.
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
        judge "the list says that a partition is not as it was" ended 0 "DATA MODIFIED" "haul tune --restore ${both}p2"
        try "$haul" tune --restore "${both}p2"
        judge "what measuring left is put back in another machine" ended 0 "was interrupted; of the 16.8 MB"
        try "$haul" tune --restore "${both}p2"
        judge "and nothing is left to be put back" ended 0 "nothing to restore"
        umount /run/papers
        ;;
esac
