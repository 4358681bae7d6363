#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Starts Slurm on this machine, with all its files in a temporary folder, and runs train.sh: preempted and requeued; stopped before its time limit; as an
# array. Each final state is that of an undisturbed run, bit for bit. Exits with 77 where Slurm cannot run. Usage: test.sh <program>
set -euo pipefail

skip() { echo "skipped: $*"; exit 77; }
((EUID == 0)) || skip "only root can start Slurm's daemons here"
for tool in munged slurmctld slurmd sbatch srun scontrol; do
  command -v "$tool" > /dev/null || skip "there is no $tool"
done
program=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
chmod 755 "$work"
daemons=()

# Ends the jobs, then the daemons, each by its own process id.
clean_up() {
  if ((${#daemons[@]} == 3)); then
    scancel --user=root 2> /dev/null || true
    await 15 no_jobs || true
  fi
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    kill "${daemons[i]}" 2> /dev/null || true
    wait "${daemons[i]}" 2> /dev/null || true
  done
  for left in $(grep -lszxF "SLURM_CONF=$work/slurm.conf" /proc/[0-9]*/environ | cut -d / -f 3); do
    ((left == $$)) || kill -s KILL "$left" 2> /dev/null || true
  done
  rm -rf "$work"
}
trap clean_up EXIT
die() {
  echo "FAILED: $*"
  cd "$work"
  for log in *.log *.out; do [[ ! -f $log ]] || { echo "== $log"; tail -n 12 "$log"; }; done
  exit 1
}
# await SECONDS COMMAND...: until the command succeeds.
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@" > /dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}
no_jobs() { [[ -z $(squeue --noheader) ]]; }
node_is_up() { [[ $(sinfo --noheader --partition low --format %T) == idle ]]; }
says() { grep -q "$2" "$1"; }

# Ports that no other program uses, for slurmctld and slurmd.
mapfile -t ports < <(/usr/bin/python3 -c '
import socket
free = [socket.socket() for _ in range(2)]
for each in free: each.bind(("127.0.0.1", 0))
for each in free: print(each.getsockname()[1])')

cd "$work"
mkdir state spool
host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf
cat > "$SLURM_CONF" << END
ClusterName=cairn
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_res
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=10
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=low Nodes=$host Default=YES PriorityTier=1 PreemptMode=REQUEUE MaxTime=60
PartitionName=high Nodes=$host PriorityTier=10 PreemptMode=OFF MaxTime=60
END
head -c 1024 /dev/urandom > munge.key
chmod 400 munge.key
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" --seed-file="$work/munge.seed" \
  --log-file="$work/munged.log" > munged.out 2>&1 &
daemons+=($!)
await 60 test -S munge.socket || die "munged does not start"
slurmctld -D -f "$SLURM_CONF" -L "$work/slurmctld.log" > /dev/null 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" -L "$work/slurmd.log" > /dev/null 2>&1 &
daemons+=($!)
await 60 node_is_up || die "the node is not idle: $(sinfo 2>&1 || true)"

submit() { sbatch --parsable --chdir "$work" --cpus-per-task 1 "$@"; }
# The last checkpoint of a run has the step $2, and the same arrays as that of an undisturbed run with the seed $3.
same_state() {
  [[ -d undisturbed-$3-$2 ]] || (export SLURM_ARRAY_TASK_ID=$3; "$program" "undisturbed-$3-$2" "$2" > /dev/null)
  local name file count=0
  name=$(printf 'step-%09d' "$2")
  for file in "undisturbed-$3-$2/task-$3/$name"/*.safetensors; do
    cmp "$file" "$1/$name/$(basename "$file")" || die "$1: not bit-identical"
    count=$((count + 1))
  done
  ((count > 0)) || die "there is no shard in undisturbed-$3-$2/task-$3/$name"
}

# 1. A job of a higher partition takes all processors: the trainer, which waits at step 40, gets SIGTERM, saves that step, and goes on afterwards.
submit --output preempted.out --time 10 "$here/train.sh" "$program" "$work/preempted" 120 1 0 40 > /dev/null
await 60 says preempted.out "waiting for a signal" || die "the trainer does not start"
submit --partition high --output urgent.out --exclusive --time 1 --wrap "echo urgent" > /dev/null
await 60 says urgent.out urgent || die "nothing was preempted: $(squeue)"
# 2. A job of one minute that is to stop 50 seconds before its limit: its steps take longer than the ten seconds that it has, and it goes on afterwards.
#    It is submitted with what it may inherit: the end of another job, and another format of times.
SLURM_JOB_END_TIME=1 SLURM_TIME_FORMAT=relative \
  submit --output limited.out --time 1 "$here/train.sh" "$program" "$work/limited" 1200 10 50 > /dev/null
# 3. An array: each task has its own place.
submit --output 'array-%a.out' --array 1-2 --time 10 "$here/train.sh" "$program" "$work/array" 120 1 > /dev/null

outcome() { grep -v '^slurmstepd\|^srun' "$1" || true; }  # without what Slurm says
await 60 says preempted.out 'trained to step 120' || die "the preempted job does not end: $(squeue)"
[[ $(outcome preempted.out) == $'waiting for a signal\npreempted: stopped at step 40\nresumed from step 40\ntrained to step 120' ]] || die "another course"
same_state preempted 120 0
echo "preempted at step 40, requeued, bit-identical"

for task in 1 2; do
  await 60 says "array-$task.out" 'trained to step 120' || die "task $task does not end: $(squeue)"
  same_state "array/task-$task" 120 "$task"
done
cmp -s array/task-{1,2}/step-000000120/*.safetensors && die "both tasks have the same state"
echo "array: two tasks, two places, bit-identical"

# 4. A job that is cancelled saves, too, and is not requeued.
cancelled=$(submit --output cancelled.out --time 10 "$here/train.sh" "$program" "$work/cancelled" 120 1 0 7)
await 60 says cancelled.out "waiting for a signal" || die "the trainer does not start"
scancel "$cancelled"
is_gone() { [[ -z $(squeue --noheader --job "$1" 2> /dev/null) ]]; }
await 60 is_gone "$cancelled" || die "the cancelled job does not end, or begins again"
[[ $(outcome cancelled.out) == $'waiting for a signal\npreempted: stopped at step 7' && -d cancelled/step-000000007 ]] || die "not saved"
echo "cancelled at step 7, saved, not requeued"

await 120 says limited.out 'trained to step 1200' || die "the job with a time limit does not end: $(squeue)"
stopped=$(sed -n 's/^time limit: stopped at step //p' limited.out | head -n 1)
[[ -n $stopped ]] || die "the job did not stop before its limit"
[[ $(sed -n 's/^resumed from step //p' limited.out | head -n 1) == "$stopped" ]] || die "it does not continue from step $stopped"
grep -q 'TIME LIMIT' limited.out && die "Slurm has ended the job at its limit"
same_state limited 1200 0
echo "time limit: stopped at step $stopped, requeued, bit-identical"
