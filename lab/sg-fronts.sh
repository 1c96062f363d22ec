#!/bin/bash
# The sg family on SCSI generic nodes: with the same command line, the sg3_utils programs and haul's fronts must
# leave the same bytes and end with statuses of the same class. Argument: the haul binary. tests/lab/sg_fronts.rs
# lists the checks.
#
# Known defects of the originals are checked too, to detect when they are fixed:
#   short transfers: sg_dd, sgp_dd, sgm_dd and ddpt count half a buffer as a whole one, write its old contents, and
#     end with 0
#   cdbsz=10 beyond 32 bits: sg_dd reads at the address without its upper bits
#   bs= that is not the disk's: sg_dd copies half of each block
# haul differs on purpose:
#   a medium error without coe: the blocks before it in its transfer are copied
#   coe=1: sgp_dd zeroes the whole transfer, haul only the bad blocks
#   a count beyond the disk is refused before the first write
#   writes to a partition stay within its bounds; the disk of OFILE must not be in use
#   --verify with oflag=coe that finds a difference ends with 14, not 0
#   a busy host: sg_dd and sgp_dd retry forever
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
a=/dev/lab/debug0 b=/dev/lab/debug1
mega=10 # MiB of a disk: more than the pump's queues hold
blocks=$((mega << 11))

# Programs run from memory, because files of the host are slow.
memory_root "$haul" sg_dd sgp_dd sgm_dd ddpt sg_read
mkdir /run/memory/scratch
ln -s /run/memory/scratch /scratch

spoil() { # opts every_nth
    echo 0 > "$scsi_debug/every_nth"
    echo "$1" > "$scsi_debug/opts"
    echo "$2" > "$scsi_debug/every_nth"
}
wiped() { dd if=/dev/zero of=$b bs=1M count=$mega oflag=direct status=none; }
taken() { # file: the second disk, read without the page cache
    blockdev --flushbufs $b
    dd if=$b of="$1" bs=1M status=none
}
class() { if [ "$1" = 0 ]; then echo 0; else echo 1; fi; }

# Compares a program of the family with the front of the same name. The words are arguments with OFILE, a file, or
# without it for the second disk.
fault=0
both() { # name front words...
    local name=$1 theirs ours
    shift
    run "$@"
    theirs=$(class "$status") their_words=$said
    if [ -e /scratch/out ]; then mv /scratch/out /scratch/theirs; else taken /scratch/theirs; fi
    run haul "$@"
    ours=$(class "$status")
    judge "$name" alike "$theirs" "$ours"
}
run() { # program words...: runs it with the current fault
    wiped
    rm -f /scratch/out
    spoil $fault 0
    try in_memory "$@"
    spoil 0 0
    blockdev --flushbufs $b
}
alike() { # their-class our-class
    if [ "$1" != "$2" ]; then
        printf 'theirs ended with %s, ours with %s:\n%s\n%s\n' "$1" "$2" "$their_words" "$said"
        return 1
    fi
    if [ -e /scratch/out ]; then cmp /scratch/theirs /scratch/out; else cmp /scratch/theirs $b; fi
}
# Runs only the front.
front() { # words...
    try in_memory haul "$@"
}
right() { # bytes word...: the second disk begins with the data of the first
    local bytes=$1
    shift
    ended 0 "$@" || return 1
    blockdev --flushbufs $a
    blockdev --flushbufs $b
    cmp -n "$bytes" $a $b
}

debug_disks dev_size_mb=$mega
fill $a 1 ${mega}M
noise 2 3M > /scratch/file
noise 3 1000000 > /scratch/odd

