#!/bin/sh
# Job 60d36666e254 of haul 0: 64 shards of at most 30 bytes.
#
# Copies the shards with GNU parallel, then finishes the copy:
#     haul plan --emit parallel plan.json >job.sh; sh job.sh [OPTIONS OF PARALLEL]
# With --sshloginfile HOSTS the shards run on other machines, which need haul, s3://vault/jobs/big/plan.json and both sides.
set -u
refused=$(mktemp -d) || exit 1
trap 'rm -r "$refused"' EXIT
export refused

# Status 1 may succeed later; a shard that ended with 2 or 3 is not tried again.
shard='
    if [ -e "$refused/{}" ]; then exit "$(cat "$refused/{}")"; fi
    haul copy --plan 's3://vault/jobs/big/plan.json' --shard {}/64
    status=$?
    case $status in 2 | 3) if [ -d "$refused" ]; then echo "$status" >"$refused/{}"; fi ;; esac
    exit "$status"'
seq 64 | parallel --jobs 32 --joblog haul-60d36666e254.log --retries 4 "$@" --env refused "$shard"
haul finish s3://vault/jobs/big/plan.json
