#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs a program of mpi.cpp with several numbers of ranks. Usage: mpi.sh SCENARIO FOLDER PROGRAM MPIEXEC [OPTION]...
set -euo pipefail
scenario=$1 folder=$2 program=$3
start=("${@:4}")
export UCX_LOG_LEVEL=error  # MPICH says that messages of a lost rank were not received
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_orte_tmpdir_base=$(mktemp -d)  # of two jobs that make the default one at once, one fails
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
run() {
  local ranks=$1
  shift
  timeout 60 "${start[@]}" -n "$ranks" "$program" "$@"
}
rm -rf "$folder"

case $scenario in
  collectives)
    for ranks in 1 2 4 5; do run "$ranks" collectives; done ;;
  ranks)  # each number restores what the one before has saved
    for ranks in 4 2 5 1 4; do run "$ranks" save "$folder"; done
    for ranks in 1 4 2 5; do run "$ranks" train "$folder"; done
    for ranks in 1 2 5; do run "$ranks" restore "$folder"; done ;;
  silent)
    for ranks in 2 4; do run "$ranks" silent "$folder"; done ;;
  killed)  # the restart, with another number of ranks, finds the checkpoint before or the new one
    run 2 save "$folder"
    kills=0 numbers="2 4" ways="die die_in_background die_merging"
    # OpenMPI takes two seconds to end a job.
    if [[ ${start[0]} == *openmpi && -z ${CAIRN_LONG_TESTS-} ]]; then numbers=2 ways="die_in_background die_merging"; fi
    for ranks in $numbers; do
      for way in $ways; do
        for ((rank = 0; rank < ranks; ++rank)); do
          for ((call = 1; ; ++call)); do
            rm -f "$folder.merging"
            if run "$ranks" "$way" "$folder" "$rank" "$call" >/dev/null 2>&1; then break; fi
            run $((6 - ranks)) restore "$folder" || { echo "$way: rank $rank of $ranks was killed in call $call"; exit 1; }
            kills=$((kills + 1))
          done
          ((call > 4)) || { echo "$way: rank $rank of $ranks was killed in $((call - 1)) calls only"; exit 1; }
        done
      done
    done
    rm -f "$folder.merging"
    echo "$kills kills" ;;
  *) echo "unknown scenario: $scenario"; exit 2 ;;
esac
