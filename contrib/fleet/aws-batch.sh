#!/bin/sh
# Job 60d36666e254 of haul 0: 64 shards of at most 30 bytes.
#
# Registers a job definition, and submits one array child for each shard:
#     haul plan --emit aws-batch plan.json >job.sh; sh job.sh QUEUE
# Add roles, volumes and resources to the definition: each child needs both sides and s3://vault/jobs/big/plan.json.
# When all children have ended: haul finish plan.json
set -eu
queue=${1:?"give the job queue"}

definition=$(cat <<'JSON'
{
  "containerProperties": {
    "command": [
      "copy",
      "--plan",
      "s3://vault/jobs/big/plan.json",
      "--shard",
      "auto"
    ],
    "image": "registry.example.org/haul:0.1.0",
    "resourceRequirements": [
      {
        "type": "VCPU",
        "value": "1"
      },
      {
        "type": "MEMORY",
        "value": "1024"
      }
    ]
  },
  "jobDefinitionName": "haul-60d36666e254",
  "retryStrategy": {
    "attempts": 4,
    "evaluateOnExit": [
      {
        "action": "EXIT",
        "onExitCode": "2"
      },
      {
        "action": "EXIT",
        "onExitCode": "3"
      },
      {
        "action": "RETRY",
        "onStatusReason": "Host EC2*"
      },
      {
        "action": "RETRY",
        "onExitCode": "*"
      }
    ]
  },
  "type": "container"
}
JSON
)
submission=$(cat <<'JSON'
{
  "arrayProperties": {
    "size": 64
  },
  "jobDefinition": "haul-60d36666e254",
  "jobName": "haul-60d36666e254"
}
JSON
)
aws batch register-job-definition --cli-input-json "$definition"
aws batch submit-job --job-queue "$queue" --cli-input-json "$submission"
