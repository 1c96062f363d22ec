# measured-removal.sh - to be sourced by scsi-removal.sh, whose guest is up: a disk that goes away in the middle of `haul
# tune` and `haul profile`, and comes back.
# shellcheck shell=bash disable=SC2154,SC2034 # of guest.sh; for judge.sh
export XDG_STATE_HOME=/run/state
gone=/dev/lab/debug0

# The disk has the bytes that it had, and the same names.
comes_back() {
    local host
    for host in "$scsi_debug"/adapter0/host*; do
        echo '- - -' > "$host/scsi_host/${host##*/}/scan"
    done
    link_scsi debug0 "$scsi_debug/adapter0/host*/target*/*:*"
}
# An undo journal is there; only with it anything is written.
keeps() { compgen -G "$XDG_STATE_HOME/haul/*.undo" > /dev/null; }
keeps_nothing() { ! keeps; }

# Runs haul and takes the disk away in its midst: 100 commands after it is ready for that.
interrupted() { # is-ready verb argument...
    local is_ready=$1 running before
    shift
    status=0
    "$haul" "$@" --engine "$engine" --time 60 > /run/table 2> /run/words &
    running=$!
    until $is_ready || ! kill -0 $running 2> /dev/null; do sleep 0.02; done
    before=$(done_by $gone)
    until (($(done_by $gone) > before + 100)) || ! kill -0 $running 2> /dev/null; do sleep 0.02; done
    # What ends before it happens shows nothing.
    kill -0 $running 2> /dev/null || echo "it was over too early" >> /run/words
    echo 1 > "$(sys_of $gone)/device/delete"
    wait $running || status=$?
    said=$(< /run/words)
}
# What was printed has lines like these.
tells() { # pattern...
    local pattern
    for pattern in "$@"; do
        grep -q "$pattern" /run/table || { echo "no '$pattern' in:"; cat /run/table; return 1; }
    done
}

debug_disks ndelay=5000000
fill $gone 7 16M
interrupted true tune $gone
judge "removed in mid-tune, by sd" ended 1 "source $gone has disappeared: cannot read it at byte" "dmesg"
judge "what was found before it was removed is told" tells "^direct   512 bytes" "^partial "
comes_back
interrupted true profile --json $gone-sg
judge "removed in mid-profile, by sg" ended 1 "source $gone-sg has disappeared: cannot read it at byte" "dmesg"
judge "and programs are told" tells '"ended": "failed"' '"failure": "source .* has disappeared'
for run in "sd|$gone|tune" "sg|$gone-sg|profile --sustained 1T"; do
    IFS='|' read -r by node verb <<< "$run"
    by="${verb%% *} --write, by $by"
    comes_back
    # shellcheck disable=SC2086 # a verb and its options
    interrupted keeps $verb --write --yes --json "$node"
    judge "removed in mid-$by" ended 1 "destination $node has disappeared: cannot write it at byte" "Not restored:" "/run/state/haul/"
    judge "programs are told what is not back after $by" \
        tells '"ended": "failed"' '"undo_journal": "/run/state/haul/.*undo"' '"not_put_back": \[$'
    judge "originals stay after $by" keeps
    comes_back
    try "$haul" tune --restore "$node"
    judge "a disk that is back has its bytes again after $by" ended 0 "was interrupted; of the"
    judge "all of them after $by" cmp -n 16M <(noise 7 16M) $gone
    judge "and nothing is kept any more after $by" keeps_nothing
done
judge "nothing is left of runs whose disk was removed" nothing_left $gone
