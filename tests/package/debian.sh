#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages without optimisation, which lintian must accept, installs them with dpkg into a folder, and
# builds and runs the consumer and the program with what is there. Exits with 77 where the tools are missing. Usage: debian.sh <source tree> <compiler> <scratch folder>
set -euo pipefail

for tool in dpkg-buildpackage dh lintian pkg-config; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
source=$(realpath "$1") compiler=$2
rm -rf "$3"
mkdir -p "$3/packages"
cd "$3"

unset CMAKE_GENERATOR
export DEB_BUILD_OPTIONS="nocheck noopt"
bash "$source/.packaging/debian.sh" "$PWD/packages" > log 2>&1 || { tail -n 40 log; exit 1; }
ls packages
for file in packages/cairn_*.dsc packages/cairn_*.orig.tar.xz packages/cairn_*.debian.tar.xz packages/cairn_*.changes; do
  [[ -f $file ]] || { echo "FAILED: there is no $file"; exit 1; }
done

# What they depend on is in this system, not in that folder.
mkdir -p root/var/lib/dpkg/{info,updates}
touch root/var/lib/dpkg/status
dpkg --root="$PWD/root" --force-depends --force-not-root --force-script-chrootless --log=/dev/null \
  --install packages/*.deb 2> dpkg.log
[[ $(grep -c '^Status: install ok installed$' root/var/lib/dpkg/status) -ge 2 ]]
pc=$(dirname "$(find root -name cairn.pc)")
eval "flags=($(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs cairn))"
[[ ${flags[*]} == *-Iroot/usr/* ]] || { echo "FAILED: pkg-config names another folder: ${flags[*]}"; exit 1; }
"$compiler" -std=c++20 "$source/tests/package/consumer.cpp" -o consumer "${flags[@]}"
./consumer checkpoint
root/usr/bin/cairn show checkpoint
for file in root/usr/share/man/man1/cairn.1.gz root/usr/share/zsh/vendor-completions/_cairn; do
  [[ -f $file ]] || { echo "FAILED: there is no $file"; exit 1; }
done
