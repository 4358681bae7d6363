#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# site.sh SCRATCH: builds the site into SCRATCH, a folder of this test alone, and checks it.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
scratch=${1?usage: site.sh SCRATCH}

for tool in doxygen sphinx-build chromium chromedriver; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
/usr/bin/python3 -c 'import breathe, furo, myst_parser, selenium' || { echo "skipped: a module is missing"; exit 77; }

rm -rf "$scratch"
mkdir -p "$scratch/other"
touch "$scratch/other/file"
if bash "$here/../../docs/site/build.sh" "$scratch/other" 2>/dev/null; then echo "build.sh has written into a folder of others"; exit 1; fi
[[ $(ls "$scratch/other") == file ]] || { echo "build.sh has changed a folder of others"; exit 1; }

began=$SECONDS
bash "$here/../../docs/site/build.sh" "$scratch/html"
echo "built in $((SECONDS - began)) s"
/usr/bin/python3 "$here/links.py" planted
/usr/bin/python3 "$here/links.py" "$scratch/html"
/usr/bin/python3 "$here/browser.py" "$scratch/html"
echo "checked in $((SECONDS - began)) s"
