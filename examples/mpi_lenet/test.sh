#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kills and stops jobs of the MPI trainer, starts them again with other numbers of ranks, and compares bits. Usage: test.sh PROGRAM MPIEXEC
set -euo pipefail

program=$(realpath "$1") mpiexec=$2 once=$(realpath "$(dirname "$0")/used_once.sh")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1  # mpiexec --oversubscribe, which other MPIs do not know
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_MCA_orte_tmpdir_base=$work  # of two jobs that make the default one at once, one fails

die() { echo "FAILED: $*"; [[ -f log ]] && tail -n 20 log; exit 1; }
state_of() { sed -n 's/^state //p' "$1"; }
losses_of() { grep -xE 'step [0-9]+  loss [0-9]+\.[0-9]{4}' "$1" || true; }  # the last line of a killed job may be cut
resumed() { sed -n 's/^resumed from step //p' log; }

# Runs `ranks`; the output goes to `log`, and the exit status to `status`.
job() {
  status=0
  timeout 60 "$mpiexec" -n "$1" "$program" "${tiny[@]}" "${@:2}" > log 2>&1 || status=$?
  ((status != 124)) || die "$1 ranks do not end"
}

for optimizer in sgd adam; do
  tiny=(--optimizer "$optimizer" --limit 330 --batch 16 --epochs 2 --every 3 --print 1)  # 42 steps; batches of 16 and of 10 images
  for ranks in 1 2 4 5; do
    job $ranks --checkpoint "$optimizer.$ranks"
    ((status == 0)) || die "$ranks ranks fail"
    [[ $(state_of log) =~ ^[0-9a-f]{16}$ ]] || die "no fingerprint"
    if ((ranks == 1)); then cp log undisturbed; fi
    [[ $(state_of log) == "$(state_of undisturbed)" ]] || die "$optimizer: $ranks ranks have another state than 1"
    [[ $(losses_of log) == "$(losses_of undisturbed)" ]] || die "$optimizer: $ranks ranks have other losses than 1"
  done
  echo "$optimizer: 1, 2, 4 and 5 ranks, bit-identical: $(state_of undisturbed)"
done

tiny=(--optimizer adam --limit 1000 --batch 8 --epochs 2)
job 2 --checkpoint learns
grep -Eq '^epoch 2 .* on the test images (0\.[89]|1)' log || die "it does not learn"

tiny=(--optimizer adam --limit 330 --batch 16 --epochs 2 --every 3 --print 1 --codec xor)
# A rank is killed, and its job ends: after a save, within the first epoch, within the second. A rank gets SIGTERM, and all save.
from=0 number=0 counted=()
: > losses
for run in 4:kill:2 5:kill:11 4:kill:20 2:stop:25 5:kill:32 1:kill:38 4:end:42; do
  IFS=: read -r ranks what step <<< "$run"
  number=$((number + 1))
  job "$ranks" --checkpoint runs --used "used.$number" --"${what/end/kill}-at" "$((step == 42 ? 0 : step))"
  if [[ $what == kill ]]; then
    ((status != 0)) || die "a rank of $ranks was killed, but the exit status is 0"
  else
    ((status == 0)) || die "the exit status of $ranks ranks is $status"
  fi
  at=$(resumed)
  if ((number > 1)); then counted+=("used.$((number - 1)):${at:-0}"); fi
  if [[ $what == stop ]]; then  # the other ranks learn of the signal with their next step
    grep -q "^stopped at step $((step + 1)) " log || die "did not stop at step $((step + 1))"
  fi
  ((${at:-0} >= from)) || die "resumed from step ${at:-0}, before step $from"
  from=${at:-0}
  if ((number == 5)); then ((from == 26)) || die "resumed from step $from, but stopped at step 26"; fi
  losses_of log >> losses
done
((from >= 33)) || die "resumed from step $from, killed at 38"
[[ $(state_of log) == "$(state_of undisturbed)" ]] || die "not bit-identical after changes of the number of ranks"
[[ $(sort -u losses) == "$(losses_of undisturbed | sort -u)" ]] || die "the losses differ"
bash "$once" 330 2 "${counted[@]}" "used.7:42" > log || die "the images are not used once"
echo "five kills and a stop (${counted[*]#used.}), bit-identical: $(state_of undisturbed)"

job 2 --checkpoint runs --limit 300
((status != 0)) || die "a run over 330 images went on with 300"
grep -q '300 items.* 330 items' log || die "the message does not say how many images there are and were"

mkdir broken.1  # one rank alone fails
job 4 --checkpoint failed --used broken
((status != 0)) || die "a rank failed, but the exit status is 0"
grep -q '^mpi_lenet: broken.1 cannot be written' log || die "the message of the rank that failed is not there"
echo "errors of all ranks and of one end the job"
