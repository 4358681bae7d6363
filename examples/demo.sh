#!/usr/bin/env bash
# Trains LeNet-5, kills it half-way with SIGKILL, resumes it, and compares every bit with a run that was left in peace.
# Usage: bash examples/demo.sh [--data DIR] [--quick]     DIR: the MNIST files; else the program draws its own digits
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

# Set-up: what is missing is installed; a build that is there is brought up to date.
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
clock() { began=${EPOCHREALTIME/,/.}; }
elapsed() { awk "BEGIN { printf \"%.2f\", ${EPOCHREALTIME/,/.} - $began }"; }
last() { sed -n "s/^$1.*/\\1/p" "$2" | tail -n 1; }  # the last thing that the pattern's \( \) finds in a run's output
steps_done() { last 'step \([0-9]*\) of' "$1"; }
accuracy_of() { last 'epoch.*test images \([0-9.]*\)' "$1"; }
state_of() { last 'state \([0-9a-f]*\)' "$1"; }

echo "1. training in peace, without checkpoints"
clock
"${train[@]}" > "$runs/peace" 2>&1 || fail "the training failed" "$runs/peace"
peace_seconds=$(elapsed)
steps=$(steps_done "$runs/peace")

echo "2. training with a checkpoint every 20 steps, and kill -9 just behind the middle"
clock
"${kept[@]}" > "$runs/killed" 2>&1 &
trainer=$!
while at=$(steps_done "$runs/killed") && ((${at:-0} < steps / 2 + 7)); do
  kill -0 "$trainer" 2> /dev/null || fail "the trainer ended before it could be killed" "$runs/killed"
  sleep 0.01
done
kill -9 "$trainer" 2> /dev/null || fail "the trainer ended before it could be killed" "$runs/killed"
{ wait "$trainer" || status=$?; } 2> /dev/null
((${status:-0} == 137)) || fail "the trainer did not die of SIGKILL" "$runs/killed"
killed_seconds=$(elapsed)
killed_at=$(steps_done "$runs/killed")

echo "3. starting it again"
clock
"${kept[@]}" > "$runs/resumed" 2>&1 || fail "the resumed training failed" "$runs/resumed"
resumed_seconds=$(elapsed)
resumed_from=$(last 'resumed from step \([0-9]*\)' "$runs/resumed")
[[ -n $resumed_from ]] || fail "it began anew instead of resuming" "$runs/resumed"
newest=$(find "$runs/checkpoints" -maxdepth 1 -name 'step-*' | sort | tail -n 1)
bytes=$(find "$newest" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum }')

echo
row() { printf '  %-16s %18s %18s %18s\n' "$@"; }
row "" "in peace" "killed" "resumed"
row "steps" "1 - $steps" "1 - $killed_at" "$((resumed_from + 1)) - $steps"
row "seconds" "$peace_seconds" "$killed_seconds" "$resumed_seconds"
row "test accuracy" "$(accuracy_of "$runs/peace")" "-" "$(accuracy_of "$runs/resumed")"
row "final state" "$(state_of "$runs/peace")" "-" "$(state_of "$runs/resumed")"
echo
echo "killed at step $killed_at, resumed from step $resumed_from;" \
  "a checkpoint is $((bytes / 1024)) KiB on disk and takes $(last 'trained.*checkpoints, \([0-9.]*\) ms' "$runs/resumed") ms"

if [[ -n $(state_of "$runs/peace") && $(state_of "$runs/peace") == "$(state_of "$runs/resumed")" ]]; then
  echo "bit-identical: yes $(state_of "$runs/resumed")"
else
  echo "bit-identical: NO, $(state_of "$runs/peace") and $(state_of "$runs/resumed")"
  exit 1
fi
