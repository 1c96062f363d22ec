# measured-removal.sh - sourced by scsi-removal.sh, which sets up the guest: a disk that disappears during `haul
# tune` and `haul profile`, and returns.
# shellcheck shell=bash disable=SC2154,SC2034 # of guest.sh; for judge.sh
export XDG_STATE_HOME=/run/state
gone=/dev/lab/debug0

# Reattaches the disk, with the same data and names.
comes_back() {
    local host
    for host in "$scsi_debug"/adapter0/host*; do
        echo '- - -' > "$host/scsi_host/${host##*/}/scan"
    done
    link_scsi debug0 "$scsi_debug/adapter0/host*/target*/*:*"
}
# Succeeds if there is an undo journal; haul writes nothing without one.
keeps() { compgen -G "$XDG_STATE_HOME/haul/*.undo" > /dev/null; }
keeps_nothing() { ! keeps; }

# Runs haul and removes the disk 100 commands after it is ready for that.
interrupted() { # is-ready verb argument...
    local is_ready=$1 running before
    shift
    status=0
    "$haul" "$@" --engine "$engine" --time 60 > /run/table 2> /run/words &
    running=$!
    until $is_ready || ! kill -0 $running 2> /dev/null; do sleep 0.02; done
    before=$(done_by $gone)
    until (($(done_by $gone) > before + 100)) || ! kill -0 $running 2> /dev/null; do sleep 0.02; done
    # A run that ends before the removal does not test it.
    kill -0 $running 2> /dev/null || echo "it was over too early" >> /run/words
    echo 1 > "$(sys_of $gone)/device/delete"
    wait $running || status=$?
    said=$(< /run/words)
}
# Succeeds if the output has lines that match these patterns.
reports() { # pattern...
    local pattern
    for pattern in "$@"; do
        grep -q "$pattern" /run/table || { echo "no '$pattern' in:"; cat /run/table; return 1; }
    done
}

debug_disks ndelay=5000000
fill $gone 7 16M
interrupted true tune $gone
judge "removed in mid-tune, by sd" ended 1 "source $gone has disappeared: cannot read it at byte" "dmesg"
judge "results before the removal are printed" reports "^direct   512 bytes" "^partial "
comes_back
interrupted true profile --json $gone-sg
judge "removed in mid-profile, by sg" ended 1 "source $gone-sg has disappeared: cannot read it at byte" "dmesg"
judge "and the JSON has them" reports '"ended": "failed"' '"failure": "source .* has disappeared'
for run in "sd|$gone|tune" "sg|$gone-sg|profile --sustained 1T"; do
    IFS='|' read -r by node verb <<< "$run"
    by="${verb%% *} --write, by $by"
    comes_back
    # shellcheck disable=SC2086 # a verb and its options
    interrupted keeps $verb --write --yes --json "$node"
    judge "removed in mid-$by" ended 1 "destination $node has disappeared: cannot write it at byte" "Not restored:" "/run/state/haul/"
    judge "the JSON has what is not restored after $by" \
        reports '"ended": "failed"' '"undo_journal": "/run/state/haul/.*undo"' '"not_put_back": \[$'
    judge "originals stay after $by" keeps
    comes_back
    try "$haul" tune --restore "$node"
    judge "a disk that is back has its bytes again after $by" ended 0 "was interrupted; of the"
    judge "all of them after $by" cmp -n 16M <(noise 7 16M) $gone
    judge "and nothing is kept any more after $by" keeps_nothing
done
judge "nothing is left of runs whose disk was removed" nothing_left $gone
