#!/bin/sh
# Job 60d36666e254 of haul 0: 64 shards of at most 30 bytes.
#
# Submits one array task for each shard, and haul finish after all of them. Run it where sbatch works:
#     haul plan --emit slurm plan.json | sh
# Edit it first to choose a partition, an account or a time limit; sbatch also reads them from SBATCH_PARTITION,
# SBATCH_ACCOUNT and SBATCH_TIMELIMIT. Every node needs haul, s3://vault/jobs/big/plan.json and both sides.
set -eu

# Array indices are smaller than MaxArraySize.
max=$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')
if [ "${max:-1001}" -lt 64 ]; then
    echo "the plan has 64 shards, but MaxArraySize of this cluster is ${max:-1001}:" \
        "plan again with a larger --shard-size" >&2
    exit 1
fi

job=$(sbatch --parsable <<'TASK'
#!/bin/bash
#SBATCH --job-name=haul-60d36666e254
#SBATCH --array=0-63%32
#SBATCH --nodes=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=haul-60d36666e254-%a.log
# 90 s before the time limit. Another signal than that of scancel, which must not run the task again.
#SBATCH --signal=B:USR1@90

again() {
    echo "haul: the shard runs again: $1"
    # The form of the array: the number of the task alone would name another job.
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
    # Slurm ends this script. If it does not, the task has failed.
    exit 1
}

limit=
trap 'limit=1; kill -TERM "$copy"' USR1
trap 'kill -TERM "$copy"' TERM
haul copy --plan s3://vault/jobs/big/plan.json --shard auto &
copy=$!
# A signal ends a wait early.
wait "$copy"
status=$?
while kill -0 "$copy" 2>/dev/null; do
    wait "$copy"
    status=$?
done
trap - USR1 TERM

if [ "$status" -eq 0 ]; then exit 0; fi
if [ -n "$limit" ]; then again "time limit"; fi
# Status 1 may succeed later; 2 and 3 cannot.
if [ "$status" -eq 1 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then again "status 1"; fi
exit "$status"
TASK
)
job=${job%%;*}

# afterany: haul finish prints which shards are missing, and the command that copies them.
sbatch --dependency="afterany:$job" <<'FINISH'
#!/bin/bash
#SBATCH --job-name=haul-60d36666e254-finish
#SBATCH --nodes=1
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=haul-60d36666e254-finish.log
exec haul finish s3://vault/jobs/big/plan.json
FINISH
