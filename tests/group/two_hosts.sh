#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs MPI jobs on two hosts, a and b, with 2 ranks each: namespaces with a name, a boot, processes, shared memory and a network of their own. They share
# a directory through two mounts of the lying file system (durability/filesystems/lying.hpp); what a host has not synced is lost when it loses power.
# Usage: two_hosts.sh crash | elsewhere FOLDER PROGRAM MPIEXEC ON_FILESYSTEM     PROGRAM: that of mpi.cpp
#        two_hosts.sh trainer | levels FOLDER PROGRAM MPIEXEC ON_FILESYSTEM      PROGRAM: examples/mpi_lenet
#
# The script is in namespaces of its own, too. All that it starts, mounts and makes ends with it, also when it is killed.
set -euo pipefail

# Within a host: makes it one, and waits for its end. Then the same script starts processes there, for mpiexec.
case $1 in
  host)
    folder=$2 name=$3
    mount --bind "$CAIRN_TEST_PLACE" "$folder/place"
    mount -t tmpfs none /dev/shm
    mount -t proc proc /proc
    cat /proc/sys/kernel/random/uuid > "$folder/$name.boot"
    mount --bind "$folder/$name.boot" /proc/sys/kernel/random/boot_id
    hostname "$name"
    ip link set lo up
    echo up > "$folder/pipe"
    exec sleep infinity ;;
  enter)
    process=$(< "$2/$3.process")
    exec nsenter -t "$process" --mount --uts --ipc --net --pid="/proc/$process/ns/pid_for_children" bash -c "${*:4}" ;;
esac

skip() { echo "skipped: $1"; exit 77; }
if [[ $1 != alone ]]; then
  ((EUID == 0)) || skip "only root makes hosts"
  # MPICH 4.0 with UCX 1.13 does not always end in MPI_Finalize when it has TCP alone.
  [[ $("$4" --version 2>&1) == *OpenRTE* ]] || skip "mpiexec is not that of OpenMPI 4"
  for program in ip nsenter unshare setpriv; do command -v $program > /dev/null || skip "$program is not installed"; done
  alone=(unshare --mount --uts --net --ipc --pid --fork --kill-child --mount-proc)
  why=$("${alone[@]}" true 2>&1) || skip "namespaces cannot be made: $why"
  why=$("${alone[@]}" ip link add bridge type bridge 2>&1) || skip "networks cannot be made: $why"
  why=$("${alone[@]}" ip link add cable type veth peer name plug 2>&1) || skip "networks cannot be made: $why"
  [[ -n ${5-} ]] || skip "libfuse3 was not there when the tests were built"
  status=0
  why=$("$5" lying:nfs "$(type -P true)") || status=$?
  ((status != 77)) || skip "${why##*skipped: }"
  exec setpriv --pdeathsig KILL "${alone[@]}" bash "$0" alone "$@"
fi

scenario=$2 folder=$3 program=$(realpath "$4") mpiexec=$5 on_filesystem=$6
trap 'exit 1' INT TERM
rm -rf "$folder"
mkdir -p "$folder"/{place,server}
folder=$(realpath "$folder") place=$folder/place/run log=$folder/log
mkfifo "$folder/pipe"
exec {pipe}<> "$folder/pipe"
fail() { echo "FAILED: $*"; tail -n 30 "$log" "$folder"/?.log; exit 1; }

# The script has no host: it is where jobs are started.
hostname head
printf '%s\n' '127.0.0.1 localhost' '10.77.0.1 a' '10.77.0.2 b' '10.77.0.3 head' > "$folder/names"
mount --bind "$folder/names" /etc/hosts
mount -t tmpfs none /dev/shm
ip link set lo up
# Hosts remember the addresses of others; these do not change with the ports of the bridge, nor by a crash.
ip link add bridge address 02:00:00:00:00:03 type bridge
ip addr add 10.77.0.3/24 dev bridge
ip link set bridge up

