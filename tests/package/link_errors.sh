#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program of several .cpp files, without a build system: it links and runs if one of them includes
# cairn/implementation.hpp. If none or two do, if the others were compiled with headers of another version, or with
# other layouts of containers, the linker names what is wrong; the loader does where a shared library is of another
# version. A program that has the definitions and links the library too uses its own.
# Usage: link_errors.sh <source tree> <compiler> <scratch folder>
set -euo pipefail

source=$(realpath "$1") compiler=$2
rm -rf "$3"
mkdir -p "$3"
cd "$3"
compile() { "$compiler" -std=c++20 -O0 -fPIC -pthread -I"$1" -c "$2" -o "$3" "${@:4}"; }
link() { "$compiler" -pthread "$@" -lhwy -o program; }
# names <name> <command>...: the command fails, and what it says contains the name.
names() {
  if "${@:2}" > log 2>&1; then echo "FAILED: ${*:2} is no error" && exit 1; fi
  grep -q "$1" log || { head -n 20 log; echo "FAILED: ${*:2} does not name $1"; exit 1; }
}

echo '#include <cairn/implementation.hpp>' > implementation.cpp
compile "$source/include" implementation.cpp implementation.o
for unit in consumer interface; do compile "$source/include" "$source/tests/package/$unit.cpp" $unit.o; done
link consumer.o interface.o implementation.o
./program checkpoint

version() { echo "cairn_$(sed -n 's/^#define CAIRN_VERSION "\(.*\)"$/\1/p' "$1/cairn/version.hpp" | tr . _)"; }
here=$(version "$source/include") missing=is_missing_link_it_or_include_cairn_implementation_hpp_in_one_cpp_file
names "${here}_$missing" link consumer.o interface.o

cp implementation.o second.o
names cairn_implementation_hpp_is_included_in_two_cpp_files link consumer.o interface.o implementation.o second.o

ar rc libcairn.a second.o
"$compiler" -shared implementation.o -lhwy -o libcairn.so
for library in ./libcairn.a ./libcairn.so; do
  link consumer.o interface.o implementation.o -Wl,--no-as-needed $library
  ./program checkpoint
done

link consumer.o interface.o ./libcairn.so
./program checkpoint
objcopy --redefine-sym "${here}_$missing=cairn_0_0_99_$missing" implementation.o other.o
"$compiler" -shared other.o -lhwy -o libcairn.so
names "${here}_$missing" ./program checkpoint

compile "$source/include" "$source/tests/package/consumer.cpp" consumer.o -D_GLIBCXX_DEBUG
names "${here}_with_GLIBCXX_DEBUG_is_missing" link consumer.o implementation.o

cp -r "$source/include" other
sed -i -e 's/^\(#define CAIRN_VERSION_PATCH\) .*/\1 99/' \
  -e 's/^\(#define CAIRN_VERSION ".*\.\).*"$/\199"/' other/cairn/version.hpp
compile other "$source/tests/package/consumer.cpp" consumer.o
[[ $(version other) == *_99 ]]
names "$(version other)_$missing" link consumer.o interface.o implementation.o
