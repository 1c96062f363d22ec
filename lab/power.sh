# power.sh HAUL ENGINE begin|resume - a copy with a journal, whose machine loses its power; and its end in another machine.
# The journal lies in a file system on a disk of its own, whose flushes do nothing for the dest. tests/lab_power.rs pulls
# the plug as soon as the journal has some lines, and judges the disks.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"

until [ -b /dev/lab/source ] && [ -b /dev/lab/dest ] && [ -b /dev/lab/papers ]; do
    link_nvme
    sleep 0.05
done
mkdir /run/papers
mount /dev/lab/papers /run/papers
# Through the page cache, so that a loss of power takes what was not flushed.
copy=("$haul" copy --yes --progress none --direct never --engine "$engine" --journal /run/papers/journal)
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
        judge "a copy is resumed in another machine" ended 0 "were durable since earlier runs"
        umount /run/papers
        ;;
esac
