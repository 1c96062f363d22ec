# guest.sh - to be sourced first by a script that runs in the guest as `SCRIPT HAUL [ENGINE]`: what such scripts have in
# common. tests/lab/*.rs ask for their judgements.
# shellcheck shell=bash
set -u
lab=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=lab/disks.sh
. "$lab/disks.sh"
# shellcheck source=lab/judge.sh
. "$lab/judge.sh"
# From memory: the host's files come slowly. Both are for who sources this.
# shellcheck disable=SC2034
haul=/run/haul engine=${2:-}
[ -e /run/haul ] || cp "$1" /run/haul
