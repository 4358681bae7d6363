#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bad input of bench/rework gives a message and no figures. Usage: refuses.sh PROGRAM FOLDER
set -euo pipefail
program=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/data/mnist" "$folder/data/jester"
echo "no digits" > "$folder/data/mnist/train-images-idx3-ubyte"
printf '1\t2\tnothing\n%.0s' {1..1500} | gzip > "$folder/data/jester/jester5k.tsv.gz"

# refused MESSAGE OPTION...
refused() {
  local message=$1 status=0
  shift
  "$program" "$@" --json "$folder/figures.json" > "$folder/output" 2>&1 || status=$?
  if ((status != 1)) || ! grep -qF -- "$message" "$folder/output" || [[ -e $folder/figures.json ]] || grep -q "<=\|>=" "$folder/output"; then
    echo "rework $*: status $status, not 1 with the message '$message':" && cat "$folder/output"
    exit 1
  fi
}

refused "no model is called perceptron" --models perceptron
refused "train-images-idx3-ubyte.gz: cannot be opened" --models lr --data "$folder"
refused "jester5k.tsv.gz: cannot be opened" --models mf --data "$folder"
refused "train-images-idx3-ubyte: is no idx file of images" --models lr --data "$folder/data"
refused "jester5k.tsv.gz: line 1 is not a user, an item and a rating" --models mf --data "$folder/data"
refused "--seeds is 0" --models lr --seeds 0
refused "--failures is 0" --models lr --seeds 1 --periods 4 --failures 0
rm -rf "$folder"