# Everything in one command line, on either side, and with every CDB size.
both "sg_dd, sg to sg" sg_dd if=$a-sg of=$b-sg bs=512
judge "and that is the whole disk" cmp $b $a
both "sgp_dd, sg to sg" sgp_dd if=$a-sg of=$b-sg bs=512 thr=3
both "sgm_dd, sg to sg" sgm_dd if=$a-sg of=$b-sg bs=512
judge "sgm_dd left the whole disk, too" cmp $b $a
both "sg to file" sg_dd if=$a-sg of=/scratch/out bs=512 skip=77 count=4001 bpt=50
both "file to sg" sg_dd if=/scratch/file of=$b-sg bs=512 seek=99 count=5000
both "sgm_dd, file to sg" sgm_dd if=/scratch/file of=$b-sg bs=512 seek=99 count=5000
both "sgm_dd, sg to file" sgm_dd if=$a-sg of=/scratch/out bs=512 skip=5 count=3000 bpt=33
both "sgp_dd, file to sg" sgp_dd if=/scratch/file of=$b-sg bs=512 seek=99 count=5000 bpt=7
both "sd to sg" sg_dd if=$a of=$b-sg bs=512 skip=1000 seek=2000 count=18000
both "sg to sd" sg_dd if=$a-sg of=$b bs=512 skip=1000 seek=2000 count=18000
both "sd to sd by commands" sg_dd if=$a of=$b bs=512 blk_sgio=1
for bytes in 6 10 12 16; do
    both "commands of $bytes bytes" sg_dd if=$a-sg of=$b-sg bs=512 cdbsz=$bytes count=3000 bpt=256
done
both "dpo and fua" sg_dd if=$a-sg of=$b-sg bs=512 iflag=dpo,fua oflag=dpo,fua count=3000
both "duration limits" sg_dd if=$a-sg of=$b-sg bs=512 cdl=3,5 count=3000
both "zeros passed over" sg_dd if=/dev/zero of=$b-sg bs=512 count=1000 oflag=sparse seek=7
both "sync at the end" sg_dd if=/scratch/file of=$b-sg bs=512 count=500 sync=1
both "a second dest" sg_dd if=$a-sg of=. bs=512 count=700 of2=/scratch/out
both "coe without errors" sg_dd if=$a-sg of=$b-sg bs=512 coe=3 count=9000
both "nothing at all" sg_dd if=$a-sg of=$b-sg bs=512 count=0
both "a word that is none" sg_dd if=$a-sg of=$b-sg bs=512 iflag=nonsense
both "commands of 6 bytes have no fua" sg_dd if=$a-sg of=$b-sg bs=512 cdbsz=6 fua=3 count=9
# Programs without a front in haul.
try in_memory sg_read if=$a-sg bs=512 count=3000
judge "sg_read" ended 0 "3000+0 records in"
front sg_dd if=$a-sg of=. bs=512 count=3000
judge "and sg_dd to nowhere for it" ended 0 "3000+0 records in"
wiped && try in_memory ddpt if=$a-sg of=$b-sg bs=512 count=9000
judge "ddpt" right $((9000 * 512)) "9000+0 records out"
wiped && front sg_dd if=$a-sg of=$b-sg bs=512 count=9000
judge "and sg_dd for it" right $((9000 * 512)) "9000+0 records out"
wiped && front copy --yes --count $((9000 * 512)) $a-sg $b-sg
judge "and copy for it" right $((9000 * 512))

# Counts and modes.
wiped && front sg_dd if=$a-sg of=$b-sg bs=512 verbose=2
judge "the pump moves it" right ${mega}M ">> blocks: only data is moved" "$blocks+0 records out"
wiped && front sgp_dd if=$a-sg of=$b-sg bs=512 dio=1
judge "dio that the driver does not do is reported" right ${mega}M "Direct IO requested but incomplete"
echo 1 > /sys/module/sg/parameters/allow_dio
wiped && front sgp_dd if=$a-sg of=$b-sg bs=512 dio=1
judge "dio that it does" right ${mega}M
judge "is not reported" silent_about "Direct IO"
wiped && front sg_dd if=$a-sg of=$b-sg bs=512 dio=1 count=3000
judge "dio of few blocks" right $((3000 * 512))
judge "is not reported either" silent_about "Direct IO"
wiped && front sgm_dd if=$a-sg of=$b-sg bs=512 oflag=dio verbose=1
judge "mmap on one side and dio on the other" right ${mega}M "one transfer at a time"
judge "do without a copy" silent_about "dio requested"
wiped && front sgm_dd if=$a-sg of=$b-sg bs=512 iflag=dio verbose=1
judge "sgm_dd iflag=dio shares memory anyway" right ${mega}M "one transfer at a time"
judge "which is no transfer that is not direct" silent_about "dio requested"
echo 0 > /sys/module/sg/parameters/allow_dio
for side in iflag oflag; do
    wiped && front sgp_dd if=$a-sg of=$b-sg bs=512 $side=mmap bpt=100
    judge "$side=mmap" right ${mega}M
    judge "$side=mmap is had" silent_about "no shared memory"
