# guest.sh - sourced first by scripts that run in the guest as `SCRIPT HAUL [ENGINE]`: common setup. tests/lab/*.rs
# lists the checks.
# shellcheck shell=bash
set -u
lab=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lab/disks.sh
. "$lab/disks.sh"
# shellcheck source=lab/judge.sh
. "$lab/judge.sh"
# haul runs from memory, because files of the host are slow. Both variables are for the sourcing script.
# shellcheck disable=SC2034
haul=/run/haul engine=${2:-}
[ -e /run/haul ] || cp "$1" /run/haul
