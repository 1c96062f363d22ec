# scsi-profile.sh - sourced by scsi-thin.sh, which sets up the guest: `haul profile` and `haul tune` of disks through
# their sg nodes. The results are complete and reported correctly.
# shellcheck shell=bash disable=SC2154,SC2016 # of guest.sh; words of awk

measured() { # verb argument...
    local verb=$1
    shift
    try "$haul" "$verb" --engine "$engine" --time 1 "$@"
}
# Prints a field of the CSV lines that match an awk condition.
field() { # condition number
    awk -F, "$1 { printf \"%s \", \$$2 }" <<< "$said"
}
has() { # condition number wanted
    local found
    found=$(field "$1" "$2")
    [ "$found" = "$3 " ] || { echo "'$found', not '$3 ', of: $1"; echo "$said"; return 1; }
}

debug_disks
fill /dev/lab/debug0 9 16M
at=/dev/lab/debug0-sg
copied="direct: the driver copied everything anyway"
measured profile --positions 5 --report /run/page.html $at
judge "a disk is profiled by its node" ended 0 "a READ of 0 blocks takes" "fixed latency" "reading all of it takes"
judge "a drive without READ BUFFER is reported" ended 0 "READ BUFFER: illegal request: invalid command operation code"
judge "bytes that the driver copied anyway are reported" ended 0 "$copied"
page_has() { grep -q 'section id="command-cost"' /run/page.html && grep -q "$copied" /run/page.html; }
judge "and stands on the page" page_has
# The driver may use direct I/O, but does so only if requested.
echo 1 > /sys/module/sg/parameters/allow_dio
ways=direct share=1.000
[ "$engine" != ring ] || ways="direct indirect mmap" share=0.000
said=$("$haul" profile --engine "$engine" --time 1 --positions 5 --csv $at 2> /dev/null)
echo 0 > /sys/module/sg/parameters/allow_dio
judge "a driver that does without a copy is believed" has '$1 == "way" && $2 == "direct"' 14 $share
judge "the ways that a node has are side by side" has '$1 == "way" && $6 > 0' 2 "$ways"
cheap() {
    local empty
    local -a commands
    empty=$(field '$1 == "empty"' 5)
    read -ra commands <<< "$(field '$1 == "command"' 5)"
    awk "BEGIN { exit !(0 < $empty && $empty < ${commands[-1]}) }" || { echo "$said"; return 1; }
}
judge "and the cost of nothing is less than that of most" cheap
measured tune --quick $at
judge "a disk is tuned by its node" ended 0 "result " "direct"
measured profile --timing $at
judge "and timed" ended 0 "median of 3 reads"
judge "and nothing of it was changed" cmp -n 16M <(noise 9 16M) /dev/lab/debug0
# A read-only node accepts commands one at a time, and only those that read.
chmod 444 "$(readlink -f $at)" "$(readlink -f /dev/lab/debug0)"
chmod 755 /run/haul
try setpriv --reuid 65534 --regid 65534 --clear-groups "$haul" profile --engine "$engine" --time 1 --positions 5 $at
judge "a node with read permission alone is profiled" ended 0 "reading all of it takes" "$copied"
