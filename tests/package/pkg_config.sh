#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs the consumer with what pkg-config says about an installed Cairn.
# Usage: pkg_config.sh <compiler> <prefix> <scratch folder>
set -euo pipefail

here=$(dirname "$(realpath "$0")")
PKG_CONFIG_PATH=$(dirname "$(find "$2" -name cairn.pc)")
export PKG_CONFIG_PATH
rm -rf "$3"
mkdir -p "$3"
cd "$3"
# pkg-config quotes for a shell.
eval "flags=($(pkg-config --cflags --libs cairn))"
"$1" -std=c++20 "$here/consumer.cpp" -o consumer "${flags[@]}"
./consumer checkpoint