done

# Comparing on the disk.
wiped && front sg_dd if=$a-sg of=$b-sg bs=512
front sg_dd if=$a-sg of=$b-sg bs=512 --verify
judge "verify of equal disks" ended 0 "$blocks+0 records verified"
printf x | dd of=$b bs=1 seek=$((1000 * 512 + 3)) conv=notrunc,fsync status=none
both_verify() {
    try in_memory "$@" if=$a-sg of=$b-sg bs=512 --verify
}
both_verify sg_dd
judge "verify of others, theirs" ended 14 "1 miscompare error(s)"
both_verify haul sg_dd
judge "verify of others" ended 14 "miscompare on $b-sg block 1000, byte 3 of it" "1 miscompare error(s)"
front sg_dd if=$a-sg of=$b-sg bs=512 --verify oflag=coe
judge "verify that goes on" ended 14 "block 1000, byte 3" "$blocks+0 records verified" "1 miscompare error(s)"

front sg_dd if=$a-sg of=$b-sg bs=512 --compare --nocopy
judge "compare is verify, and writes nothing" ended 14 "block 1000, byte 3"
front sg_dd if=$a-sg of=$b-sg bs=512 -n
judge "nocopy" ended 31 "cannot honour --nocopy"

# Blocks that contain their own number.
wiped && front sg_dd iflag=00,ff of=$b-sg bs=512 count=$blocks
front sgp_dd if=$b-sg of=. bs=512 -cc
judge "each block holds its number" ended 0 "$blocks+0 records in"
printf x | dd of=$b bs=1 seek=$((3000 * 512 + 5)) conv=notrunc,fsync status=none
front sgp_dd if=$b-sg of=. bs=512 -c
judge "a word behind the first is not looked at by one -c" ended 0 "$blocks+0 records in"
front sgp_dd if=$b-sg of=. bs=512 -c -c
judge "but by two" ended 14 "chkaddr failure at addr=0xbb8" "block 3000 holds" "3000+0 records in"

# Writes to a partition stay within its bounds; the original uses the whole disk.
wiped
echo '2048,8192' | sfdisk -q $b 2> /dev/null
part=$(readlink -f $b)1
until [ -b "$part" ]; do sleep 0.1; done
taken /scratch/before
front sg_dd if=/scratch/file of="$part" bs=512 oflag=sgio count=6000
dd if=/scratch/file of=/scratch/before bs=512 seek=2048 count=6000 conv=notrunc status=none
taken /scratch/after
judge "a partition by commands keeps to its place" cmp /scratch/before /scratch/after
judge "and prints nothing more" ended 0 "6000+0 records out"
front sg_dd if=/dev/zero of="$part" bs=512 oflag=sgio count=8193
judge "more than a partition has is refused" ended 22 "has 8192 blocks" "end at 8193"
mkfs.ext4 -q "$part" && mkdir -p /run/mounted && mount "$part" /run/mounted
front sg_dd if=/scratch/file of=$b-sg bs=512 count=10
judge "a disk with a mounted part is not written" ended 15 "it is in use"
umount /run/mounted
wiped && blockdev --rereadpt $b
cat $b > /dev/null
exec 8< $b
front sg_dd if=/scratch/file of=$b-sg bs=512 count=6000
judge "nothing older stays in the page cache" cmp -n $((6000 * 512)) /scratch/file $b
exec 8<&-

