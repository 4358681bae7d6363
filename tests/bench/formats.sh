#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A small model in the formats of bench/study that are here, without libtorch, with 1 and 2 ranks: loads give what was saved, and sizes are as expected. Usage: formats.sh STUDY PYTHON FOLDER
set -euo pipefail
study=$1 python=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"
options=(--sections formats --data "" --sizes 1 --reps 1 --training 5 --wait 0 --directory "$folder")
"$study" "${options[@]}" --ranks 1 --python "$folder/none" > "$folder/output"
grep -q "npz and HDF5 are not measured: cannot run $folder/none" "$folder/output"
grep -q "^HDF5 .* -$" "$folder/output"
"$study" "${options[@]}" --ranks 1,2 --python "$python" --json "$folder/study.json"
"$python" - "$folder/study.json" << 'END'
import importlib.util
import json
import sys

found = json.load(open(sys.argv[1], encoding="utf-8"))
size = {name.split(".")[2]: value for name, value in found.items() if name.startswith("study.size_over_ideal.") and name.endswith(".1m")}
peers = ["npz", "hdf5"] if all(map(importlib.util.find_spec, ["numpy", "h5py"])) else []
assert {"cairn", "cairn_raw", "index_shards", "safetensors", *peers} <= size.keys(), size
for name, value in size.items():
    compressed = name == "cairn" or name.endswith("_compressed")
    assert (0.3 < value < 0.95) if compressed else (1 <= value < 1.01), (name, value)
assert found["study.size_over_ideal.ours"] >= size["cairn"]
for kind in ("save", "load"):
    assert all(found[f"study.{kind}_seconds.cairn.1m.{ranks}"] > 0 for ranks in (1, 2))
END
rm -rf "$folder"
