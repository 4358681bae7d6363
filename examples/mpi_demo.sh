#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Trains LeNet-5 at the ranks of MPI jobs: kills one of 4 ranks with SIGKILL, goes on with 2 ranks, stops those with SIGTERM at one, and goes on with
# 5. Compares the losses and the final state bit by bit with those of one uninterrupted rank, and checks that each image of an epoch is used once.
# Usage: bash examples/mpi_demo.sh [--data DIR] [--quick] [--levels]     DIR: the MNIST files; without it the program draws its own digits
# --levels: each rank is on a host with a disk of its own, here a folder, and has a partner. Of the 4 hosts of the killed job two lose their disks, and
# the folder to which checkpoints are copied is lost, too; the job goes on with the other two hosts.
set -euo pipefail

data=() epochs=3 limit=0 levels=
while (($#)); do
  case $1 in
    --data) data=(--data "$(realpath -e "${2:?--data takes a folder}")"); shift ;;
    --quick) epochs=2 limit=2000 ;;
    --levels) levels=yes ;;
    *) echo "usage: bash examples/mpi_demo.sh [--data DIR] [--quick] [--levels]" >&2; exit 2 ;;
  esac
  shift
done
cd "$(dirname "$0")/.."

# Installs missing packages, and builds or updates the trainer.
bash .cmake/install_packages.sh libeigen3-dev zlib1g-dev libopenmpi-dev openmpi-bin
build=build/release
mkdir -p "$build"
echo "building the trainer"
if [[ ! -f $build/CMakeCache.txt ]]; then export CMAKE_GENERATOR=Ninja; fi
{ cmake --preset release && cmake --build --preset release --target mpi_lenet; } > "$build/mpi_demo.log" 2>&1 ||
  { tail -n 30 "$build/mpi_demo.log"; exit 1; }
mpiexec=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")  # of the MPI that the program is linked with
once=$PWD/examples/mpi_lenet/used_once.sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1  # mpiexec --oversubscribe, which other MPIs do not know

runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT
train=("$PWD/$build/examples/mpi_lenet" "${data[@]}" --optimizer adam --epochs "$epochs" --limit "$limit" --print 1 --every 20)
fail() { echo "mpi_demo: $1" >&2; tail -n 5 "$2" >&2; exit 1; }
last() { sed -n "s/^$1.*/\\1/p" "$2" | tail -n 1; }  # the last match of the pattern's \( \) in the output of a job
steps_done() { last 'step \([0-9]*\) ' "$1"; }
state_of() { last 'state \([0-9a-f]*\)' "$1"; }
resumed_from() { last 'resumed from step \([0-9]*\)' "$1"; }

# The rest of the command, on the host number $1 + the rank.
on_hosts='host=host$(($1 + ${OMPI_COMM_WORLD_RANK:-${PMI_RANK-0}}))
exec "${@:2}" --local "$0/$host" --host "$host"'
# A job with the name $1 and $2 ranks, which goes on from the last checkpoint; with --levels on the hosts from $3 on. In the background: $! is mpiexec.
start_job() {
  : > "$runs/$1"  # is there before the job is
  local on=()
  if [[ -n $levels ]]; then on=(bash -c "$on_hosts" "$runs" "$3"); fi
  "$mpiexec" -n "$2" "${on[@]}" "${train[@]}" --checkpoint "$runs/checkpoints" --used "$runs/used.$1" > "$runs/$1" 2>&1 &
}

# Sends the signal $3 to rank $2 of the job $1, after step $4.
hit() {
  local mpiexec_pid=$! at pid
  while at=$(steps_done "$runs/$1") && ((${at:-0} < $4)); do
    kill -0 "$mpiexec_pid" 2> /dev/null || fail "the job $1 ended too early" "$runs/$1"
    sleep 0.01
  done
  pid=$(last "rank $2 of [0-9]*: process \([0-9]*\)" "$runs/$1")
  kill -s "$3" "${pid:?the job does not name the process of rank $2}" || fail "the job $1 ended too early" "$runs/$1"
  status=0
  { wait "$mpiexec_pid" || status=$?; } 2> /dev/null
}

