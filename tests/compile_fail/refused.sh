#!/usr/bin/env bash
# Passes when a program does not compile and the compiler's words match the program's `// expect: <extended regex>`. A second line
# `// options: <option>...` adds options for the compiler.
# Usage: refused.sh <program.cpp> <compiler> [option...]
set -euo pipefail

program=$1
shift
expected=$(sed -n '1s|^// expect: ||p' "$program")
[[ -n $expected ]] || { echo "$program: the first line is not '// expect: <regex>'"; exit 1; }

read -ra options < <(sed -n '2s|^// options: ||p' "$program") || true

if words=$(LC_ALL=C "$@" "${options[@]}" -fsyntax-only -fdiagnostics-color=never "$program" 2>&1); then
  echo "$program: compiles, but should be refused"
  exit 1
fi
grep -Eq -- "$expected" <<<"$words" && exit 0
printf '%s: is refused, but no line matches: %s\n%s\n' "$program" "$expected" "$words"
exit 1
