# misbehave.sh HAUL fine|fails|hangs|ends|litters|dies - misbehaviour of a proof in a shared guest, for
# tests/lab/launcher.rs.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
# Leftovers of an earlier proof would be detected here.
in_order() {
    local place
    for place in /run/litter /dev/lab/debug0 /sys/module/scsi_debug /dev/mapper/litter; do
        [ ! -e $place ] || { echo "$place is there"; return 1; }
    done
    ! pgrep -x litter && ! mountpoint -q /run/litter && cmp -n 1M /dev/lab/nvme0 /dev/zero &&
        [ -b /dev/lab/nvme1 ] && [ "$(< /sys/module/sg/parameters/allow_dio)" = 0 ]
}
judge "the guest is in order" in_order
case $2 in
    fine) ;;
    fails)
        echo "words of the program" >&2
        judge "two is three" [ 2 = 3 ]
        ;;
    hangs) sleep infinity ;;
    ends) kill -KILL $$ ;;
    litters)
        # Each line of output shows that the proof does not hang.
        debug_disks ndelay=0
        echo disks
        mkdir /run/litter
        modprobe dm-mod
        dmsetup create litter --table "0 2048 linear /dev/lab/debug0 0"
        mkfs.ext4 -q /dev/mapper/litter 2> /dev/null
        mount /dev/mapper/litter /run/litter
        echo a mount
        echo 1 > /sys/module/sg/parameters/allow_dio
        noise 1 1M | dd of=/dev/lab/nvme0 bs=1M oflag=direct iflag=fullblock status=none
        echo bytes
        (exec -a litter setsid /bin/sleep 3600 &)
        node=$(readlink /dev/lab/nvme1)
        node=${node##*/}
        echo 1 > "/sys/class/nvme/${node%n*}/device/remove"
        ;;
    dies) echo c > /proc/sysrq-trigger ;;
esac