# Medium errors: blocks 0x1234 to 0x123d of the disk are unreadable.
bad=$((0x1234))
dd if=$a of=/scratch/wanted bs=512 count=9000 status=none
dd if=/dev/zero of=/scratch/wanted bs=512 seek=$bad count=10 conv=notrunc status=none
spoilt() { # name words...: all other blocks are copied, the bad ones are zeros
    wiped
    spoil 2 0
    front "${@:2}"
    spoil 0 0
    blockdev --flushbufs $b
    judge "$1" saved
}
saved() {
    ended 0 "block $bad, zeros instead: medium error" "LBA $((bad + 9))" "10 unrecovered error(s)" || return 1
    cmp -n $((9000 * 512)) /scratch/wanted $b
}
spoil 2 0
wiped && front sg_dd if=$a-sg of=$b-sg bs=512 count=9000
spoil 0 0
ahead() { ended 3 "reading, skip=$bad" "medium error: unrecovered read error" "$bad+0 records out" && cmp -n $((bad * 512)) $a $b; }
judge "coe=0 ends at the bad block with all that is ahead of it" ahead
spoilt "coe=1" sg_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=1
spoilt "coe=2" sg_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=2
judge "coe=2 reports READ LONG" ended 0 "READ LONG: illegal request" "0 read_longs fetched"
spoilt "coe=3" sg_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=3
spoilt "coe=1 by blk_sgio" sg_dd if=$a of=$b bs=512 count=9000 coe=1 blk_sgio=1
spoilt "coe=1 of sgp_dd" sgp_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=1
spoilt "coe=1 with mmap" sgp_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=1 iflag=mmap
spoilt "coe=1 with dio" sg_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=1 dio=1
judge "dio with exact records is reported" ended 0 "Direct IO requested but incomplete"
fault=2
for level in 1 2 3; do
    both "coe=$level as theirs" sg_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=$level
done
fault=0
spoil 2 0
front sg_dd if=$a-sg of=$b-sg bs=512 count=9000 coe=1 coe_limit=3
judge "a limit of bad blocks" ended 3 "3 unrecovered error(s)" "more than 3 consecutive bad blocks"
front sg_dd if=$a-sg of=$b-sg bs=512 skip=$bad count=1 retries=2
judge "retries" ended 3 "2 retries attempted"
spoil 0 0

# Other errors: correct or reported.
for kind in "8 recovered-errors" "0x10 aborted-commands" "0x100 short-transfers" "0x8000 busy-host"; do
    for words in "sg_dd count=9000" "sg_dd coe=1 count=9000 bpt=64 of2=/scratch/out" "sgm_dd count=9000"; do
        wiped
        spoil "${kind% *}" 7
        # shellcheck disable=SC2086 # words
        front $words if=$a-sg of=$b-sg bs=512
        spoil 0 0
        judge "${kind#* } with $words" right $((9000 * 512)) "9000+0 records out"
        rm -f /scratch/out
    done
done
# Defects of the originals.
wrong() { # bytes: it ended with 0 but the data is wrong
    ended 0 && ! cmp -s -n "$1" $a $b
}
for program in sg_dd sgp_dd sgm_dd ddpt; do
    wiped
    spoil 0x100 7
    try in_memory $program if=$a-sg of=$b-sg bs=512 count=9000
    spoil 0 0
    blockdev --flushbufs $b
    judge "short transfers of $program are a known defect" wrong $((9000 * 512))
done

