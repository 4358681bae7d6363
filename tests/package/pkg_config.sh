#!/usr/bin/env bash
# Builds and runs the consumer with what pkg-config says about an installed Cairn.
# Usage: pkg_config.sh <compiler> <prefix> <scratch folder>
set -euo pipefail

here=$(dirname "$(realpath "$0")")
pc=$(dirname "$(find "$2" -name cairn.pc)")
mkdir -p "$3"
cd "$3"
rm -rf checkpoint
export PKG_CONFIG_PATH=$pc
eval "flags=($(pkg-config --cflags --libs cairn))"  # pkg-config quotes for a shell
"$1" -std=c++20 "$here"/*.cpp -o consumer "${flags[@]}"
./consumer checkpoint
