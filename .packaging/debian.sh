#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the Debian packages of this source tree, source and binary, in a new temporary folder, and checks them with lintian. The packages are copied to the given
# folder, which must exist; the temporary folder is removed. Usage: debian.sh <folder for the packages>
# Needs dpkg-dev, debhelper and lintian, and what debian/control names. DEB_BUILD_OPTIONS is that of dpkg-buildpackage.
set -euo pipefail

packages=$(realpath -e "${1:?usage: debian.sh <folder for the packages>}")
root=$(dirname "$(dirname "$(realpath "$0")")")
version=$(sed -n 's/^#define CAIRN_VERSION "\(.*\)"$/\1/p' "$root/include/cairn/version.hpp")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The upstream source: what builds the library and the program. Its times are that of the changelog, so that the same source gives the same archive.
source=$work/cairn-$version
mkdir -p "$source/examples"
cp -r "$root"/{CMakeLists.txt,LICENSE,README.md,.cmake,include} "$source"
cp -r "$root/examples/cairn" "$source/examples"
date=$(dpkg-parsechangelog -l "$root/.packaging/debian/changelog" -S Date)
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="$date" -cJf "$work/cairn_$version.orig.tar.xz" "cairn-$version"
cp -r "$root/.packaging/debian" "$source/debian"

cd "$source"
dpkg-buildpackage -us -uc
cd "$work"
# There is no request for a package that a changelog could close.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs ./cairn_*.changes
find . -maxdepth 1 -type f -exec cp -t "$packages" {} +
