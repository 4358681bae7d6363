#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A machine vanishes with its disk: by SIGKILL, and after a notice. Each time the run goes on, on an empty disk, from the far place, and ends with
# the same bits as an undisturbed one. Usage: test.sh PROGRAM [s3://BUCKET/PREFIX]
set -euo pipefail
program=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
far=${2:-$work/far}
steps=400
if [[ $far == s3:* ]]; then steps=2000; fi  # the first copy takes longer, and must end before the training does
die() { echo "FAILED: $*"; tail -n 20 ./*.log; exit 1; }
# Starts the trainer on a new disk; it is $pid, and its lines come from descriptor 3.
start() {
  disk=$(mktemp -d -p "$work")
  coproc trainer { exec "$program" "$disk" "$far" "$steps" 1; }
  pid=$trainer_PID
  exec 3<&"${trainer[0]}"
}
# Reads its lines up to one that begins with $1.
await() {
  local line
  while read -r line <&3; do
    echo "$line" >> run.log
    [[ $line != "$1"* ]] || return 0
  done
  die "the trainer ended before it said: $1"
}
vanish() { rm -rf "$disk"; }

"$program" "$work/alone" "$work/alone_far" "$steps" > alone.log || die "undisturbed"
expected=$(tail -n 1 alone.log)
[[ $expected == "step $steps: "* ]] || die "no last line: $expected"

start
await promoted
kill -KILL "$pid"
wait "$pid" 2> /dev/null || true
vanish

start
await "restored $far"
notice=$work/notice
NOTICE=file://$notice EVERY=0.1 bash "$here/watch.sh" "$pid" &
watcher=$!
await promoted
kill -STOP "$pid"  # the training does not end before the notice is seen
touch "$notice"
wait "$watcher"
kill -CONT "$pid"
await stopping
await promoted
wait "$pid" || die "it did not stop in good order"
vanish

start
await "restored $far"
await "$expected"
wait "$pid" || die "the last run failed"
cat run.log
