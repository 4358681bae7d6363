#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program on a run in a bucket. Usage: ceph.sh run bash bucket.sh CAIRN GOLDEN
set -euo pipefail
cairn=$(realpath "$1") golden=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() { echo "FAILED: $*"; cat out; exit 1; }
run() {
  local status=0
  "$cairn" "${@:2}" > out 2>&1 || status=$?
  ((status == $1)) || die "cairn ${*:2}: exit status $status, not $1"
}
says() { grep -qE -- "$1" out || die "no line matches: $1"; }
far=s3://cairn/runs/chain
run 2 ls "$far"
says 'there is no checkpoint in s3://cairn/runs/chain'
run 0 copy "$golden/chain-4" "$far"
says '^copied [0-9]+ checkpoints to s3://cairn/runs/chain, '
count=$("$cairn" ls "$far" | grep -c '^step-')
run 0 verify --all "$far"
[[ $(grep -c 'all checksums match' out) == "$count" ]] || die "not all $count are verified"
newest=$("$cairn" ls "$far" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["name"])')
run 0 diff "$golden/chain-4/$newest" "$far/$newest"
run 0 show "$far"
says "$newest"
run 0 copy "$far/$newest" back
run 0 diff "$far" back
run 0 merge "$far"
says '^merged '
run 0 prune "$far" --keep-last 1 --yes
[[ $("$cairn" ls "$far" | grep -c '^step-') == 1 ]] || die "prune has left others"
run 0 diff "$far" back
run 0 report "$far" -o page.html
run 2 verify "$far/step-000000999"
says 'step-000000999'
export AWS_SECRET_ACCESS_KEY=not-the-secret
run 2 ls "$far"
says 'SignatureDoesNotMatch'
if grep -q "$AWS_SECRET_ACCESS_KEY" out; then die "the secret is printed"; fi
echo "$count checkpoints in a bucket: copied, listed, verified, compared, merged, removed"
