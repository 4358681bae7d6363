#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills jobs of the GPT trainer and stops one by SIGTERM, starts them again on other numbers of ranks, and compares bits. Usage: test.sh PROGRAM MPIEXEC
set -euo pipefail

program=$(realpath "$1") mpiexec=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
export OMPI_MCA_rmaps_base_oversubscribe=1  # mpiexec --oversubscribe, which other MPIs do not know
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_MCA_orte_tmpdir_base=$work  # of two jobs that make the default one at once, one fails

die() { echo "FAILED: $*"; [[ -f log ]] && tail -n 20 log; exit 1; }
state_of() { sed -n 's/^state //p' log; }

# Runs a job of `ranks`; the output goes to `log`, and the exit status to `status`.
job() {
  status=0
  timeout 120 "$mpiexec" -n "$1" "$program" "${@:2}" > log 2>&1 || status=$?
  ((status != 124)) || die "$1 ranks do not end"
}

job 1 uninterrupted 60
((status == 0)) || die "the exit status of one rank is $status"
expected=$(state_of)
[[ $expected ]] || die "no hash"
costs=$(grep -E 'saves: the trainer waited|torch::save' log)
[[ $(wc -l <<< "$costs") == 2 ]] || die "no costs are printed"
first=$(sed -n 's/^step 20  loss //p' log) last=$(sed -n 's/^step 60  loss //p' log)
awk "BEGIN { exit !($last < $first) }" || die "it does not learn: $first, $last"
job 1 uninterrupted 59
[[ $(state_of) != "$expected" ]] || die "another number of steps gives the same state"

for run in 2:12 1:23 4:33; do  # ranks, and the step at which one of them is killed
  IFS=: read -r ranks at <<< "$run"
  job "$ranks" killed 60 "$at"
  ((status != 0)) || die "a rank of $ranks was killed, but the exit status is 0"
done
job 2 killed 60
((status == 0)) || die "cannot resume on 2 ranks"
# A step that is due is saved later where the save before it takes until then.
grep -Eq '^resumed from step (2[5-9]|3[0-2])$' log || die "should have resumed from step 30, or 25 if that save was not complete"
[[ $(state_of) == "$expected" ]] || die "not bit-identical after three kills"

job 2 stopped 60 17 TERM
((status == 0)) || die "stopped by SIGTERM, but the exit status is $status"
[[ ! $(state_of) ]] || die "SIGTERM did not stop it"
job 1 stopped 0
at=$(sed -n 's/^resumed from step //p' log)
((at >= 17 && at <= 20)) || die "should have saved after SIGTERM, and resumed from there"
job 2 stopped $((at + 10))
((status == 0)) || die "cannot resume after SIGTERM"
resumed=$(state_of)
job 1 as_long $((at + 10))
[[ $(state_of) == "$resumed" ]] || die "not bit-identical after SIGTERM at step $at"
echo "killed three times and stopped once, on 1, 2 and 4 ranks, bit-identical: $expected"
echo "$costs"
