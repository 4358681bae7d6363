#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills the libtorch trainer, stops it by SIGTERM, starts it again and compares bits; counts the lines that Cairn adds. Usage: test.sh <program>
set -euo pipefail

program=$(realpath "$1")
source=$(realpath "$(dirname "$0")/main.cpp")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=1

die() { echo "FAILED: $*"; [[ -f log ]] && tail -n 5 log; exit 1; }
state_of() { sed -n 's/^state //p' "$1"; }

added=$(grep -c '// +$' "$source")
((added >= 5 && added <= 15)) || die "Cairn adds $added lines"
[[ $(grep -v '^//' "$source" | grep -E 'cairn|ckpt' | grep -vc '// +$') == 0 ]] || die "a line of Cairn is not marked"

"$program" undisturbed 60 > undisturbed.log
expected=$(state_of undisturbed.log)
[[ $expected ]] || die "no fingerprint"
[[ $("$program" shorter 59 | sed -n 's/^state //p') != "$expected" ]] || die "another number of steps gives the same state"

for at in 3 12 33; do  # before the first checkpoint, in the first epoch and in the third
  status=0
  { "$program" killed 60 "$at" > log 2>&1 || status=$?; } 2> /dev/null
  ((status == 137)) || die "killed at $at, but the exit status is $status"
done
"$program" killed 60 > log 2>&1 || die "cannot resume"
# A step that is due is saved later where the save before it takes until then.
grep -Eq '^resumed from step ([5-9]|[12][0-9]|3[0-2])$' log || die "should have resumed from a step that was saved before the last kill"
[[ $(state_of log) == "$expected" ]] || die "not bit-identical after three kills"

"$program" stopped 100000 > log 2>&1 &
child=$!
until compgen -G 'stopped/step-*' > /dev/null; do kill -0 $child || die "ended by itself"; done
kill -TERM $child
wait $child || die "stopped by SIGTERM, but the exit status is $?"
at=$("$program" stopped 0 | sed -n 's/^resumed from step //p')
[[ $at ]] || die "should have resumed after SIGTERM"
"$program" stopped $((at + 10)) > log 2>&1 || die "cannot resume after SIGTERM"
[[ $(state_of log) == "$("$program" as_long $((at + 10)) | sed -n 's/^state //p')" ]] || die "not bit-identical after SIGTERM at step $at"
echo "killed three times and stopped once, bit-identical: $expected; $added lines"
