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
# The output is JSON, and nothing else; the expression, in Python and about `it`, is true.
json() {
  local status=0
  "$cairn" "${@:3}" --json > out 2> err || status=$?
  ((status == $2)) && [[ ! -s err ]] || die "cairn ${*:3} --json: exit status $status, $(cat err)"
  python3 -c 'import json, sys; it = json.load(open("out")); sys.exit(not eval(sys.argv[1]))' "$1" || die "cairn ${*:3} --json: not $1"
}
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
json "len(it) == $count and all(each['kind'] == 'whole' and each['bytes'] > 0 and 'loss' in each['metrics'] for each in it)" 0 ls run
json 'all(each["bytes"] == sum(file.stat().st_size for file in __import__("pathlib").Path("run", each["name"]).iterdir()) for each in it)' 0 ls run
touch -d '2026-11-28 16:04:30' "$newest/index.json"
run 0 ls run
says "^${newest#run/} .* 2026-11-28 16:04 "
json "it[-1]['time'] == $(stat -c %Y "$newest/index.json") and not any(each['reshaped'] for each in it)" 0 ls run
json 'any(each["kind"] == "delta" and each["parent"].startswith("step-") for each in it)' 0 ls deltas
json 'sum("would_be_removed" in each for each in it) == len(it) - 1' 0 ls run --keep-last 1
run 0 ls deltas
says "^$delta +delta +step-[0-9]+ +[0-9]+ "
run 0 ls run --keep-last 1
says 'would be removed$'
says "^${newest#run/} .* kept\$"

run 0 show run
says 'F32 +\['
json 'len(it["tensors"]) > 10 and it["step"] == 24 and it["tensors"][0]["type"] and "structure" in it' 0 show "$newest"
# Continues from a delta of a lossy codec.
lossy() { "$lenet" --checkpoint lossy --codec lc3 --limit 200 --batch 16 --every 3 --keep 9 "$@" > /dev/null; }
lossy --epochs 1
base=$("$cairn" ls lossy | awk '$2 == "delta" { name = $1 } END { print name }')
find lossy -maxdepth 1 -name 'step-*' -newer "lossy/$base" -exec rm -r {} +
run 0 show "lossy/$base"
says ' lc3, delta +[0-9.e-]+ +0\.[0-9]+$'
json 'any(0 < each.get("relative_l2_lost", 0) < each.get("delta_l2_lost", 0) < 1 for each in it["tensors"])' 0 show "lossy/$base"
lossy --epochs 2
run 0 show lossy
says '^restored 1 time from a checkpoint with losses$'
json 'any(each.get("lossy_restores") == 1 for each in it["tensors"])' 0 show lossy
cp -r "$golden/evolution-2" golden
run 0 show golden
says '^STRUCTURE +WHAT IS STORED$'
run 0 show "$oldest"
says '^[0-9]+ arrays, '

run 0 verify run --all
[[ $(wc -l < out) == "$count" ]] || die "not $count checkpoints are verified"
json 'len(it) == '"$count"' and all(each["is_intact"] for each in it)' 0 verify run --all
run 0 diff run run
says '^0 of '
run 1 diff "$oldest" "$newest"
says ' values '
json 'any(isinstance(each.get("relative_l2"), float) and each["elements"] > 1 for each in it)' 1 diff "$oldest" "$newest"
json 'it == []' 0 diff run run
run 0 plan run --ranks 4
[[ $(grep -cE '^ +[0-3] ' out) == 4 ]] || die "not 4 ranks"
json '[each["rank"] for each in it] == [0, 1, 2, 3]' 0 plan run --ranks 4

