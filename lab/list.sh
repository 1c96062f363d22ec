# list.sh HAUL - prints what `haul list` and other tools list, in sections that begin with "=== ", for
# tests/lab/list.rs to compare.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
debug_disks sector_size=4096 physblk_exp=0

section() { # name command...
    echo "=== $1"
    shift
    "$@"
}
section haul $haul list --json
section human $haul list --all
section sg_map sg_map -x
section lsscsi-nodes lsscsi --brief --generic
section lsscsi-names lsscsi --unit
section lsscsi lsscsi
section nvme nvme list --output-format=json
# The other tools do not report the size, block sizes and serial number: those come from ioctls and an INQUIRY.
echo "=== disks"
for disk in /sys/block/sd* /sys/block/nvme*; do
    disk=/dev/${disk##*/}
    serial=
    case $disk in /dev/sd*) serial=$(sg_vpd --page=sn "$disk" | sed -n 's/^ *Unit serial number: //p') ;; esac
    echo "$disk $(blockdev --getsize64 --getss --getpbsz "$disk" | tr '\n' ' ')$serial"
done
# Devices that are not disks: a tape, an enclosure and a drive without a medium, without their drivers.
not_disks() { sg_map -x | grep -vc /dev/sd || true; }
for type in 1 13; do
    before=$(not_disks)
    echo "$type" > "$scsi_debug/ptype"
    echo 1 > "$scsi_debug/add_host"
    until [ "$(not_disks)" -gt "$before" ]; do sleep 0.05; done
done
echo 0 > "$scsi_debug/ptype"
section others-haul $haul list --json
section others-human $haul list --all
section others sg_map -x
