#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills the trainer by SIGKILL again and again, and counts how often it has trained each item. Usage: test.sh <program>
set -euo pipefail

prefetch=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { echo "FAILED: $*"; cat log; exit 1; }

"$prefetch" whole > log || die "not every item was trained 3 times without a kill"
expected=$(tail -n 1 log)
for at in 3 20 21 62 63 64 100 150 188; do  # before the first save, around the end of an epoch, before the last step
  status=0
  { "$prefetch" killed "$at" > log 2>&1 || status=$?; } 2> /dev/null
  ((status == 137)) || die "killed in step $at, but the exit status is $status"
  ((at <= 20)) || grep -q '^resumed from step ' log || die "the run that is killed in step $at began again"
done
"$prefetch" killed > log || die "items were left out or trained twice"
[[ $(tail -n 1 log) == "$expected" ]] || die "not as without a kill: $expected"
echo "$expected"