declare -A processes
# Starts the host $1, to which $2 is the shared directory.
boot() {
  CAIRN_TEST_BACKING=$2 setpriv --pdeathsig KILL unshare --mount --uts --net --ipc --pid \
    "$on_filesystem" lying:nfs+keeps_writes "$BASH" "$0" host "$folder" "$1" > "$folder/$1.log" 2>&1 &
  processes[$1]=$!
  echo $! > "$folder/$1.process"
  local said
  read -r -t 30 -u "$pipe" said || fail "the host $1 does not start"
  ip link add "to_$1" type veth peer name eth0 address "02:00:00:00:00:0$1" netns $!
  ip link set "to_$1" master bridge up
  nsenter -t $! --net ip addr add "$(awk -v name="$1" '$2 == name { print $1 }' "$folder/names")/24" dev eth0
  nsenter -t $! --net ip link set eth0 up
}

# The host loses power: its processes send nothing more, and all end at once (-1: those of its namespace), then its mount.
crash() {
  local process=${processes[$1]}
  ip link del "to_$1"
  {
    nsenter -t "$process" --pid="/proc/$process/ns/pid_for_children" bash -c 'kill -KILL -1' || true
    kill -KILL "$process" || true
    wait "$process" || true
  } 2> /dev/null
}

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm_rsh_agent="bash $(realpath "$0") enter $folder" OMPI_MCA_plm_rsh_no_tree_spawn=1
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_orte_tmpdir_base=/dev/shm
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
# Runs a job on the hosts $1, such as a:2,b:2.
job() { timeout -k 5 60 "$mpiexec" --host "$1" "$program" "${@:2}" > "$log" 2>&1; }

# Starts a job of 4 ranks, of which rank $2 stops at point $3 of a save of the kind $1. Sets `said`, saving or saved, and `step`.
stop_at() {
  { job a:2,b:2 "$1" "$place" "$2" "$3" "$folder/pipe" || true; echo ended > "$folder/pipe"; } 2> /dev/null &
  read -r -t 90 -u "$pipe" said step || fail "$1: rank $2 does not stop at point $3"
  [[ $said == sav* ]] || fail "$1: rank $2 does not stop at point $3: the job $said"
}

# Ends that job, which has lost a host, as a scheduler does: mpiexec would wait for that host.
end_job() {
  local each are_left=yes
  while [[ -n $are_left ]]; do
    are_left=
    for each in /proc/[0-9]*; do
      case $(readlink "$each/exe" || true) in
        "$program" | */orted | */orterun) are_left=yes; kill -KILL "${each#/proc/}" 2> /dev/null || true ;;
      esac
    done
  done
  read -r -t 90 -u "$pipe" || fail "the job does not end"
}

# Rank $2 stops at each point of a save in turn, and its host $1 loses power. The other host goes on alone, then both: with what was saved before
# the crash, or the new one; with that if the save had returned.
crash_at_each_point() {
  local dies=$1 rank=$2 way=$3 other=b call said step restored
  if [[ $dies == b ]]; then other=a; fi
  for ((call = 1; ; ++call)); do
    stop_at "$way" "$rank" "$call"
    [[ $step == $((last + 1)) ]] || fail "$way: after step $last, rank $rank saves step $step"
    crash "$dies"
    end_job
    job "$other:2" save "$place" || fail "$way: after a crash at point $call of rank $rank, host $other does not go on"
    restored=$(sed -n 's/^restored step //p' "$log")
    [[ $restored == "$step" || ($said == saving && $restored == "$last") ]] ||
      fail "$way: after a crash at point $call of rank $rank, $said step $step, step $restored was restored"
    last=$((restored + 3)) crashes=$((crashes + 1))
    boot "$dies" "$folder/server"
    if [[ $said == saved ]]; then break; fi
  done
  ((call > 4)) || fail "$way: rank $rank has $call points only"
}

checkpoints() { (cd "$folder" && find server other copy -path '*step-*' -type f -exec md5sum {} + | sort -k 2); }

# The host b has the directory $1 at the path of the place. Jobs with rank 0 on either host are refused: all ranks throw the same, and nothing changes.
refuse() {
  local hosts before
  boot b "$1"
  before=$(checkpoints)
  for hosts in a:2,b:2 b:2,a:2; do
    job $hosts refused "$place" || fail "$1, ranks on $hosts"
    grep -E "^4 ranks: cairn: rank [0-3]: .*$place" "$log" || fail "$1, ranks on $hosts: another error"
    [[ $(checkpoints) == "$before" ]] || fail "$1, ranks on $hosts: something was saved"
  done
  crash b
}

