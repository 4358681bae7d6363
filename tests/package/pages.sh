#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the commands of README.md and docs/start.md as they stand there, but for apt-get, in a copy of the source tree and
# with an own home and prefix: both trainers resume, and that of start.md ends thrice with the same line.
# Usage: pages.sh <source tree> <scratch folder>
set -euo pipefail

source=$(realpath "$1")
rm -rf "$2"
mkdir -p "$2/tree" "$2/home"
cd "$2"
export HOME=$PWD/home CMAKE_PREFIX_PATH=$PWD/prefix
cp -r "$source"/{.cmake,CMakeLists.txt,LICENSE,examples,include} tree

# commands <page>: the lines of its `sh` blocks.
commands() {
  sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$source/$1" | sed '/^apt-get/{:a;/\\$/{N;ba};d}' | sed "s|/usr/local|$PWD/prefix|"
}
for page in README.md docs/start.md; do
  commands "$page" > commands.sh
  (cd tree && bash -x ../commands.sh) > "$(basename "$page" .md).log" 2>&1 || true
done
# are <count> <regex> <page>: its commands print the same match in as many lines.
are() {
  local found
  found=$(grep -o "$2" "$3.log" | uniq -c | awk '{ print $1 }') || true
  [[ $found == "$1" ]] || { tail -n 40 "$3.log"; echo "FAILED: $3: $1 lines with one '$2', not $found"; exit 1; }
}
are 1 '^resumed at step ' README
are 2 '^resumed at step ' start
are 3 '^step .*: y = .*' start
