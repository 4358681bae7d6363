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

refused "no model is called perceptron" "$rework" --models perceptron
refused "train-images-idx3-ubyte.gz: cannot be opened" "$rework" --models lr --data "$folder"
refused "jester5k.tsv.gz: cannot be opened" "$rework" --models mf --data "$folder"
refused "train-images-idx3-ubyte: is no idx file of images" "$rework" --models lr --data "$folder/data"
refused "jester5k.tsv.gz: line 1 is not a user, an item and a rating" "$rework" --models mf --data "$folder/data"
refused "--seeds is 0" "$rework" --models lr --seeds 0
refused "--failures is 0" "$rework" --models lr --seeds 1 --periods 4 --failures 0
refused "--models is empty" "$rework" --models ""
refused "--seeds: 'x' is not a whole number" "$rework" --models lr --seeds x
refused "--seeds: '-1' is not a whole number" "$rework" --models lr --seeds -1
refused "--sections: 'method' is none of methods buckets steps restarts" "$rework" --models lr --sections steps,method
refused "no setting is called lc4" "$rework" --models lr --settings lc3_bound,lc4
ablation=(--sections ablation --directory "$folder")
refused "train-images-idx3-ubyte" "$study" "${ablation[@]}" --data "$folder"
refused "train-images-idx3-ubyte" "$study" "${ablation[@]}" --data "$folder/data/mnist"
refused "--steps: at least 10" "$study" "${ablation[@]}" --data "" --steps 9
refused "--batch: 1 to the number of images" "$study" "${ablation[@]}" --data "" --batch 0
refused "--seeds: at least 1" "$study" "${ablation[@]}" --data "" --seeds 0
refused "--sections: 'ablations' is none of formats ablation" "$study" --sections ablations
rm -rf "$folder"
