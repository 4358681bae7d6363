#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds and runs the tests of one compiler; .ci/run runs all. On a fresh Debian 12: bash tests/run.sh
#
#   --compiler gcc|clang-19   the compiler; gcc when not given
#   --sanitize                with the address, leak and undefined behaviour sanitizers and the fuzz targets (clang-19)
#   --no-units                without the unit tests: those that mirror the headers, and the matrix
#   --no-install              do not install packages
#   --long                    the long durability tests, with many more crashes, faults and saves; all types of the matrix
#   --only REGEX              run only the tests whose names match
#
# The last line is `N passed, N failed`; CAIRN_TEST_DATA may name a folder with MNIST's idx files.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

preset=gcc install=yes units=ON select=()
usage() { sed -n '3,/^set /s/^# \{0,1\}//p' tests/run.sh; }
while (($#)); do
  case $1 in
    --compiler)
      case ${2-} in
        gcc | g++) preset=gcc ;;
        clang-19 | clang) preset=clang ;;
        *) echo "--compiler takes gcc or clang-19" >&2; exit 2 ;;
      esac
      shift ;;
    --sanitize) preset=asan ;;
    --no-units) units=OFF ;;
    --no-install) install=no ;;
    --long) export CAIRN_LONG_TESTS=1 ;;
    --only) select=(--tests-regex "${2?--only takes a regular expression}"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done

if [[ $install == yes ]]; then
  packages=(git pkg-config catch2 libabsl-dev libarmadillo-dev libcereal-dev nlohmann-json3-dev zlib1g-dev libzip-dev python3 python3-numpy)
  if [[ $preset == gcc ]]; then
    packages+=(libcli11-dev libtorch-dev libboost-serialization1.81-dev libdlib-dev groff-base zsh)                     # examples
    packages+=(pybind11-dev python3-dev python3-pytest python3-pip python3-matplotlib python3-torch mypy)              # Python
    packages+=(libfuse3-dev fuse3 iproute2 e2fsprogs xfsprogs btrfs-progs)                                             # file systems
    packages+=(libopenmpi-dev openmpi-bin libmpich-dev mpich slurm-wlm munge)                                          # ranks, jobs
    packages+=(doxygen furo python3-breathe python3-myst-parser chromium chromium-driver python3-selenium fonts-dejavu-core)  # pages
    packages+=(clang-16 clang-19 make g++-aarch64-linux-gnu qemu-user)                                                 # compilers
    # Two versions of libc++ exclude each other: where an older one is installed it stays, and the row of libc++ 19 is skipped.
    if ! dpkg-query -W 'libc++1-1[0-8]' >/dev/null 2>&1; then packages+=(libc++-19-dev libc++abi-19-dev); fi
  else
    packages+=(clang-19 libclang-rt-19-dev clang-format-19 dpkg-dev debhelper lintian libcli11-dev)
  fi
  bash .cmake/install_packages.sh "${packages[@]}"
fi

build=build/$preset
jobs=$(nproc)
keep_going=(-k)
if [[ ! -f $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
cmake --preset "$preset" -DCAIRN_UNIT_TESTS=$units -DCAIRN_FEW_UNITS=ON
if grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja$' "$build/CMakeCache.txt"; then keep_going=(-k 0); fi

# A program that does not build fails its own tests; the build then counts as one more failed test.
passed=0 failed=0
cmake --build --preset "$preset" --parallel "$jobs" -- "${keep_going[@]}" || failed=1
results=$PWD/$build/tests.xml
rm -f "$results"
ctest --preset "$preset" --parallel "$jobs" --output-junit "$results" "${select[@]}" || true
count() { sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$results" | head -n 1; }
if [[ -f $results ]]; then
  not_passed=$(($(count failures) + $(count disabled) + $(count skipped)))
  passed=$(($(count tests) - not_passed))
  failed=$((failed + $(count failures)))
else
  failed=$((failed + 1))
fi
# What the durability tests count.
if [[ -f $results ]]; then grep -oE '(crash matrix|fault matrix|interleavings|lost writes|altered (bits|lengths)|soak|allocations|disks|requests|histories on [^ ]*)[:,] [0-9a-z].*' "$results" || true; fi
# Tests that cannot run here: what they need is missing.
if [[ -f $results ]]; then sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/skipped: \1/p' "$results"; fi
echo "$passed passed, $failed failed"
((failed == 0))
