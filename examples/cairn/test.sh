#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each command of the program, on a run of a trainer and on what is none. Usage: test.sh CAIRN LENET GOLDEN
set -euo pipefail

cairn=$(realpath "$1") lenet=$(realpath "$2") golden=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

die() { echo "FAILED: $*"; [[ -f out ]] && cat out; exit 1; }
# Runs the program; its output goes to `out`. The first argument is the exit status that it must have.
run() {
  local status=0
  "$cairn" "${@:2}" > out 2>&1 || status=$?
  ((status == $1)) || die "cairn ${*:2}: exit status $status, not $1"
}
says() { grep -qE -- "$1" out || die "no line matches: $1"; }
# An error: one line that begins with "cairn: ".
fails() {
  run 2 "$@"
  [[ $(wc -l < out) == 1 && $(head -c 7 out) == "cairn: " ]] || die "cairn $*: no error of one line"
}

for run in run:lossless deltas:xor; do
  "$lenet" --checkpoint "${run%:*}" --codec "${run#*:}" --limit 200 --batch 16 --epochs 2 --every 3 --keep 6 \
    --events events.jsonl > /dev/null
done
[[ -d run/step-000000024 ]] || die "the trainer has saved nothing"
oldest=$(find run -maxdepth 1 -name 'step-*' | sort | head -n 1)
count=$(find run -maxdepth 1 -name 'step-*' | wc -l)
newest=$(find run -maxdepth 1 -name 'step-*' | sort | tail -n 1)
delta=$("$cairn" ls deltas | awk '$2 == "delta" { name = $1 } END { print name }')
[[ $delta ]] || die "the run has no delta"

run 0 ls run
says '^NAME +KIND +STEP +SIZE .*loss'
says '^step-000000024 +whole +24 '
says "^$count checkpoints, "
run 0 ls run --json
[[ $(grep -c '"name":' out) == "$count" ]] || die "not $count checkpoints in JSON"
run 0 ls run --keep-last 1
says 'would be removed$'

run 0 show run
says 'F32 +\['
run 0 show "$newest" --json
says '"tensors": \['
run 0 show "$oldest"
says '^[0-9]+ arrays, '

run 0 verify run --all
[[ $(wc -l < out) == "$count" ]] || die "not $count checkpoints are verified"
run 0 diff run run
says '^0 of '
run 1 diff "$oldest" "$newest"
says ' values '
run 1 diff "$oldest" "$newest" --json
says '"relative_l2":'
run 0 plan run --ranks 4
[[ $(grep -cE '^ +[0-3] ' out) == 4 ]] || die "not 4 ranks"

run 0 export "$newest" all.safetensors
run 0 diff "$newest" all.safetensors
first=$("$cairn" show "$newest" | awk '$2 == "F32" { print $1; exit }')
run 0 export run one.safetensors --filter "$first" --strip "${first%%.*}."
says '^1 array, '
run 0 show one.safetensors
says "^${first#*.} +F32"
if "$cairn" --help | grep -q ' import '; then
  run 0 import "$golden/import/trainer.pt" imported --filter 'model.*' --strip model.
  run 0 show imported
  says '^0.weight +F32 +\[2, 3\]'
  fails import nowhere other
  fails import "$golden/import/trainer.pt" imported
  says 'is there already'
fi

cp -r deltas merged
run 0 merge "merged/$delta"
says "^merged [0-9]+ delta"
run 0 diff "deltas/$delta" "merged/$delta"
run 0 merge "merged/$delta"
says 'whole already'

run 0 prune run --keep-last 1
says "^would remove ${oldest#run/}, which is not one of the last 1"
says '; --yes removes them$'
[[ -d $oldest ]] || die "prune without --yes has removed something"
run 0 prune run --keep-last 1 --yes
[[ ! -d $oldest && -d $newest ]] || die "prune has not removed what it should"
run 0 verify run --all

touch empty.txt
run 0 report deltas -o run.html
run 0 report run --events events.jsonl -o events.html
for page in run.html events.html; do
  [[ $(grep -c '<svg' "$page") -ge 2 && $(tail -n 1 "$page") == "</body></html>" ]] || die "$page is no page with plots"
  ! grep -qE '(src|href)=' "$page" || die "$page is not self-contained"
done
grep -q 'for which the trainer waits' events.html || die "no events in the report"
fails report run --events nowhere -o x.html
fails report nowhere -o x.html
fails report run -o nowhere/x.html
fails report run --events empty.txt -o x.html
fails report run -o "$newest/index.json"
fails report run --events events.jsonl -o events.jsonl
[[ ! -e x.html && ! -e x.html.new ]] || die "a report that failed has left something"
run 0 report run -o run.html
run 0 verify run --all
mkdir empty
echo text > foreign
cp -r "$newest" damaged
shard=$(find damaged -name '*.safetensors' | head -n 1)
printf 'X' | dd of="$shard" bs=1 seek=$(($(stat -c %s "$shard") - 1)) conv=notrunc status=none
run 1 verify damaged
says 'checksum'
mkdir unreadable
cp -r "$newest" unreadable/step-000000009
echo '{}' > unreadable/step-000000009/index.json
run 0 ls unreadable
says '^step-000000009 +unreadable'
cp -r run unopened
find "unopened/${newest#run/}" -name '*.safetensors' -delete
fails prune unopened --keep-last 1 --yes
cp -r run several
echo '{}' > "several/${newest#run/}/index.json"
run 1 verify several --all
for place in nowhere empty foreign unreadable; do
  for command in show "diff run" "plan --ranks 2" merge; do
    read -ra words <<< "$command"
    fails "${words[@]}" "$place"
  done
  fails export "$place" out.safetensors
  fails prune "$place" --keep-last 1
done
run 1 verify unreadable
fails verify nowhere
fails verify empty --all
fails ls nowhere
fails ls foreign
fails prune run
fails no-such-command
says 'no command "no-such-command"'
fails
for number in 0 -1 010 0x10 99999999999999999999 ''; do
  fails plan run --ranks "$number"
  fails prune run --keep-every "$number" --yes
done
fails prune run --keep-best 1 --metric nope --yes
fails ls run --metric loss
fails export run ''
fails export one.safetensors one.safetensors
fails ls run and more
run 0 --help
run 0 --version
status=0
"$cairn" ls run > /dev/full 2> out || status=$?
((status == 2)) || die "a full disk is not noticed"
echo "$count checkpoints listed, shown, verified, compared, exported, merged, pruned"
