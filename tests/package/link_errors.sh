#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program of several .cpp files, without a build system: it links and runs if one of them includes
# cairn/implementation.hpp. If none or two do, or if the others were compiled with headers of another version, the linker
# names what is wrong. Usage: link_errors.sh <source tree> <compiler> <scratch folder>
set -euo pipefail

source=$(realpath "$1") compiler=$2
rm -rf "$3"
mkdir -p "$3"
cd "$3"
compile() { "$compiler" -std=c++20 -O0 -pthread -I"$1" -c "$2" -o "$3"; }
link() { "$compiler" -pthread "$@" -lhwy -o program; }
# refuses <name> <object>...: the linker refuses the objects, and what it says contains the name.
refuses() {
  if link "${@:2}" > log 2>&1; then echo "FAILED: ${*:2} link" && exit 1; fi
  grep -q "$1" log || { head -n 20 log; echo "FAILED: the linker does not name $1"; exit 1; }
}

echo '#include <cairn/implementation.hpp>' > implementation.cpp
compile "$source/include" implementation.cpp implementation.o
for unit in consumer interface; do compile "$source/include" "$source/tests/package/$unit.cpp" $unit.o; done
link consumer.o interface.o implementation.o
./program checkpoint

version() { echo "cairn_$(sed -n 's/^#define CAIRN_VERSION "\(.*\)"$/\1/p' "$1/cairn/version.hpp" | tr . _)"; }
missing=is_missing_link_it_or_include_cairn_implementation_hpp_in_one_cpp_file
refuses "$(version "$source/include")_$missing" consumer.o interface.o

cp implementation.o second.o
refuses cairn_implementation_hpp_is_included_in_two_cpp_files consumer.o interface.o implementation.o second.o

cp -r "$source/include" other
sed -i -e 's/^\(#define CAIRN_VERSION_PATCH\) .*/\1 99/' \
  -e 's/^\(#define CAIRN_VERSION ".*\.\).*"$/\199"/' other/cairn/version.hpp
compile other "$source/tests/package/consumer.cpp" consumer.o
[[ $(version other) == *_99 ]]
refuses "$(version other)_$missing" consumer.o interface.o implementation.o
