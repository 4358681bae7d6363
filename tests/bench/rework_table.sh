#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The whole table of one model, from one run of bench/rework, and from two of which the second continues. Usage: rework_table.sh REWORK FOLDER
set -euo pipefail
rework=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
options=(--models lr --periods 6 --failures 2)
"$rework" "${options[@]}" --seeds 2 --json "$folder/whole.json" > "$folder/whole"
grep -E "rework.lr.topn_over_lc2.5 .*>= 2.00 +yes" "$folder/whole"
"$rework" "${options[@]}" --seeds 1 --resume "$folder/results" > "$folder/first"
"$rework" "${options[@]}" --seeds 2 --resume "$folder/results" --json "$folder/resumed.json" > "$folder/resumed"
diff "$folder/whole" "$folder/resumed"
diff <(grep -v overhead "$folder/whole.json") <(grep -v overhead "$folder/resumed.json")

# Settings that are added to known results.
"$rework" "${options[@]}" --seeds 2 --settings lc3_energy --resume "$folder/few" > "$folder/few_settings"
"$rework" "${options[@]}" --seeds 2 --resume "$folder/few" --json "$folder/added.json" > "$folder/added"
diff "$folder/whole" "$folder/added"
diff <(grep -v overhead "$folder/whole.json") <(grep -v overhead "$folder/added.json")

# refused MESSAGE OPTION...: results of other runs are not mixed.
refused() {
  if "$rework" "${options[@]}" --resume "$folder/results" "${@:2}" > "$folder/output" 2>&1 || ! grep -qF "$1" "$folder/output"; then
    echo "${*:2}: no message '$1':" && cat "$folder/output"
    exit 1
  fi
}
refused "has results of other options" --seeds 2 --failures 1
refused "has results of 2 seeds, more than --seeds" --seeds 1
mv "$folder/results/lr" "$folder/results/mf"
refused "has results of other options" --models mf --seeds 2
rm -rf "$folder"
