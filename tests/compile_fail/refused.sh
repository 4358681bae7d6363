#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Passes when a program does not compile, and for each line that ends in `// here` or `// error`, perhaps with a regex
# after that, there is one error that
# - names the line: from there the template is used in which the error is; or, for `// error`, is in the line,
# - matches this regex, and gives each advice of the last lines `// expect: <extended regex>` above the line,
# - has at most 20 lines, or as many as a line `// lines: <number> <reason>` beside these says.
# All errors together have at most the sum of these numbers of lines.
# A line `// options: <option>...` adds options for the compiler.
# Usage: refused.sh <program.cpp> <compiler> [option...]
set -euo pipefail

program=$1
shift
mapfile -t options < <(sed -n 's|^// options: ||p' "$program" | tr ' ' '\n')
if words=$(LC_ALL=C "$@" "${options[@]}" -fsyntax-only -fdiagnostics-color=never "$program" 2>&1); then
  echo "$program: compiles, but should be refused"
  exit 1
fi
# Lines that say where an error or a note is come before it.
mapfile -d $'\036' -t errors < <(awk '
  /^In file included from |^[^ ]+: (In|At) / { holds = 1 }
  / error: / && /^[^ ]/ { if (errors++) printf "\036" }
  / (error|warning|note): / && /^[^ ]/ { printf "%s", held; held = ""; holds = 0 }
  holds { held = held $0 "\n"; next }
  { print }' <<<"$words")

# fits <error> <mark> <line> <regex>...
fits() {
  [[ $2 == here && $1 == *"$program:$3:"* || $1 == *"$program:$3:"+([0-9])": "?(fatal )"error: "* ]] || return 1
  local regex
  for regex in "${@:4}"; do grep -Eq -- "$regex" <<<"$1" || return 1; done
}

problems=()
number=0 last=0 most=0
advice=() limit=20
while IFS= read -r line; do
  number=$((number + 1))
  if [[ $line =~ ^\ *//\ (expect|lines):\ (.+) ]]; then
    ((number == last + 1)) || { advice=() limit=20; }
    last=$number
    if [[ ${BASH_REMATCH[1]} == expect ]]; then advice+=("${BASH_REMATCH[2]}"); else limit=${BASH_REMATCH[2]%% *}; fi
  elif [[ $line =~ \ //\ (here|error)(\ (.+))?$ ]]; then
    most=$((most + limit))
    mark=${BASH_REMATCH[1]} regexes=("${advice[@]}" ${BASH_REMATCH[3]:+"${BASH_REMATCH[3]}"}) lines=0
    ((${#regexes[@]})) || problems+=("line $number has no regex, and no '// expect: <regex>' above it")
    for error in "${errors[@]}"; do
      fits "$error" "$mark" "$number" "${regexes[@]}" && lines=$(wc -l <<<"${error%$'\n'}") && break
    done
    if ((!lines)); then problems+=("no error in or from line $number matches all of:$(printf '\n  %s' "${regexes[@]}")"); fi
    ((lines <= limit)) || problems+=("the error of line $number has $lines lines")
  fi
done <"$program"
((most)) || problems+=("the program marks no line")
count=$(wc -l <<<"$words")
((count <= most)) || problems+=("all errors have $count lines")
((${#problems[@]})) || exit 0
printf "$program: is refused, but %s\n" "${problems[@]}"
printf '%s\n' "$words"
exit 1
