#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages, which lintian must accept, installs them with dpkg into a folder, and builds and runs the consumer with what is there. The compiled library,
# which takes minutes, is left out, except with CAIRN_LONG_TESTS. Exits with 77 where the tools are missing. Usage: debian.sh <source tree> <compiler> <scratch folder>
set -euo pipefail

for tool in dpkg-buildpackage dh lintian pkg-config; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
source=$(realpath "$1") compiler=$2 package=cairn
rm -rf "$3"
mkdir -p "$3/packages"
cd "$3"

unset CMAKE_GENERATOR
export DEB_BUILD_OPTIONS=nocheck
if [[ -n ${CAIRN_LONG_TESTS-} ]]; then package=cairn-compiled; else export DEB_BUILD_PROFILES=pkg.cairn.headers; fi
bash "$source/.packaging/debian.sh" "$PWD/packages" > log 2>&1 || { tail -n 40 log; exit 1; }
ls packages
for file in packages/cairn_*.dsc packages/cairn_*.orig.tar.xz packages/cairn_*.debian.tar.xz packages/cairn_*.changes; do
  [[ -f $file ]] || { echo "FAILED: there is no $file"; exit 1; }
done

# What it depends on is in this system, not in that folder.
mkdir -p root/var/lib/dpkg/{info,updates}
touch root/var/lib/dpkg/status
dpkg --root="$PWD/root" --force-depends --force-not-root --force-script-chrootless --log=/dev/null --install packages/libcairn-dev_*.deb 2> dpkg.log
grep -q '^Status: install ok installed$' root/var/lib/dpkg/status
pc=$(dirname "$(find root -name "$package.pc")")
eval "flags=($(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs "$package"))"
[[ ${flags[*]} == *-Iroot/usr/* ]] || { echo "FAILED: pkg-config names another folder: ${flags[*]}"; exit 1; }
"$compiler" -std=c++20 "$source/tests/package/consumer.cpp" -o consumer "${flags[@]}"
./consumer checkpoint
if [[ -n ${CAIRN_LONG_TESTS-} ]]; then
  dpkg --root="$PWD/root" --force-depends --force-not-root --force-script-chrootless --log=/dev/null --install packages/cairn_*.deb 2>> dpkg.log
  root/usr/bin/cairn show checkpoint
  [[ -f root/usr/share/man/man1/cairn.1.gz && -f root/usr/share/zsh/vendor-completions/_cairn ]] || { echo "FAILED: no man page or completion"; exit 1; }
fi