echo "1. uninterrupted training, on 1 rank"
"$mpiexec" -n 1 "${train[@]}" --checkpoint "$runs/other" > "$runs/whole" 2>&1 || fail "the training failed" "$runs/whole"
steps=$(steps_done "$runs/whole")
images=$(last 'LeNet-5 on \([0-9]*\)' "$runs/whole")

echo "2. training on 4 ranks; kill -9 of rank 2 after a third"
start_job killed 4 0
hit killed 2 KILL $((steps / 3 + 7))
((status != 0)) || fail "rank 2 was killed, but mpiexec's exit status is 0" "$runs/killed"
killed_at=$(steps_done "$runs/killed")
echo "   mpiexec ended the job, with exit status $status"
if [[ -n $levels ]]; then
  echo "   the disks of hosts 0 and 1 are lost, and the folder for copies"
  rm -r "$runs/host0" "$runs/host1" "$runs/checkpoints"
fi

echo "3. going on, on 2 ranks; SIGTERM to rank 1 after two thirds"
start_job stopped 2 2
hit stopped 1 TERM $((2 * steps / 3 + 7))
((status == 0)) || fail "rank 1 got SIGTERM, but mpiexec's exit status is $status" "$runs/stopped"
stopped_at=$(last 'stopped at step \([0-9]*\)' "$runs/stopped")
[[ -n $stopped_at ]] || fail "it did not stop" "$runs/stopped"
counted=$(resumed_from "$runs/stopped")
((${counted:-0} > 0)) || fail "it does not go on from a checkpoint of the killed job" "$runs/stopped"

echo "4. going on, on 5 ranks"
start_job resumed 5 0
wait $! || fail "the training failed" "$runs/resumed"
[[ $(resumed_from "$runs/resumed") == "$stopped_at" ]] || fail "it does not go on where it stopped" "$runs/resumed"

# The steps that count: those of a killed job after its last checkpoint are lost, and are done again.
steps_of() { sed -nE 's/^step ([0-9]+)  loss ([0-9]+\.[0-9]{4})$/\1 \2/p' "$runs/$1"; }
{
  steps_of killed | awk -v last="$counted" '$1 <= last { print $0, 4 }'
  steps_of stopped | awk '{ print $0, 2 }'
  steps_of resumed | awk '{ print $0, 5 }'
} > "$runs/curve"

echo
printf '  %-13s %-12s %22s %20s\n' "steps" "ranks" "mean loss of the jobs" "uninterrupted"
paste -d ' ' "$runs/curve" <(steps_of whole) | awk -v steps="$steps" '
  function row() { printf "  %-13s %-12s %22.4f %20.4f\n", first " - " last, ranks, jobs / count, whole / count; count = 0 }
  { at = int(($1 - 1) * 10 / steps)
    if (count && at != before) row()
    before = at
    if (!count) { first = $1; ranks = ""; jobs = whole = 0 }
    if (index(ranks, $3) == 0) ranks = ranks (ranks == "" ? "" : ", then ") $3
    last = $1; jobs += $2; whole += $5; ++count }
  END { row() }'
echo
echo "killed by SIGKILL at step $killed_at; continued from step $counted on 2 ranks"
echo "stopped by SIGTERM at step $stopped_at; continued from there on 5 ranks"
echo "accuracy on the test images: $(last 'epoch.*test images \([0-9.]*\)' "$runs/resumed")," \
  "uninterrupted $(last 'epoch.*test images \([0-9.]*\)' "$runs/whole")"
bash "$once" "$images" "$epochs" "$runs/used.killed:$counted" "$runs/used.stopped:$stopped_at" "$runs/used.resumed:$steps" ||
  fail "not every image was used exactly once" "$runs/resumed"
cmp -s <(cut -d ' ' -f 1,2 "$runs/curve") <(steps_of whole) || fail "the losses of the steps differ" "$runs/resumed"
echo "the losses of all $steps steps are the same"

if [[ -n $(state_of "$runs/whole") && $(state_of "$runs/whole") == "$(state_of "$runs/resumed")" ]]; then
  echo "bit-identical: yes $(state_of "$runs/resumed")"
else
  echo "bit-identical: NO, $(state_of "$runs/whole") and $(state_of "$runs/resumed")"
  exit 1
fi