run 0 export "$newest" all.safetensors
run 0 diff "$newest" all.safetensors
run 0 verify all.safetensors
says 'no checksums: only the header was read'
json 'it[0]["has_checksums"] is False' 0 verify all.safetensors
run 0 verify "$(find "$newest" -name '*.safetensors' | head -n 1)"
says 'all checksums match'
json 'it["files"][0].endswith("/json/model.safetensors") and it["arrays"] > 10' 0 export run json
first=$("$cairn" show "$newest" | awk '$2 == "F32" { print $1; exit }')
run 0 export run one.safetensors --filter "$first" --strip "${first%%.*}."
says '^1 array, '
run 0 show one.safetensors
says "^${first#*.} +F32"
python3 - << 'END'
for step, sizes in enumerate(((1000, 1000), (1000, 1010)), start=1):
    with open(f"{step}.safetensors", "wb") as file:
        ends = [4 * sum(sizes[: i + 1]) for i in range(2)]
        header = ",".join(f'"model.{name}":{{"dtype":"F32","shape":[{size}],"data_offsets":[{end - 4 * size},{end}]}}' for name, size, end in zip("ab", sizes, ends))
        file.write((len(header) + 2).to_bytes(8, "little") + b"{" + header.encode() + b"}" + bytes(ends[-1]))
END
run 0 import 1.safetensors imported --filter '*.a' --strip model.
run 0 show imported
says '^a +F32 +\[1000\]'
json 'it["arrays"] == 2' 0 import 1.safetensors imported.json
for step in 1 2; do run 0 import $step.safetensors grown/step-00000000$step --step $step; done
run 0 ls grown
says '^step-000000002 .* 1 array of another shape$'
says '^step-000000001 .*[0-9]$'
json '[each["reshaped"] for each in it] == [0, 1]' 0 ls grown
fails import nowhere other
fails import 1.safetensors imported
says 'is there already'

run 0 copy "deltas/$delta" copied
says '^copied [0-9]+ checkpoints to .*copied, '
run 0 verify --all copied
run 0 diff "deltas/$delta" copied
run 0 copy "deltas/$delta" copied
says 'has step-[0-9]+ already$'
json 'it["copied"] == 1 and it["bytes"] > 0' 0 copy "$newest" other
fails copy "deltas/${newest#run/}" other
says 'has another step-'
cp -r run spoilt
shard=$(find "spoilt/${newest#run/}" -name '*.safetensors' | head -n 1)
printf 'X' | dd of="$shard" bs=1 seek=$(($(stat -c %s "$shard") - 1)) conv=notrunc status=none
fails copy "spoilt/${newest#run/}" damaged-copy
says 'not match'
run 2 ls damaged-copy

cp -r deltas merged
cp -r deltas merged-json
json 'it["deltas"] > 0' 0 merge "merged-json/$delta"
json 'it["deltas"] == 0' 0 merge "merged-json/$delta"
run 0 merge "merged/$delta"
says "^merged [0-9]+ delta"
run 0 diff "deltas/$delta" "merged/$delta"
run 0 merge "merged/$delta"
says 'whole already'

run 0 prune run --keep-last 1
says "^would remove ${oldest#run/}, which is not one of the last 1"
says '; --yes removes them$'
json 'len(it) == '"$((count - 1))"' and not any(each["is_removed"] for each in it)' 0 prune run --keep-last 1
[[ -d $oldest ]] || die "prune without --yes has removed something"
cp -r run pruned
run 0 prune run --keep-last 1 --yes
[[ ! -d $oldest && -d $newest ]] || die "prune has not removed what it should"
run 0 verify run --all

