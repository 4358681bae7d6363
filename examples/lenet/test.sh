#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills and stops the LeNet-5 trainer, starts it again and compares bits; hands it broken files. Usage: test.sh <program or build folder>
set -euo pipefail

lenet=$(find "$(realpath "$1")" -name lenet -type f -perm -u+x | head -n 1)
[[ -n $lenet ]] || { echo "there is no program 'lenet' at $1"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() { echo "FAILED: $*"; [[ -f log ]] && tail -n 5 log; exit 1; }
state_of() { sed -n 's/^state //p' "$1"; }
checkpoints_in() { find "$1" -maxdepth 1 -name 'step-*' -printf '%f\n' | sort; }
step_of() { echo $((10#${1#step-})); }

for optimizer in sgd adam; do
  tiny=(--optimizer "$optimizer" --limit 320 --batch 16 --epochs 2)  # 40 steps
  "$lenet" "${tiny[@]}" > undisturbed
  expected=$(state_of undisturbed)
  [[ $expected =~ ^[0-9a-f]{16}$ ]] || die "no fingerprint"

  kept=("${tiny[@]}" --checkpoint "runs/$optimizer" --every 3 --keep 2)
  for at in 2 10 28; do  # before the first checkpoint; in epoch 1 and 2, just after a save has begun in the background
    status=0
    { "$lenet" "${kept[@]}" --kill-at "$at" > log 2>&1 || status=$?; } 2> /dev/null
    ((status == 137)) || die "$optimizer: killed at $at, but the exit status is $status"
  done
  mapfile -t found < <(checkpoints_in "runs/$optimizer")
  newest=$(step_of "${found[-1]}") serves=$(step_of "${found[-2]}")
  ((newest == 27 || newest == 24)) || die "$optimizer: killed at 28, but the newest checkpoint is of step $newest"
  rm "runs/$optimizer/${found[-1]}"/*.safetensors  # it is lost: the previous one serves
  "$lenet" "${kept[@]}" > log 2>&1 || die "$optimizer: cannot resume"
  grep -q "^resumed from step $serves " log || die "$optimizer: should have resumed from step $serves"
  [[ $(state_of log) == "$expected" ]] || die "$optimizer: not bit-identical after three kills"
  "$lenet" "${kept[@]}" --epochs 3 > log 2>&1 || die "$optimizer: cannot go on with a finished run"
  grep -q '^resumed from step ' log || die "$optimizer: the finished run began again"
  "$lenet" "${tiny[@]}" --seed 2 | grep -q "^state $expected" && die "$optimizer: another seed gives the same state"
  echo "$optimizer: killed three times, lost a checkpoint, bit-identical: $expected"
done

# No interval named: the first checkpoint is that of step 10, and the run after the kill knows what saves cost.
tiny=(--optimizer sgd --limit 320 --batch 16 --epochs 2)
"$lenet" "${tiny[@]}" > undisturbed
kept=("${tiny[@]}" --checkpoint runs/adaptive --keep 100)
killed_at() {
  status=0
  { "$lenet" "${kept[@]}" --kill-at "$1" > log 2>&1 || status=$?; } 2> /dev/null
  ((status == 137)) || die "killed at $1, but the exit status is $status"
}
killed_at 5
# On a busy machine the save of step 10 may still be pending at step 35: such a run leaves nothing, and the next one begins again.
for ((runs = 0; runs < 50; ++runs)); do
  killed_at 35
  [[ -z $(checkpoints_in runs/adaptive) ]] || break
done
"$lenet" "${kept[@]}" > log 2>&1 || die "cannot resume where no interval is named"
grep -q '^resumed from step ' log || die "no checkpoint where no interval is named"
checkpoints_in runs/adaptive | grep -Eq '^step-0*10$' || die "the first checkpoint is not that of step 10"
[[ $(state_of log) == "$(state_of undisturbed)" ]] || die "not bit-identical where no interval is named"
echo "no interval named: killed, bit-identical: $(state_of log)"

# SIGTERM: the trainer saves in that very step, stops the test of an epoch, and continues there when it is started again.
tiny=(--optimizer adam --limit 320 --batch 16 --epochs 2)
"$lenet" "${tiny[@]}" > undisturbed
kept=("${tiny[@]}" --checkpoint runs/stopped --every 3 --keep 2 --events events)
resumed=0
for at in 1 13 20 40; do  # before the first checkpoint, within epoch 1, before its test, at the very end
  "$lenet" "${kept[@]}" --stop-at "$at" > log 2>&1 || die "stopped at $at, but the exit status is $?"
  ((resumed == 0)) || grep -q "^resumed from step $resumed " log || die "should have resumed from step $resumed"
  grep -q "^stopped at step $at, " log || die "did not stop at step $at"
  grep -q '^trained to step ' log && die "stopped at $at, and says that it is done"
  cat log >> logs
  resumed=$at
done
"$lenet" "${kept[@]}" > log 2>&1 || die "cannot resume after SIGTERM"
grep -q '^resumed from step 40 ' log || die "should have resumed from step 40"
[[ $(state_of log) == "$(state_of undisturbed)" ]] || die "not bit-identical after four stops"
[[ $(cat logs log | grep '^epoch ') == "$(grep '^epoch ' undisturbed)" ]] || die "the epochs differ after four stops"
(($(grep -c '^{"event":"stopping",.*}$' events) == 4)) || die "the file of events does not report four stops"
echo "SIGTERM: stopped four times, bit-identical: $(state_of log)"

status=0
"$lenet" "${kept[@]}" --limit 300 > log 2>&1 || status=$?
((status == 1)) || die "a run over 320 images went on with 300"
grep -q '300 items.* 320 items' log || die "the message does not say how many images there are and were"

# Deltas: exact ones resume bit for bit as well; lossy ones are smaller and go on from where they were.
expected=$(state_of undisturbed)
for codec in xor lc2 lc3; do
  kept=("${tiny[@]}" --checkpoint "runs/$codec" --every 2 --keep 2 --codec "$codec")
  for at in 9 23; do
    { "$lenet" "${kept[@]}" --kill-at "$at" > log 2>&1 || true; } 2> /dev/null
  done
  newest=$(step_of "$(checkpoints_in "runs/$codec" | tail -n 1)")
  ((newest == 22 || newest == 20)) || die "$codec: killed at 23, but the newest checkpoint is of step $newest"
  "$lenet" "${kept[@]}" > log 2>&1 || die "$codec: cannot resume"
  grep -q "^resumed from step $newest " log || die "$codec: should have resumed from step $newest"
  [[ $codec != xor || $(state_of log) == "$expected" ]] || die "$codec: not bit-identical after two kills"
  echo "$codec: killed twice, $(sed -n 's/.*checkpoints, //p' log)"
done
status=0
"$lenet" "${tiny[@]}" --checkpoint runs/none --codec zip > log 2>&1 || status=$?
((status == 1)) || die "an unknown codec was taken"

status=0
"$lenet" --checkpoint runs/adam --limit 320 --batch 16 > log 2>&1 || status=$?
((status == 1)) || die "a checkpoint of Adam was loaded into SGD"

# idx files, plain and gzipped, sound and broken.
number() { printf "\\x$(printf %02x $(($1 >> 24 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 & 255)))"; }
images() { number 0x803; number "$1"; number 28; number 28; head -c $(($2 * 784)) /dev/zero; }
labels() { number 0x801; number "$1"; head -c "$2" /dev/zero; }
make_idx() {
  rm -rf idx && mkdir idx
  for set in train t10k; do
    images 5 5 > idx/$set-images-idx3-ubyte
    labels 5 5 > idx/$set-labels-idx1-ubyte
  done
}
refuses() {  # what, words of the message
  status=0
  "$lenet" --data idx --epochs 1 > log 2>&1 || status=$?
  ((status == 1)) || die "$1: the exit status is $status"
  grep -q "^lenet: idx/train-.*$2" log || die "$1: the message does not say '$2'"
}
make_idx
"$lenet" --data idx --epochs 1 > log 2>&1 || die "plain idx files are not read"
gzip idx/*
"$lenet" --data idx --epochs 1 > log 2>&1 || die "gzipped idx files are not read"
truncate -s 40 idx/train-images-idx3-ubyte.gz;              refuses "truncated gzip" damaged
make_idx; images 5 4 > idx/train-images-idx3-ubyte;          refuses "truncated" "ends after 4"
make_idx; images 5 6 > idx/train-images-idx3-ubyte;          refuses "too long" "goes on after"
make_idx; images 0 0 > idx/train-images-idx3-ubyte;          refuses "empty" "no images"
make_idx; images 7 7 > idx/train-images-idx3-ubyte;          refuses "disagreement" "holds 5 labels"
make_idx; echo hello world > idx/train-images-idx3-ubyte;    refuses "text" "no idx file"
make_idx; : > idx/train-images-idx3-ubyte;                   refuses "no bytes" "within its header"
make_idx; rm idx/train-labels-idx1-ubyte;                    refuses "no labels" "cannot be opened"
make_idx; (labels 5 4; printf '\x0a') > idx/train-labels-idx1-ubyte; refuses "label 10" "the label 10"
make_idx; images 4294967295 1 > idx/train-images-idx3-ubyte
labels 4294967295 1 > idx/train-labels-idx1-ubyte;           refuses "claims 3 terabytes" "ends after 1"
echo "idx files: sound ones read, broken ones refused"
