# pairings.sh HAUL ENGINE BLOCK BLOCK [forbidden] - copies between every kind of source and every kind of
# destination. The BLOCKs are the logical block sizes of their disks, 512 or 4096. ENGINE is ring or threads; with
# `forbidden`, io_uring is unavailable and haul must select the engine. WITHOUT_IO_URING is a program that runs haul
# without io_uring, for kernels that cannot forbid it. tests/lab/pairings.rs lists the checks.
# shellcheck shell=bash
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
source_block=$3 dest_block=$4

odd=1500777        # bytes of a copy: not a multiple of the block or page size
whole=$((2 << 20)) # compared bytes: those after the copy must not change
room=/run/room

command=("$haul")
choice=(--engine "$engine")
wanted=("engine $engine")
if [ $# -gt 4 ]; then
    choice=()
    wanted+=("io_uring is forbidden")
    # With the sysctl, where it exists (since Linux 6.6), else with a seccomp filter.
    if [ -e /proc/sys/kernel/io_uring_disabled ]; then
        echo 2 > /proc/sys/kernel/io_uring_disabled
    else
        cp "$WITHOUT_IO_URING" /run/launcher
        command=(/run/launcher "$haul")
    fi
fi

# Disks of both block sizes. A kernel driver supports one size for all its disks; for pairs of sizes, one side is a
# disk of QEMU.
link_nvme
larger=$((source_block > dest_block ? source_block : dest_block))
debug_disks sector_size=$larger
modprobe configfs
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
modprobe null_blk nr_devices=0
null_disk() { # name block-size
    local null=/sys/kernel/config/nullb/$1
    mkdir "$null"
    echo "$2" > "$null/blocksize"
    echo 64 > "$null/size" # MiB
    echo 1 > "$null/memory_backed"
    echo 1 > "$null/power"
    local disk=$1 # its name since Linux 6.1
    [ -b "/dev/$disk" ] || disk=nullb$(< "$null/index")
    ln -s "../$disk" "/dev/lab/$1"
}
null_disk null0 "$source_block"
null_disk null1 "$dest_block"
null_disk files 512
mkfs.ext4 -q /dev/lab/files 2> /dev/null
mkdir $room
mount /dev/lab/files $room

sd() { # block-size number
    if [ "$1" = $larger ]; then echo "/dev/lab/debug$2"; else echo "/dev/lab/scsi$2"; fi
}
nvme() { # block-size number
    if [ "$1" = 4096 ]; then echo "/dev/lab/four$2"; else echo "/dev/lab/nvme$2"; fi
}
modprobe dm-mod
linear() { # name disk: maps its second 8 MiB
    dmsetup create "$1" --table "0 16384 linear $2 16384"
}
kinds=(sg sd ng nvme file pipe null_blk "dm over sd" "dm over nvme")
declare -A source dest holder # holder: the path for reading back a destination
from=$(sd "$source_block" 0) to=$(sd "$dest_block" 1)
linear source-sd "$from"
source=([sd]=$from [sg]=$from-sg ["dm over sd"]=/dev/mapper/source-sd)
dest=([sd]=$to [sg]=$to-sg ["dm over sd"]=/dev/mapper/dest-sd)
holder=([sg]=$to)
from=$(nvme "$source_block" 0) to=$(nvme "$dest_block" 1)
linear source-nvme "$from"
source+=([nvme]=$from [ng]=$from-ng ["dm over nvme"]=/dev/mapper/source-nvme)
dest+=([nvme]=$to [ng]=$to-ng ["dm over nvme"]=/dev/mapper/dest-nvme)
holder+=([ng]=$to)
source+=([null_blk]=/dev/lab/null0 [file]=$room/source [pipe]=-)
dest+=([null_blk]=/dev/lab/null1 [file]=$room/dest [pipe]=-)
holder+=([pipe]=$room/piped)

# Every source has different data, to detect copies from the wrong one.
spoil() { # bytes disk-or-file
    dd if="$1" of="$2" bs=1M oflag=direct conv=notrunc status=none
}
noise 99 $whole > /run/before
seed=0
for kind in sd nvme null_blk "dm over sd" "dm over nvme" file; do
    noise $((++seed)) $whole > "/run/bytes.$kind"
    spoil "/run/bytes.$kind" "${source[$kind]}"
done
ln -s bytes.sd /run/bytes.sg
ln -s bytes.nvme /run/bytes.ng
ln -s bytes.file /run/bytes.pipe
for kind in "${kinds[@]}"; do
    { head -c $odd "/run/bytes.$kind"; tail -c +$((odd + 1)) /run/before; } > "/run/expected.$kind"
done

# Many small blocks in flight, whose size is not a power of two.
copy() {
    "${command[@]}" copy -v --yes --restart --progress none --block-size 96K --depth 6 "${choice[@]}" --count $odd "$@"
}
copied() { # source-kind dest-kind
    case $1,$2 in
        pipe,pipe) head -c $odd /run/bytes.file | copy - - | cat > $room/piped ;;
        pipe,*) head -c $odd /run/bytes.file | copy - "${dest[$2]}" ;;
        *,pipe) copy "${source[$1]}" - | cat > $room/piped ;;
        *) copy "${source[$1]}" "${dest[$2]}" ;;
    esac
}
# Reads the disk with O_DIRECT, bypassing the page cache. Streams have no bytes after the copy.
right() { # source-kind dest-kind
    local held=${holder[$2]:-${dest[$2]}} length=$whole
    [ "$2" != pipe ] || length=$odd
    ended 0 "${wanted[@]}" && dd if="$held" bs=1M count=2 iflag=direct status=none | cmp -n $length - "/run/expected.$1"
}
set -o pipefail
for other in "${kinds[@]}"; do
    held=${holder[$other]:-${dest[$other]}}
    # haul refuses a disk with a mapping as destination, so the mapping exists only for its own copies.
    case $other in dm*) linear "$(basename "$held")" "${dest[${other##* }]}" ;; esac
    for one in "${kinds[@]}"; do
        if [ "$other" = pipe ]; then rm -f "$held"; else spoil /run/before "$held"; fi
        try copied "$one" "$other"
        judge "$one to $other" right "$one" "$other"
    done
    case $other in dm*) dmsetup remove "$held" ;; esac
done