touch empty.txt
run 0 report deltas -o run.html
run 0 report run --events events.jsonl -o events.html
[[ $(grep -c '<svg' events.html) -ge 5 && $(tail -n 1 events.html) == "</body></html>" ]] || die "events.html is no page with plots"
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
cp damaged/*.safetensors "pruned/${newest#run/}/"
fails prune pruned --keep-last 1 --yes
says 'nothing is removed while the newest checkpoint cannot be read'
cp -r run renamed
cp -r "$newest" renamed/step-999999999
run 1 verify --all renamed
says 'which is not that of its name'
mkdir unreadable
cp -r "$newest" unreadable/step-000000009
echo '{}' > unreadable/step-000000009/index.json
run 1 ls unreadable
says '^step-000000009 +unreadable'
cp -r run unopened
find "unopened/${newest#run/}" -name '*.safetensors' -delete
fails prune unopened --keep-last 1 --yes
cp -r run several
echo '{}' > "several/${newest#run/}/index.json"
run 1 verify several --all
# The disk of a host of a group: what is there is compared, and what other hosts have is not missed.
mkdir -p host/slot-00 host/others-00
cp -r "$newest" "host/slot-00/$(basename "$newest").0000000100000000"
cp -r "$newest" "host/others-00/$(basename "$newest").0000000200000000"
run 0 verify host --all
says "slot-00/$(basename "$newest").0000000100000000: all checksums match"
[[ $(wc -l < out) == 2 ]] || die "not two lines"
shard=$(find host/others-00 -name '*.safetensors' | head -n 1)
printf x | dd of="$shard" bs=1 seek=$(($(stat -c %s "$shard") - 1)) conv=notrunc status=none
json '[each["is_intact"] for each in it] == [False, True]' 1 verify host --all
rm "$shard"
run 0 verify host --all
run 1 verify unreadable
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

# On a terminal there are colours and bars; without one there is neither, and NO_COLOR and --json leave them out.
on_terminal() { TERM=xterm script -qec "$(printf '%q ' "$cairn" "$@")" /dev/null < /dev/null > out || true; }
bar=$'\\[#* *\\] *[0-9]+ %' escape=$'\x1b\\['
for command in "verify run --all" "export run on-terminal" "merge merged" "diff run deltas" "import one.safetensors on-terminal.imported"; do
  read -ra words <<< "$command"
  on_terminal "${words[@]}"
  says "$bar"
  rm -rf on-terminal*
  "$cairn" "${words[@]}" > out 2>&1 || true
  ! grep -qE "$bar|$escape" out || die "cairn $command: a bar or colours without a terminal"
  rm -rf on-terminal*
  on_terminal "${words[@]}" --json
  ! grep -qE "$bar|$escape" out || die "cairn $command --json: a bar or colours"
  rm -rf on-terminal*
done
on_terminal ls run
says "$escape"
NO_COLOR=1 on_terminal ls run
! grep -qE "$escape" out || die "colours although NO_COLOR is set"
on_terminal ls nowhere
says "$escape"

# What is interrupted leaves nothing: the signal comes when the hidden file is there. One that comes too late interrupts nothing.
python3 - << 'END'
header = b'{"a":{"dtype":"F32","shape":[134217728],"data_offsets":[0,536870912]}}'
with open("large.safetensors", "wb") as file:
    file.write(len(header).to_bytes(8, "little") + header)
    file.truncate(8 + len(header) + 536870912)
END
for command in "export large.safetensors interrupted/made/model" "import large.safetensors interrupted/made/a/imported"; do
  read -ra words <<< "$command"
  mkdir interrupted
  "$cairn" "${words[@]}" > out 2>&1 &
  running=$!
  until [[ $(find interrupted -type f) ]] || ! kill -0 "$running" 2> /dev/null; do :; done
  kill -TERM "$running" 2> /dev/null || true
  status=0
  wait "$running" || status=$?
  ((status == 0 || status == 143)) || die "an interrupted $command ends with $status"
  [[ ! $(find interrupted -mindepth 1) ]] || ! grep -q 'nothing is left' out || die "an interrupted $command leaves $(find interrupted -mindepth 1)"
  rm -rf interrupted
done
rm -f large.safetensors

# Beside a trainer that saves and removes all the time.
"$lenet" --checkpoint beside --limit 200 --batch 16 --epochs 1 --every 1 --keep 2 > /dev/null
cp -r beside stock
(
  while [[ ! -e stop ]]; do
    for each in stock/*; do
      name=${each#stock/}
      mv "beside/$name" gone && rm -rf gone && cp -r "$each" hidden && mv hidden "beside/$name"
    done
  done
) &
trainer=$!
for _ in $(seq 30); do
  status=0
  "$cairn" verify beside --all > out 2>&1 || status=$?
  ((status == 0)) || { touch stop; wait "$trainer"; die "verify beside a trainer: $status"; }
  status=0
  "$cairn" prune beside --keep-last 1 > out 2>&1 || status=$?
  ((status == 0)) || { touch stop; wait "$trainer"; die "prune beside a trainer: $status"; }
done
touch stop
wait "$trainer"
echo "$count checkpoints listed, shown, verified, compared, exported, merged, pruned"
