#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills the dlib trainer, starts it again and compares bits. Usage: test.sh <program>
set -euo pipefail

program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() { echo "FAILED: $*"; [[ -f log ]] && tail -n 5 log; exit 1; }
state_of() { sed -n 's/^state //p' "$1"; }

"$program" undisturbed 1 > undisturbed.log
expected=$(state_of undisturbed.log)
[[ $expected ]] || die "no fingerprint"
[[ $("$program" other 2 | sed -n 's/^state //p') != "$expected" ]] || die "another seed gives the same state"

for at in 2 9 30 47; do  # before the first checkpoint, and in each of the three epochs
  status=0
  { "$program" killed 1 "$at" > log 2>&1 || status=$?; } 2> /dev/null
  ((status == 137)) || die "killed at $at, but the exit status is $status"
done
"$program" killed 1 > log 2>&1 || die "cannot resume"
grep -Eq '^resumed from step 4[04]$' log || die "should have resumed from step 44, or 40 if that save was not complete"
[[ $(state_of log) == "$expected" ]] || die "not bit-identical after four kills"
for array in trainer.layer3 trainer.solvers.3.velocity; do
  grep -aqE "\"$array\":\{\"dtype\":\"F32\",\"shape\":\[[0-9,]+\]" killed/step-*/*.safetensors || die "$array is not an array"
done
echo "killed four times, bit-identical: $expected"
