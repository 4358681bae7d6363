#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#SBATCH --job-name=trainer
#SBATCH --requeue
#SBATCH --open-mode=append
# A job that goes on after a preemption or its time limit. Usage: sbatch train.sh <trainer> [argument]...
set -uo pipefail

job=$SLURM_JOB_ID  # of the task, in an array
[[ -z ${SLURM_ARRAY_TASK_ID-} ]] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID

# Slurm tells the job when its time limit ends it, but older versions do not, and a job that another job has submitted inherits the end of that one.
end=$(SLURM_TIME_FORMAT=%s squeue --noheader --job "$job" --format %e)
if [[ $end =~ ^[0-9]+$ ]]; then export SLURM_JOB_END_TIME=$end; fi  # there may be no limit

trap : TERM  # Slurm signals this script, too, which then waits until the trainer has saved
srun --ntasks 1 "$@" &
trainer=$!
while kill -0 "$trainer" 2> /dev/null; do wait "$trainer" || true; done
wait "$trainer"
status=$?
# A job that is running has reached `until`, or is preempted with a GraceTime. Others are cancelled, or requeued already.
if ((status == 75)) && [[ $(squeue --noheader --job "$job" --format %T) == RUNNING ]]; then scontrol requeue "$job"; fi
exit "$status"
