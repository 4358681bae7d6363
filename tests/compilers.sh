#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles tests/compilers/program.cpp with one compiler, standard library, language standard and set of flags, and runs it. A row is skipped, with
# a word, if its compiler or standard library is not here.
#
#   compilers.sh FOLDER ROW     one row; exits with 77 if it is skipped
#   compilers.sh FOLDER --all   all rows, two at a time, and a table of the results
#   compilers.sh --rows         the names of the rows; those that begin with CI: are tests of CTest
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

# Name, compiler, what is compiled, flags. `all`: program and definitions with these flags; `program`: the definitions with RTTI.
warnings="-Wall -Wextra -Wconversion -Wshadow -Werror"
rows() {
  local compiler standard
  for compiler in g++-12 g++-13 g++-14 clang++-16 clang++-17 clang++-18 clang++-19; do
    for standard in 20 23 2c; do
      case $compiler/$standard in
        clang++-16/20) echo "CI:$compiler/c++20 $compiler all -std=c++20 $warnings" ;;
        clang++-16/23) echo "$compiler/c++23 $compiler all -std=c++2b $warnings" ;;
        g++-1[23]/2c | clang++-16/2c) ;;  # these compilers do not have it
        clang++-17/2[3c])  # it does not compile std::thread of libstdc++ 14, and std::tuple of 13, as C++23
          echo "$compiler/c++$standard $compiler all -std=c++$standard --gcc-install-dir=/usr/lib/gcc/x86_64-linux-gnu/12 $warnings" ;;
        *) echo "$compiler/c++$standard $compiler all -std=c++$standard $warnings" ;;
      esac
    done
  done
  for standard in 20 23 2c; do
    echo "$([[ $standard != 23 ]] || echo CI:)clang++-19/libc++/c++$standard clang++-19 all -std=c++$standard -stdlib=libc++ $warnings"
  done
  echo "clang++-18/libc++ clang++-18 all -std=c++20 -stdlib++-isystem /usr/lib/llvm-19/include/c++/v1 -stdlib=libc++ $warnings"
  echo "clang++-19/libc++/O1 clang++-19 all -std=c++20 -O1 -stdlib=libc++ $warnings"
  for compiler in g++-12 g++-13 g++-14 clang++-16 clang++-19; do
    local mark=
    if [[ $compiler == g++-12 ]]; then mark=CI:; fi
    local of_headers=  # with -flto, g++ suspects its own AVX-512 headers of reading uninitialized variables
    if [[ $compiler == g++* ]]; then of_headers="-Wno-maybe-uninitialized -Wno-uninitialized"; fi
    echo "$mark$compiler/O3-native $compiler all -std=c++20 -O3 -march=native $warnings"
    echo "$mark$compiler/lto-hidden-no-rtti $compiler all -std=c++2b -O1 -flto=auto -fvisibility=hidden -fvisibility-inlines-hidden -fno-rtti $warnings $of_headers"
    echo "$compiler/no-rtti-program $compiler program -std=c++20 -O1 -fno-rtti $warnings"
    echo "$compiler/fast-math $compiler all -std=c++20 -O2 -ffast-math $warnings"
    echo "$compiler/debug-containers $compiler all -std=c++20 -D_GLIBCXX_DEBUG -D_GLIBCXX_DEBUG_PEDANTIC $warnings"
  done
  echo "clang++-19/libc++-debug clang++-19 all -std=c++20 -stdlib=libc++ -D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_DEBUG $warnings"
}

# Prints why a row cannot be run here.
missing() {
  command -v "$1" >/dev/null || { echo "no $1"; return; }
  local flag
  for flag in "${@:2}"; do
    if [[ $flag == -stdlib=libc++ && ! -e /usr/lib/llvm-19/include/c++/v1/version ]]; then echo "no libc++-19-dev"; return; fi
    if [[ $flag == --gcc-install-dir=* && ! -e ${flag#*=}/crtbegin.o ]]; then echo "no libstdc++-${flag##*/}-dev"; return; fi
    if [[ $flag == -flto=auto && $1 == clang* ]] && ! ls "/usr/lib/llvm-${1##*-}/lib/LLVMgold.so" >/dev/null 2>&1; then
      echo "no ${1/clang++/llvm}-dev, which has the linker's plugin"
      return
    fi
  done
}

run_row() {
  local folder=$1 name=$2 compiler=$3 form=$4 why
  shift 4
  why=$(missing "$compiler" "$@")
  if [[ $why ]]; then echo "$name: skipped, $why"; return 77; fi
  folder=$folder/${name//[+\/]/_}
  rm -rf "$folder"
  mkdir -p "$folder"
  local rtti=()
  if [[ $form == program ]]; then rtti=(-frtti); fi
  if ! { "$compiler" "$@" -Iinclude -c tests/compilers/program.cpp -o "$folder/program.o" &&
         "$compiler" "$@" "${rtti[@]}" -Iinclude -c tests/compilers/definitions.cpp -o "$folder/definitions.o" &&
         "$compiler" "$@" "$folder"/{program,definitions}.o -lhwy -lpthread -o "$folder/program"; } 2>"$folder/words"; then
    echo "$name: does not compile"
    head -n 40 "$folder/words"
    return 1
  fi
  if [[ -s $folder/words ]]; then
    echo "$name: the compiler or linker warns"
    head -n 40 "$folder/words"
    return 1
  fi
  if ! "$folder/program" "$folder/run" 2>&1; then echo "$name: compiles, but does not run as it should"; return 1; fi
  echo "$name: passed"
}


case ${1-} in
  --rows) rows | cut -d ' ' -f 1 ;;
  "") sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  *)
    folder=$(realpath -m "$1")
    if [[ ${2-} == --all ]]; then
      rows | sed 's/^CI://; s/ .*//' | { xargs -P 2 -I ROW bash "$0" "$folder" ROW || true; } | tee "$folder.txt"
      echo "$(grep -c ': passed$' "$folder.txt" || true) passed, $(grep -c ': skipped' "$folder.txt" || true) skipped, $(rows | wc -l) rows"
      ! grep -qE ': (does not compile|the compiler or linker warns|compiles, but)' "$folder.txt"
    else
      row=$(rows | sed 's/^CI://' | awk -v name="${2-}" '$1 == name')
      [[ $row ]] || { echo "there is no row ${2-}" >&2; exit 2; }
      read -ra words <<<"$row"
      run_row "$folder" "${words[@]}"
    fi
    ;;
esac