state_of() { sed -n 's/^state //p' "$1"; }
losses_of() { grep -xE 'step [0-9]+  loss [0-9]+\.[0-9]{4}' "$1" || true; }  # the last line of a killed job may be cut

# Trains on the hosts $1 as a start of one job, which takes the lock of an earlier start at once: going on after step $2, at the latest after step $3.
train() {
  local resumed
  export TORCHELASTIC_RUN_ID=two_hosts TORCHELASTIC_RESTART_COUNT=$((++starts))
  job "$1" --optimizer adam --limit 330 --batch 16 --epochs 2 --every 3 --print 1 --checkpoint "$place" "${@:4}" || true
  resumed=$(sed -n 's/^resumed from step //p' "$log")
  ((${resumed:-0} >= $2 && ${resumed:-0} <= $3)) || fail "resumed from step ${resumed:-0}, not from $2 to $3"
  losses_of "$log" >> "$folder/losses"
}

# On one rank, on the host a.
train_undisturbed() {
  starts=0
  boot a "$folder/server"
  train a:1 0 0 --checkpoint "$folder/undisturbed"
  mv "$folder/losses" "$folder/undisturbed.losses"
  state=$(state_of "$log")
}
compare_with_undisturbed() {
  [[ $state =~ ^[0-9a-f]{16}$ && $(state_of "$log") == "$state" ]] || fail "not bit-identical after the loss of hosts"
  [[ $(sort -u "$folder/losses") == "$(sort -u "$folder/undisturbed.losses")" ]] || fail "the losses differ"
}

case $scenario in
  crash)
    boot a "$folder/server"
    boot b "$folder/server"
    bash "$0" enter "$folder" b "cd $folder/place && echo lost > lost && echo kept > kept && sync kept"
    crash b
    [[ -e $folder/server/lost && ! -s $folder/server/lost && -s $folder/server/kept ]] || fail "a crash loses other bytes"
    boot b "$folder/server"
    job a:2,b:2 save "$place" || fail "4 ranks do not save"
    last=3 crashes=0
    crash_at_each_point b 2 stop_in_background
    crash_at_each_point a 0 stop
    if [[ -n ${CAIRN_LONG_TESTS-} ]]; then
      crash_at_each_point b 3 stop
      crash_at_each_point a 0 stop_in_background
    fi
    stop_at stop 2 3
    crash b
    grep -m 1 'have not answered: 2 3$' <(exec tail -n +1 -f --pid=$! "$log") || fail "the other ranks do not name the lost ones"
    end_job
    boot b "$folder/server"
    job a:2,b:2 restore "$place" || fail "4 ranks do not restore"
    grep -qx "restored step $last" "$log" || fail "not step $last"
    echo "$crashes crashes of a host" ;;
  elsewhere)
    mkdir "$folder"/{other,copy}
    boot a "$folder/server"
    refuse "$folder/other"
    job a:2 save "$place" || fail "2 ranks do not save"
    cp -r "$folder/server/run" "$folder/copy"
    refuse "$folder/other"
    refuse "$folder/copy" ;;
  trainer)
    train_undisturbed
    boot b "$folder/server"
    train a:2,b:2 0 0 --kill-at 17
    crash b
    train a:2 3 15 --kill-at 32
    crash a
    boot b "$folder/server"
    train b:2 18 30 --stop-at 36
    boot a "$folder/server"
    train a:2,b:2 37 37
    compare_with_undisturbed
    echo "lost host b, then host a: bit-identical: $state" ;;
  levels)  # each host has a disk of its own: /dev/shm
    train_undisturbed
    boot b "$folder/server"
    near=(--local /dev/shm/run)
    train a:2,b:2 0 0 "${near[@]}" --kill-at 17
    train b:2,a:1 12 15 "${near[@]}" --kill-at 26
    rm -r "$folder/server/run"
    train a:1,b:3 21 24 "${near[@]}" --kill-at 32  # from the disks of the hosts alone
    crash b
    boot b "$folder/server"
    train b:2,a:2 3 30 "${near[@]}" --stop-at 36
    crash a
    crash b
    boot a "$folder/server"
    boot b "$folder/server"
    train a:2,b:2 37 37 "${near[@]}"
    compare_with_undisturbed
    echo "killed twice, then lost host b, then both: bit-identical: $state" ;;
  *) echo "unknown scenario: $scenario"; exit 2 ;;
esac
