#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The man page and the completion of shells, as they are installed. Usage: pages.sh CAIRN BUILD
set -euo pipefail

cairn=$(realpath "$1") build=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
die() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$work/prefix" --component program > installed 2>&1 || die "$(cat installed)"
man=prefix/share/man/man1/cairn.1 bash=prefix/share/bash-completion/completions/cairn zsh=prefix/share/zsh/site-functions/_cairn
for file in prefix/bin/cairn "$man" "$bash" "$zsh"; do [[ -s $file ]] || die "$file is not installed"; done
prefix/bin/cairn --version > /dev/null

# Nothing that --help names is missing, and the other way round.
commands=$("$cairn" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')
[[ $(wc -w <<< "$commands") -ge 9 ]] || die "--help names these commands only: $commands"
for command in $commands; do
  grep -qx "\.SS $command" "$man" || die "the man page has no command $command"
  for option in $("$cairn" "$command" --help | grep -oE '^ +(-o,)?--?[a-z-]+' | tr -d ' ' | sed 's/^-o,/-o /'); do
    sed -n "/^\.SS $command\$/,/^\.S/p" "$man" | sed 's/\\-/-/g' | grep -qF -- "$option" || die "the man page has no option $option of $command"
    grep -qF -- "$option" <(grep "^ *$command) " "$bash") || die "the completion of bash has no $option of $command"
    grep -qF -- "$option" <(grep "^ *$command) " "$zsh") || die "the completion of zsh has no $option of $command"
  done
done

if command -v groff > /dev/null; then
  groff -man -Tutf8 -ww -z "$man" > warnings 2>&1 || true
  [[ ! -s warnings ]] || die "groff warns: $(cat warnings)"
  groff -man -Tascii "$man" | grep -q 'Compare all bytes' || die "the man page has no text"
fi

# Completes the words that it gets, the last one at the cursor.
complete_in_bash() {
  bash --norc -euc 'source "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$(($# - 2)); _cairn; printf "%s\n" "${COMPREPLY[@]}"' - "$bash" "$@"
}
complete_in_bash cairn '' > completed
for command in $commands; do grep -qx -- "$command" completed || die "bash does not complete $command"; done
[[ $(complete_in_bash cairn sh) == show ]] || die "bash does not complete sh"
[[ $(complete_in_bash cairn prune --keep-l) == --keep-last ]] || die "bash does not complete an option"
[[ ! $(complete_in_bash cairn show run) ]] || die "bash completes a file name by itself"

if command -v zsh > /dev/null; then
  zsh -n "$zsh"
  [[ $(zsh -fc 'fpath=($1 $fpath); autoload -Uz compinit && compinit -u -D && print ${_comps[cairn]}' - "$(dirname "$zsh")") == _cairn ]] ||
    die "zsh does not find the completion"
  zsh -fc '_describe() { print -l -- ${(P)2}; }; words=(cairn ""); CURRENT=2; source $1' - "$zsh" | sed 's/:.*//' > completed
  for command in $commands; do grep -qx -- "$command" completed || die "zsh does not complete $command"; done
  zsh -fc '_arguments() { print -l -- $@; }; words=(cairn prune ""); CURRENT=3; source $1' - "$zsh" | grep -q -- '^--keep-last\[' ||
    die "zsh does not complete an option"
fi
echo "$(wc -w <<< "$commands") commands in the man page and the completion"
