#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bad input of bench/rework and bench/study gives a message and no figures. Usage: refuses.sh REWORK STUDY FOLDER
set -euo pipefail
rework=$1 study=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder/data/mnist" "$folder/data/jester"
echo "no digits" > "$folder/data/mnist/train-images-idx3-ubyte"
printf '1\t2\tnothing\n%.0s' {1..1500} | gzip > "$folder/data/jester/jester5k.tsv.gz"

# refused MESSAGE PROGRAM OPTION...
refused() {
  local message=$1 program=$2 status=0
  shift 2
  "$program" "$@" --json "$folder/figures.json" > "$folder/output" 2>&1 || status=$?
  if ((status != 1)) || ! grep -qF -- "$message" "$folder/output" || [[ -e $folder/figures.json ]] || grep -q "<=\|>=" "$folder/output"; then
    echo "$program $*: status $status, not 1 with the message '$message':" && cat "$folder/output"
    exit 1
  fi
}

refused "--models: 'perceptron' is none of lr mf lenet alexnet gpt gpt_bf16" "$rework" --models lr,perceptron
refused "train-images-idx3-ubyte.gz: cannot be opened" "$rework" --models lr --data "$folder"
refused "jester5k.tsv.gz: cannot be opened" "$rework" --models mf --data "$folder"
refused "train-images-idx3-ubyte: is no idx file of images" "$rework" --models lr --data "$folder/data"
refused "jester5k.tsv.gz: line 1 is not a user, an item and a rating" "$rework" --models mf --data "$folder/data"
refused "--seeds is 0" "$rework" --models lr --seeds 0
refused "--failures: lr: 4 periods are too few for 4 failures" "$rework" --models lr --periods 4 --failures 4
refused "--failures: lr: 6 periods are too few for 8 failures" "$rework" --models lr --periods 6
refused "--failures: gpt: 12 periods are too few for 15 failures" "$rework" --models lenet,gpt --failures 15
refused "--failures: lr: 40 periods are too few for 18446744073709551615 failures" "$rework" --models lr --failures 18446744073709551615
for periods in 3 1000001; do
  refused "--periods: 4 to 1000000, or 0" "$rework" --models lr --periods "$periods" --failures 1
done
refused "--models is empty" "$rework" --models ""
refused "--models has an empty word" "$rework" --models ,lr
refused "--models has an empty word" "$rework" --models lr,
refused "--seeds: 99999999999999999999 is too large" "$rework" --models lr --seeds 99999999999999999999
refused "cannot create" "$rework" --models lr --resume /proc/none
refused "--seeds: 'x' is not a whole number" "$rework" --models lr --seeds x
refused "--seeds: '-1' is not a whole number" "$rework" --models lr --seeds -1
refused "--sections: 'method' is none of methods buckets steps restarts" "$rework" --models lr --sections steps,method
refused "no setting is called lc4" "$rework" --models lr --settings lc3_bound,lc4
ablation=(--sections ablation --directory "$folder")
refused "train-images-idx3-ubyte" "$study" "${ablation[@]}" --data "$folder"
refused "train-images-idx3-ubyte" "$study" "${ablation[@]}" --data "$folder/data/mnist"
refused "--steps: at least 10" "$study" "${ablation[@]}" --data "" --steps 9
refused "--batch: 1 to the number of images" "$study" "${ablation[@]}" --data "" --batch 0
refused "--seeds is 0" "$study" "${ablation[@]}" --data "" --seeds 0
formats=(--sections formats --directory "$folder" --data "" --training 1)
refused "--ranks: 65 is not 1 to 64" "$study" "${formats[@]}" --ranks 1,65
refused "--sizes: 0 is not 1 to 10000" "$study" "${formats[@]}" --sizes 0
refused "--reps is 0" "$study" "${formats[@]}" --reps 0
refused "--training is 0" "$study" "${formats[@]}" --training 0
for wait in abc -1 inf; do
  refused "--wait: '$wait' is not a number of at least 0" "$study" "${formats[@]}" --wait "$wait"
done
refused "--sections: 'ablations' is none of formats ablation" "$study" --sections ablations
for program in "$rework --models lr" "$study"; do
  if $program --json "$folder/none/x.json" > "$folder/output" 2>&1 || ! grep -q -- "--json: there is no folder $folder/none" "$folder/output"; then
    cat "$folder/output" && exit 1
  fi
done
rm -rf "$folder"
