#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds and runs tests. On a fresh Debian 12: bash tests/run.sh
# Without options: unit, behaviour and golden tests with g++, and the rules of the sources. .ci/run runs these and one more part in turn.
#
#   --part NAME    one part, or several with several of these options; --parts lists them
#   --all          all parts
#   --no-install   do not install packages
#   --long         the long durability tests, with many more crashes, faults and saves; all types of the matrix
#   --only REGEX   run only the tests whose names match
#
# The last line is `N passed, N failed`; CAIRN_TEST_DATA may name a folder with MNIST's idx files.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

# A part: the preset, and the sections of tests/CMakeLists.txt. examples: those of examples/; small_examples: those that need no more packages.
declare -A part_of=(
  [short]="gcc units visibility rules"
  [durability]="gcc durability ranks interleavings"
  [examples]="gcc examples torch python site bench"
  [compilers]="gcc compile_fail compilers package matrix"
  [clang]="clang small_examples headers visibility fast_math thread_sanitizer compile_fail matrix"
  [sanitizers]="asan small_examples units buckets"
  [fuzz]="asan fuzz interleavings"
)
all_parts=(short durability examples compilers clang sanitizers fuzz)
declare -A packages_of=(
  [units]="libabsl-dev libarmadillo-dev libcurl4-openssl-dev libssl-dev libisal-dev"
  [rules]="clang-format-19"
  [durability]="libfuse3-dev fuse3 iproute2 e2fsprogs xfsprogs btrfs-progs"
  [ranks]="libopenmpi-dev openmpi-bin libmpich-dev mpich libisal-dev"
  # Without munkres, matplotlib brings SciPy, whose Boost excludes that of the build.
  [examples]="libcli11-dev nlohmann-json3-dev libtorch-dev libboost-serialization1.81-dev libdlib-dev libopenmpi-dev openmpi-bin groff-base zsh
              pybind11-dev python3-dev python3-pytest python3-pip python3-numpy python3-munkres python3-matplotlib python3-torch mypy slurm-wlm munge
              libcurl4-openssl-dev libssl-dev radosgw ceph-mon ceph-osd"
  [torch]="libtorch-dev"
  [python]="python3-numpy"
  [buckets]="radosgw ceph-mon ceph-osd"
  [site]="doxygen furo python3-breathe python3-myst-parser chromium chromium-driver python3-selenium fonts-dejavu-core"
  [bench]="python3-numpy python3-h5py libisal-dev"
  [compilers]="clang-16 clang-19 make g++-aarch64-linux-gnu qemu-user"
  [package]="dpkg-dev debhelper lintian libcli11-dev nlohmann-json3-dev libopenmpi-dev libtorch-dev libcurl4-openssl-dev libssl-dev libisal-dev"
  [headers]="libopenmpi-dev libisal-dev"
)

parts=() install=yes select=()
usage() { sed -n '3,/^set /s/^# \{0,1\}//p' tests/run.sh; }
while (($#)); do
  case $1 in
    --part)
      [[ -n ${part_of[${2-}]-} ]] || { echo "--part takes one of: ${all_parts[*]}" >&2; exit 2; }
      parts+=("$2"); shift ;;
    --parts) printf '%s\n' "${all_parts[@]}"; exit 0 ;;
    --all) parts=("${all_parts[@]}") ;;
    --no-install) install=no ;;
    --long) export CAIRN_LONG_TESTS=1 ;;
    --only) select=(--tests-regex "${2?--only takes a regular expression}"); shift ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $1" >&2; usage >&2; exit 2 ;;
  esac
  shift
done
((${#parts[@]})) || parts=(short)

# The sections of each preset.
declare -A sections_of=()
for part in "${parts[@]}"; do
  read -r preset sections <<<"${part_of[$part]}"
  sections_of[$preset]+=" $sections"
done

if [[ $install == yes ]]; then
  packages=(git pkg-config catch2 libcereal-dev libeigen3-dev zlib1g-dev python3)
  if [[ -n ${sections_of[clang]-}${sections_of[asan]-} ]]; then packages+=(clang-19 libclang-rt-19-dev); fi
  for section in ${sections_of[*]}; do packages+=(${packages_of[$section]-}); done
  # Two versions of libc++ exclude each other: where an older one is installed it stays, and the rows of libc++ 19 are skipped.
  if [[ " ${sections_of[*]} " == *" compilers "* ]] && ! dpkg-query -W 'libc++1-1[0-8]' >/dev/null 2>&1; then packages+=(libc++-19-dev libc++abi-19-dev); fi
  bash .cmake/install_packages.sh "${packages[@]}"
fi

passed=0 failed=0
# run_preset PRESET SECTION...: a program that does not build fails its own tests; the build then counts as one more failed test.
run_preset() {
  local preset=$1 build=build/$1 results=$PWD/build/$1/tests.xml sections examples=OFF keep_going=(-k)
  sections=$(printf '%s;' "${@:2}")
  if [[ "$*" == *examples* ]]; then examples=ON; fi
  if [[ ! -f $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
  cmake --preset "$preset" "-DCAIRN_TEST_SECTIONS=$sections" -DCAIRN_BUILD_EXAMPLES=$examples -DCAIRN_FEW_UNITS=ON
  if grep -q '^CMAKE_GENERATOR:INTERNAL=Ninja$' "$build/CMakeCache.txt"; then keep_going=(-k 0); fi
  cmake --build --preset "$preset" --parallel "$(nproc)" -- "${keep_going[@]}" || failed=$((failed + 1))
  rm -f "$results"
  ctest --preset "$preset" --parallel "$(nproc)" --output-junit "$results" "${select[@]}" || true
  if [[ ! -f $results ]]; then failed=$((failed + 1)); return; fi
  count() { sed -n "s/^[[:space:]]*$1=\"\([0-9]*\)\".*/\1/p" "$results" | head -n 1; }
  passed=$((passed + $(count tests) - $(count failures) - $(count disabled) - $(count skipped)))
  failed=$((failed + $(count failures)))
  # What the durability tests count, and the tests that cannot run here since what they need is missing.
  grep -oE '(crash matrix|fault matrix|interleavings|lost writes|altered (bits|lengths)|soak|allocations|disks|requests|histories on [^ ]*)[:,] [0-9a-z].*' "$results" || true
  sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/skipped: \1/p' "$results"
}
for preset in gcc clang asan; do
  if [[ -n ${sections_of[$preset]-} ]]; then run_preset "$preset" ${sections_of[$preset]}; fi
done
echo "$passed passed, $failed failed"
((failed == 0))
