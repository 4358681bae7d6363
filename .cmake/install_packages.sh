#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that building with Cairn needs and that are missing. Uses the network only if one is.
# Usage: install_packages.sh [further package]...
set -euo pipefail

command -v dpkg-query >/dev/null || exit 0  # not Debian: the build reports what is missing
missing=()
for package in g++ cmake ninja-build librange-v3-dev libboost1.81-dev libhwy-dev rapidjson-dev libxxhash-dev "$@"; do
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || { echo "missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends --no-remove "${missing[@]}" >/dev/null && exit
removed=$(apt-get install -s --no-install-recommends "${missing[@]}" 2>/dev/null | sed -n 's/^Remv \([^ ]*\).*/\1/p' | tr '\n' ' ') || true
[[ -z $removed ]] || echo "installed packages are in the way, and are not removed: $removed" >&2
exit 1