# Invalid operands, with one clear message each, before the first write.
refused() { # name status words... -- word...
    local name=$1 wanted=$2 words=()
    shift 2
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    front "${words[@]}"
    judge "$name" ended "$wanted" "$@"
}
wiped
refused "dd of a node" 3 dd if=$a-sg of=/scratch/out count=1 -- "read source $a-sg" "Use 'haul sg_dd'" "or name /dev/sd"
refused "dd onto a node" 3 dd if=$a of=$b-sg bs=1M count=1 -- "write to destination $b-sg" "Use 'haul sg_dd'"
try bash -c "$haul dd if=$a bs=1M count=1 > $b-sg"
judge "dd onto a node that standard output is" ended 3 "(standard output)" "Use 'haul sg_dd'"
refused "a second dest that is a node" 31 sg_dd if=$a-sg of=. of2=$b-sg bs=512 count=9 -- "write to destination $b-sg"
refused "other blocks than bs=" 99 sg_dd if=$a-sg of=$b-sg bs=1024 count=20 -- "has logical blocks of 512 bytes" "use bs=512"
try in_memory sg_dd if=$a-sg of=$b-sg bs=1024 count=20
judge "which is a known defect of sg_dd" wrong $((20 * 1024))
wiped
refused "more blocks than there are" 22 sg_dd if=$a-sg of=$b-sg bs=512 count=40000 -- "has $blocks blocks" "end at 40000"
refused "a place that is not there" 22 sg_dd if=$a-sg of=$b-sg bs=512 seek=40000 count=1 -- "$b-sg has $blocks blocks"
refused "one disk in two ways" 31 sg_dd if=$b of=$b-sg bs=512 count=10 seek=10 -- "is the disk of IFILE"
refused "append" 31 sg_dd if=/scratch/file of=$b-sg bs=512 oflag=append -- "cannot honour append"
refused "dsync" 31 sg_dd if=/scratch/file of=$b-sg bs=512 oflag=dsync -- "use fua, or sync=1"
refused "limits of short commands" 31 sg_dd if=$a-sg of=$b-sg bs=512 cdbsz=10 cdl=1 -- "cdl= needs commands of 16 bytes"
refused "mmap with excl" 31 sgp_dd if=$a-sg of=$b-sg bs=512 iflag=mmap,excl -- "excl forbids"
judge "nothing was written" cmp -n ${mega}M $b /dev/zero
front sg_dd if=$a-sg of=$b-sg bs=512 count=99 grpnum=3,40 iflag=fua_nv oflag=fua_nv
judge "a group and the lesser force" right $((99 * 512)) "99+0 records out"
exec 9< "$(readlink -f $a-sg)"
refused "a node in use, with excl" 15 sg_dd if=$a-sg of=. bs=512 count=1 iflag=excl -- "cannot open source"
exec 9<&-
front sg_dd if=$a-sg of=$b-sg bs=512 count=99 iflag=excl,flock oflag=excl,flock
judge "excl and flock of free nodes" right $((99 * 512)) "99+0 records out"
chmod 600 "$(readlink -f $a-sg)"
try setpriv --reuid 65534 --clear-groups "$haul" sg_dd if=$a-sg of=/dev/null bs=512 count=1
judge "no permission" ended 15 "cannot open source $a-sg" "Permission denied" "as root"
debug_disks dev_size_mb=$mega wp=1
refused "a write-protected medium" 7 sg_dd if=/scratch/file of=$b-sg bs=512 count=9 -- "is not writable" "write protection"
debug_disks virtual_gb=4000
refused "commands too short for the place" 1 sg_dd if=$a-sg of=. bs=512 count=10 skip=5000000000 cdbsz=10 -- "cdbsz=10 cannot address"
try in_memory sg_dd if=$a-sg of=. bs=512 count=10 skip=5000000000 cdbsz=10
judge "which is another known defect of sg_dd" ended 0
refused "commands of 6 bytes for the place" 1 sg_dd if=$a-sg of=. bs=512 count=10 skip=3000000 cdbsz=6 -- "LBA 3000009"
front sg_dd if=$a-sg of=. bs=512 count=10 skip=5000000000
judge "the length of commands grows with the place" ended 0 "10+0 records in"
other() { # parameter...
    rmmod scsi_debug
    modprobe scsi_debug dev_size_mb=16 delay=0 "$@"
    until node=$(compgen -G "$scsi_debug/adapter0/host*/target*/*:*/scsi_generic/*"); do sleep 0.05; done
    node=/dev/${node##*/}
}
other ptype=1
refused "dd of a tape drive's node" 3 dd if="$node" of=/scratch/out count=1 -- "accepts only SCSI commands" "haul list"
refused "a tape drive" 15 sg_dd if="$node" of=. bs=512 count=1 -- "a tape drive" "haul list"
other ptype=13
refused "an enclosure" 15 sg_dd if=/scratch/file of="$node" bs=512 count=1 -- "an enclosure"
until cd=$(grep -l '^5$' /sys/class/scsi_generic/sg*/device/type | head -n 1) && [ -n "$cd" ]; do sleep 0.05; done
cd=/dev/$(basename "$(dirname "$(dirname "$cd")")")
refused "an empty drive" 15 sg_dd if="$cd" of=. bs=2048 count=1 -- "Insert a medium"
