#!/bin/bash
# READ BUFFER of a disk that supports it: `haul profile` measures the bus with it, like sg_rbuf. Argument: the haul
# binary. The disk is TCMU_DISK (examples/tcmu-disk.rs) with target_core_user, because no disk driver here supports
# the command. tests/lab/scsi.rs lists the checks.
# shellcheck source=lab/guest.sh
. "$(dirname "$0")/guest.sh" "$@"
log=/run/read-buffers
cp "$TCMU_DISK" /run/tcmu-disk

tcmu_disk_there() {
    local target=/sys/kernel/config/target uio
    modprobe tcm_loop
    modprobe target_core_user
    mkdir -p /var/target/pr
    mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
    store=$target/core/user_0/tcmu
    port=$target/loopback/naa.6001405000000005/tpgt_1
    mkdir -p "$store" "$port"
    echo naa.6001405000000006 > "$port/nexus"
    echo "dev_config=haul/tcmu,dev_size=16777216,hw_block_size=512" > "$store/control"
    echo 1 > "$store/enable"
    until uio=$(grep -l haul/tcmu /sys/class/uio/uio*/name) && [ -c "/dev/$(basename "$(dirname "$uio")")" ]; do
        sleep 0.05
    done
    /run/tcmu-disk "/dev/$(basename "$(dirname "$uio")")" $log &
    served=$!
    mkdir "$port/lun/lun_0"
    ln -s "$store" "$port/lun/lun_0/tcmu"
    link_scsi tcmu "$(echo /sys/devices/tcm_loop*/tcm_loop_adapter_*/host*/target*/*:0)"
}
tcmu_disk_gone() {
    rm -f "$port"/lun/lun_0/tcmu /dev/lab/tcmu /dev/lab/tcmu-sg
    rmdir "$port/lun/lun_0" "$port" "${port%/*}" "${port%/*/*}"
    kill "$served"
    wait "$served" 2> /dev/null
    rmdir "$store" "${store%/*}"
    modprobe -r tcm_loop
    rm -f /run/tcmu-disk $log
}
measured() { # argument...
    : > $log
    try "$haul" profile --read-buffer --time 2 "$@" $at
}
asked() { # line...: exactly these READ BUFFER commands were sent
    local wanted=$*
    [ "$(sort -u $log | tr '\n' ';')" = "${wanted// ;/;};" ] || { sort $log | uniq -c; return 1; }
}

tcmu_disk_there
at=/dev/lab/tcmu-sg
sg_rbuf --size=16000000 $at > /run/said 2>&1
judge "the disk answers sg_rbuf" grep -q "buffer capacity=3434944" /run/said

measured
judge "the buffer's size is that of sg_rbuf" ended 0 "(3434944 bytes)"
judge "each way has its table and its line" ended 0 "not moved time rate processor line" \
    "direct time rate processor line" "indirect time rate processor line" "indirect" "fixed latency"
judge "beside it stands the formula of 2001" ended 0 "as in 2001 not moved:" "as in 2001 indirect:" "of latency in each command"
judge "bytes that the driver copied anyway are reported" ended 0 "direct: the driver copied everything anyway"
echo 1 > /sys/module/sg/parameters/allow_dio
measured
judge "and that it copied nothing where it may do without" ended 0 "direct: not copied by the driver"
echo 0 > /sys/module/sg/parameters/allow_dio

measured --buffer-sizes 4K,5000 --csv
csv() { ended 0 "not moved,4096," "not moved,5000," "direct,5000," "indirect,4096," && [ "$(wc -l <<< "$said")" = 7 ]; }
judge "sizes can be given by hand" csv
judge "and no other command was given" asked "0x2 4096" ";0x2 5000" ";0x3 4"
measured --buffer-sizes 4M
judge "a size beyond the buffer is reported" ended 1 "cannot read the buffer" "exceed the buffer of 3434944 bytes"
measured --echo-buffer --json
judge "the echo buffer is another" ended 0 '"buffer": "echo"' '"buffer_bytes": 252'
judge "which is read by modes of its own" asked "0xa 252" ";0xb 4"

try "$haul" profile --time 1 --positions 5 $at
judge "the whole profile has READ BUFFER in it, too" ended 0 "READ BUFFER time rate line" "READ BUFFER, without the medium:"
try "$haul" profile --read-buffer /dev/lab/tcmu
judge "for a block device its node is named" ended 2 "it needs a SCSI generic node" "Name its SCSI generic node, $(readlink -f $at)"
tcmu_disk_gone
debug_disks dev_size_mb=16
try "$haul" profile --read-buffer /dev/lab/debug0-sg
judge "a disk without the command is reported" ended 1 "READ BUFFER: illegal request: invalid command operation code"
