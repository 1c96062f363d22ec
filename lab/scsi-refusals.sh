#!/bin/bash
# Nodes that haul must refuse as source or destination, each with one clear message and before the first write.
# Argument: the haul binary.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
copy() { try "$haul" copy -v --yes --restart "$@"; }
noise 1 1M > /run/file

# A device of scsi_debug that is not a disk has only an sg node.
other() { # parameter...
    rmmod scsi_debug 2> /dev/null
    modprobe scsi_debug dev_size_mb=16 delay=0 "$@"
    until node=$(compgen -G "$scsi_debug/adapter0/host*/target*/*:*/scsi_generic/*"); do sleep 0.05; done
    node=/dev/${node##*/}
}
other ptype=1 && copy /run/file "$node"
judge "a tape drive" ended 2 "destination $node" "a tape drive" "haul list"
copy "$node" /run/out
judge "a tape drive as source" ended 2 "source $node" "a tape drive"
other ptype=13 && copy /run/file "$node"
judge "an enclosure" ended 2 "an enclosure"

debug_disks wp=1
copy /run/file /dev/lab/debug1-sg
judge "a write-protected medium" ended 1 "no permission to write to destination /dev/lab/debug1-sg" "write-protect"
copy --delta /run/file /dev/lab/debug1-sg
judge "a write-protected medium and --delta" ended 1 "no permission to write to destination /dev/lab/debug1-sg"
copy /dev/lab/debug1-sg /run/out
judge "a write-protected medium can be read" ended 0 "source: SCSI commands"

debug_disks dif=1
copy /run/file /dev/lab/debug1-sg
judge "protection information that would be lost" ended 3 "protection information (type 1)" "omit --passthrough"

debug_disks
copy --passthrough /run/file /run/out
judge "nothing that takes commands" ended 1 "source /run/file is a file" "does not support it"
copy --direct never /run/file /dev/lab/debug1-sg
judge "commands and the page cache" ended 2 "--direct never" "no page cache"
copy /dev/lab/debug1 /dev/lab/debug1-sg
judge "a disk and its own node" ended 3 "the same data"
copy /run/file /dev/lab/debug1-sg --expect size=1
judge "another disk than the one expected" ended 3 "is not the expected device"

# A drive without a medium.
until cd=$(grep -l '^5$' /sys/class/scsi_generic/sg*/device/type | head -n 1) && [ -n "$cd" ]; do sleep 0.05; done
cd=/dev/$(basename "$(dirname "$(dirname "$cd")")")
copy "$cd" /run/out
judge "an empty drive" ended 1 "source $cd" "Insert a medium"

# `haul list` names the node of each disk.
try "$haul" list --all
judge "the list names the nodes" ended 0 "$(readlink -f /dev/lab/debug0-sg)" "$(readlink -f /dev/lab/nvme0-ng)" /dev/bsg/
