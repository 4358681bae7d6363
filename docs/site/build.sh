#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the site from docs/ and the headers: docs/site/build.sh OUTPUT. OUTPUT must not exist yet, or be an empty folder.
# Debian: apt-get install doxygen python3-sphinx furo python3-myst-parser python3-breathe. Any warning is an error.
set -euo pipefail
site=$(dirname "$(realpath "$0")")
root=$(realpath "$site/../..")
output=${1?usage: build.sh OUTPUT}

for tool in doxygen sphinx-build python3; do
  command -v "$tool" >/dev/null || { echo "build.sh: $tool is missing" >&2; exit 1; }
done
if [[ -e $output && ! -d $output ]] || [[ -d $output && -n $(ls -A "$output") ]]; then
  echo "build.sh: $output is not an empty folder" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 "$site/stage.py" stage "$root" "$work"
(cd "$work" && doxygen Doxyfile 2>doxygen.log)
/usr/bin/python3 "$site/stage.py" check "$root" "$work/doxygen.log"
/usr/bin/python3 -m sphinx -q -W --keep-going -c "$site" -d "$work/doctrees" -D breathe_projects.cairn="$work/xml" "$work/pages" "$output"
