#!/usr/bin/env python3
# Job 60d36666e254 of haul 0: 64 shards of at most 30 bytes.
#
# Copies each shard in a Ray task, then finishes the copy:
#     haul plan --emit ray plan.json >job.py; ray job submit -- python job.py
# Every node needs haul, s3://vault/jobs/big/plan.json and both sides.
import subprocess
import sys

import ray

PLAN = "s3://vault/jobs/big/plan.json"
SHARDS = 64


class MaySucceed(Exception):
    """The shard failed with status 1 or by a signal: Ray runs it again."""


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=[MaySucceed])
def copy(number):
    status = subprocess.run(["haul", "copy", "--plan", PLAN, "--shard", f"{number}/{SHARDS}"]).returncode
    if status == 1 or status < 0:
        raise MaySucceed(f"shard {number}: status {status}")
    return status


ray.init()
waiting = [copy.remote(number) for number in range(1, SHARDS + 1)]
while waiting:
    done, waiting = ray.wait(waiting)
    try:
        status = ray.get(done[0])
        if status:
            print(f"a shard cannot be copied: status {status}", file=sys.stderr)
    except ray.exceptions.RayError as error:
        print(error, file=sys.stderr)
sys.exit(subprocess.run(["haul", "finish", PLAN]).returncode)
