#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs the consumer with what pkg-config says about an installed Cairn.
# Usage: pkg_config.sh cairn|cairn-compiled|one_unit <compiler> <prefix> <scratch folder>
# one_unit: without the library; the program compiles cairn/definitions.cpp itself.
set -euo pipefail

here=$(dirname "$(realpath "$0")")
kind=$1 package=$1
[[ $kind != one_unit ]] || package=cairn
PKG_CONFIG_PATH=$(dirname "$(find "$3" -name cairn.pc)")
export PKG_CONFIG_PATH
mkdir -p "$4"
cd "$4"
rm -rf checkpoint
# pkg-config quotes for a shell.
eval "flags=($(pkg-config --cflags --libs "$package"))"
eval "include=$(pkg-config --variable=includedir cairn)"
[[ $kind != one_unit ]] || flags=(-DCAIRN_SEPARATE_COMPILATION "$include/cairn/definitions.cpp" "${flags[@]}")
"$2" -std=c++20 "$here/consumer.cpp" -o consumer "${flags[@]}"
./consumer checkpoint
