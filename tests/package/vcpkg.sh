#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the port for vcpkg (vcpkg.cmake), and builds and runs the header-only consumer with the package that it makes.
# Usage: vcpkg.sh <source tree> <compiler> <CMake generator> <scratch folder>
set -euo pipefail

source=$(realpath "$1") compiler=$2 generator=$3
rm -rf "$4"
mkdir -p "$4"
cd "$4"
cmake -DSOURCE="$source" -DSCRATCH="$PWD" -DGENERATOR="$generator" -DCOMPILER="$compiler" -P "$source/tests/package/vcpkg.cmake"
cat > CMakeLists.txt << END
cmake_minimum_required(VERSION 3.21)
project(consumer LANGUAGES CXX)
find_package(cairn CONFIG REQUIRED)
add_executable(consumer "$source/tests/package/consumer.cpp")
target_link_libraries(consumer PRIVATE cairn::cairn)
END
cmake -S . -B consumer -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$PWD/packages" > log
grep -q "^cairn_DIR:PATH=$PWD/packages/share/cairn$" consumer/CMakeCache.txt || { echo "FAILED: another package was found"; exit 1; }
cmake --build consumer
consumer/consumer checkpoint
