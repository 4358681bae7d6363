#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A run of the old program that the new one continues ends with the same bits. Usage: test.sh BEFORE AFTER
set -euo pipefail

before=$(realpath "$1") after=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1

die() { echo "FAILED: $*"; exit 1; }
# In a folder of its own: runs program $2 for $3 steps.
in_folder() { (mkdir -p "$work/$1" && cd "$work/$1" && "$2" "$3"); }

expected=$(in_folder old "$before" 60)
[[ $expected == "state 60 "* ]] || die "the old program prints $expected"
[[ $(in_folder new "$after" 60) == "$expected" ]] || die "the new program computes something else"

in_folder moved "$before" 25 > "$work/log"
[[ $(in_folder moved "$after" 25) == "$(cat "$work/log")" ]] || die "the file of the old program is read as something else"
find "$work/moved" -maxdepth 1 -type f -delete  # those of the old program
[[ $(in_folder moved "$after" 41) == "state 41 "* ]] || die "the new program does not continue"
[[ $(in_folder moved "$after" 60) == "$expected" ]] || die "the continued run has another result"
echo "the same: ${expected:0:40}..."
