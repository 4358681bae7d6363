#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Passes when a program does not compile, and the compiler
# - gives each advice of the lines `// expect: <extended regex>`,
# - reports an error in each line that ends in `// error`,
# - names each line that ends in `// here`: from there the template is used in which the error is,
# - prints at most 20 lines for each of these lines, or as many as a line `// lines: <number> <reason>` says.
# A line `// options: <option>...` adds options for the compiler; such a program does not use the precompiled header.
# Usage: refused.sh <program.cpp> <precompiled header> <compiler> [option...]
set -euo pipefail

program=$1
precompiled=$2
shift 2
mapfile -t expected < <(sed -n 's|^// expect: ||p' "$program")
mapfile -t errors < <(sed -n '\|// error$|=' "$program")
mapfile -t named < <(sed -n '\|// here$|=' "$program")
marked=$((${#errors[@]} + ${#named[@]}))
((${#expected[@]} && marked)) || { echo "$program: has no '// expect: <regex>', or no '// error' and no '// here'"; exit 1; }
most=$(sed -En 's|^// lines: ([0-9]+) .+|\1|p' "$program")
if grep -q '^// options:' "$program"; then
  read -ra options < <(sed -n 's|^// options: ||p' "$program")
else
  options=(-include "$precompiled")
fi

if words=$(LC_ALL=C "$@" "${options[@]}" -fsyntax-only -fdiagnostics-color=never "$program" 2>&1); then
  echo "$program: compiles, but should be refused"
  exit 1
fi
problems=()
for advice in "${expected[@]}"; do
  grep -Eq -- "$advice" <<<"$words" || problems+=("no line matches: $advice")
done
for line in "${errors[@]}"; do
  grep -F -- "$program:$line:" <<<"$words" | grep -q ' error: ' || problems+=("no error is in line $line")
done
for line in "${named[@]}"; do
  grep -Fq -- "$program:$line:" <<<"$words" || problems+=("line $line is not named")
done
count=$(wc -l <<<"$words")
((count <= ${most:-20 * marked})) || problems+=("the error has $count lines")
((${#problems[@]})) || exit 0
printf "$program: is refused, but %s\n" "${problems[@]}"
printf '%s\n' "$words"
exit 1
