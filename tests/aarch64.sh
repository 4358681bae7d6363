#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles the library, the golden tests and the tests of the SIMD kernels for AArch64, and runs them by qemu: the golden files are read and
# written with the same bits, and the NEON kernels give what the scalar loops give.
# Debian packages that it uses: g++-aarch64-linux-gnu qemu-user. Highway and xxHash for arm64 are unpacked into the folder: they are not installed.
#
#   aarch64.sh FOLDER [--sve] [test.cpp]...
#
# --sve: with SVE, for vectors of 128 to 2048 bits; else the SVE kernels are only compiled. test.cpp: files in tests/, in place of the golden tests
# and the kernels' tests.
#
# Exits with 77 if a tool or package is missing and cannot be fetched.
set -euo pipefail
folder=$(realpath -m "$1")
shift
sve=-march=armv8.2-a+sve flags=() cpus=(cortex-a57)
if [[ ${1-} == --sve ]]; then
  flags=($sve) cpus=(max,sve{128,256,512,2048}=on)
  shift
fi
cd "$(dirname "$(realpath "$0")")/.."

units=("$@")
if ((${#units[@]} == 0)); then units=(golden/format.cpp golden/chain.cpp golden/evolution.cpp encode/simd/{deltas,half_floats,planes,targets,zeros}.cpp); fi

skip() { echo "skipped: $*"; exit 77; }
for tool in aarch64-linux-gnu-g++ qemu-aarch64 make; do command -v $tool >/dev/null || skip "no $tool"; done

# The packages of headers alone are those of this machine: only links to them are in the path, not /usr/include itself.
mkdir -p "$folder"/{objects,packages,headers}
for name in boost range rapidjson catch2 cereal meta concepts std; do
  if [[ -e /usr/include/$name ]]; then ln -sfn /usr/include/$name "$folder/headers/$name"; fi
done
root=$folder/packages/root
if [[ ! -d $root ]]; then
  # Knows arm64 in a configuration of its own: the system's is as before.
  apt=(apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o "Dir::State::Lists=$folder/packages/lists"
       -o "Dir::Cache=$folder/packages/cache" -o Dir::State::status=/dev/null -qq)
  (cd "$folder/packages" && mkdir -p lists/partial cache && "${apt[@]}" update && "${apt[@]}" download libhwy1 libhwy-dev libxxhash0 libxxhash-dev) \
    >"$folder/packages/log" 2>&1 || skip "no packages for arm64: $(tail -n 1 "$folder/packages/log")"
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$root.part"; done
  mv "$root.part" "$root"
fi

compile=(aarch64-linux-gnu-g++ -std=c++20 "${flags[@]}" "-DCAIRN_TESTS=\"$PWD/tests\""
         -Wall -Wextra -Wconversion -Wshadow -Werror
         -Iinclude -Itests -I. -isystem "$folder/headers" -isystem "$root/usr/include")
if command -v ccache >/dev/null; then compile=(ccache "${compile[@]}"); fi
printf '#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n' >"$folder/main.cpp"

# A Makefile compiles them: the library in one unit, which takes less time than several.
objects=()
rules=
for source in tests/compilers/definitions.cpp "${units[@]/#/tests/}" "$folder/main.cpp"; do
  object=$folder/objects/$(basename "$(dirname "$source")")_$(basename "$source" .cpp).o
  level=-O0
  if [[ $source == */definitions.cpp || $source == tests/encode/* ]]; then level=-O1; fi
  objects+=("$object")
  rules+="$object: ; ${compile[*]@Q} $level -c '$source' -o \$@"$'\n'
done
program=$folder/tests
libraries=$root/usr/lib/aarch64-linux-gnu
rm -f "${objects[@]}"
printf '%s: %s ; aarch64-linux-gnu-g++ $^ -L%s -Wl,-rpath,%s -lhwy -lxxhash -lpthread -o $@\n%s' \
  "$program" "${objects[*]}" "$libraries" "$libraries" "$rules" >"$folder/Makefile"
make --silent -j "$(nproc)" -f "$folder/Makefile"
for unit in kernels lc; do "${compile[@]}" $sve -c include/cairn/definitions/$unit.cpp -o "$folder/objects/sve_$unit.o"; done
for cpu in "${cpus[@]}"; do qemu-aarch64 -cpu "$cpu" -L /usr/aarch64-linux-gnu "$program"; done
