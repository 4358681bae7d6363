#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Trains LeNet-5 with checkpoints that are written in the background, stops it with SIGTERM, kills it with SIGKILL,
# resumes it each time, and compares the final state bit by bit with that of an uninterrupted run.
# Usage: bash examples/demo.sh [--data DIR] [--quick]     DIR: the MNIST files; without it the program draws its own digits
set -euo pipefail

data=() epochs=4 limit=0
while (($#)); do
  case $1 in
    --data) data=(--data "$(realpath -e "${2:?--data takes a folder}")"); shift ;;
    --quick) epochs=2 limit=2000 ;;
    *) echo "usage: bash examples/demo.sh [--data DIR] [--quick]" >&2; exit 2 ;;
  esac
  shift
done
cd "$(dirname "$0")/.."

# Installs missing packages, and builds or updates the trainer.
bash .cmake/install_packages.sh libeigen3-dev zlib1g-dev
build=build/release
mkdir -p "$build"
echo "building the trainer"
if [[ ! -f $build/CMakeCache.txt ]]; then export CMAKE_GENERATOR=Ninja; fi
{ cmake --preset release && cmake --build --preset release --target lenet; } > "$build/demo.log" 2>&1 ||
  { tail -n 30 "$build/demo.log"; exit 1; }
lenet=$PWD/$build/examples/lenet

runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
train=("$lenet" "${data[@]}" --optimizer adam --epochs "$epochs" --limit "$limit" --print 1)
kept=("${train[@]}" --checkpoint "$runs/checkpoints" --every 20 --keep 3)
fail() { echo "demo: $1" >&2; tail -n 5 "$2" >&2; exit 1; }
last() { sed -n "s/^$1.*/\\1/p" "$2" | tail -n 1; }  # the last match of the pattern's \( \) in the output of a run
steps_done() { last 'step \([0-9]*\) ' "$1"; }
accuracy_of() { last 'epoch.*test images \([0-9.]*\)' "$1"; }
state_of() { last 'state \([0-9a-f]*\)' "$1"; }
resumed_from() { last 'resumed from step \([0-9]*\)' "$1"; }

declare -A seconds
clock() { began=${EPOCHREALTIME/,/.}; }
took() { seconds[$1]=$(awk "BEGIN { printf \"%.2f\", ${EPOCHREALTIME/,/.} - $began }"); }

# A run with the name $1 that gets the signal $2 after step $3, and must end with the exit status $4.
interrupted() {
  local trainer at status=0
  clock
  : > "$runs/$1"  # it is read before the trainer may have started
  "${kept[@]}" > "$runs/$1" 2>&1 &
  trainer=$!
  while at=$(steps_done "$runs/$1") && ((${at:-0} < $3)); do
    kill -0 "$trainer" 2> /dev/null || fail "the trainer ended before it could be $1" "$runs/$1"
    sleep 0.01
  done
  kill -s "$2" "$trainer" 2> /dev/null || fail "the trainer ended before it could be $1" "$runs/$1"
  { wait "$trainer" || status=$?; } 2> /dev/null
  ((status == $4)) || fail "the trainer was $1, but its exit status is $status" "$runs/$1"
  took "$1"
}

echo "1. uninterrupted training, without checkpoints"
clock
"${train[@]}" > "$runs/uninterrupted" 2>&1 || fail "the training failed" "$runs/uninterrupted"
took uninterrupted
steps=$(steps_done "$runs/uninterrupted")

echo "2. training with a checkpoint every 20 steps, and SIGTERM after a third"
interrupted stopped TERM $((steps / 3 + 7)) 0
stopped_at=$(last 'stopped at step \([0-9]*\)' "$runs/stopped")
[[ -n $stopped_at ]] || fail "it did not stop" "$runs/stopped"

echo "3. starting it again, and kill -9 after two thirds"
interrupted killed KILL $((2 * steps / 3 + 7)) 137
[[ $(resumed_from "$runs/killed") == "$stopped_at" ]] || fail "it does not continue where it stopped" "$runs/killed"
killed_at=$(steps_done "$runs/killed")

echo "4. starting it again"
clock
"${kept[@]}" > "$runs/resumed" 2>&1 || fail "the resumed training failed" "$runs/resumed"
took resumed
resumed_from=$(resumed_from "$runs/resumed")
((${resumed_from:-0} > stopped_at)) || fail "it does not continue from a checkpoint of the killed run" "$runs/resumed"

echo
row() { printf '  %-14s %17s %17s %17s %17s\n' "$@"; }
row "" "1. uninterrupted" "2. stopped" "3. killed" "4. resumed"
row "steps" "1 - $steps" "1 - $stopped_at" "$((stopped_at + 1)) - $killed_at" "$((resumed_from + 1)) - $steps"
row "seconds" "${seconds[uninterrupted]}" "${seconds[stopped]}" "${seconds[killed]}" "${seconds[resumed]}"
row "test accuracy" "$(accuracy_of "$runs/uninterrupted")" "-" "-" "$(accuracy_of "$runs/resumed")"
row "final state" "$(state_of "$runs/uninterrupted")" "-" "-" "$(state_of "$runs/resumed")"
echo
echo "stopped by SIGTERM at step $stopped_at, which was saved in $(last 'stopped.*saved in \([0-9.]*\)' "$runs/stopped") ms;" \
  "continued from step $stopped_at"
echo "killed by SIGKILL at step $killed_at; continued from step $resumed_from"
echo "a save: the trainer waited $(last 'trained.*checkpoints, \([0-9.]*\) ms' "$runs/resumed") ms, then" \
  "$(last 'trained.*waiting, \([0-9.]*\) ms' "$runs/resumed") ms of work in the background;" \
  "$(($(last 'trained.* \([0-9]*\) bytes each' "$runs/resumed") / 1024)) KiB on disk"

if [[ -n $(state_of "$runs/uninterrupted") && $(state_of "$runs/uninterrupted") == "$(state_of "$runs/resumed")" ]]; then
  echo "bit-identical: yes $(state_of "$runs/resumed")"
else
  echo "bit-identical: NO, $(state_of "$runs/uninterrupted") and $(state_of "$runs/resumed")"
  exit 1
fi
