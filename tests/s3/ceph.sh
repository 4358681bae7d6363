#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A real S3 server for tests: Ceph's gateway with one monitor and one OSD, on loopback, as root. Objects are kept in
# memory and are gone after `stop`.
# Debian packages that it uses: radosgw ceph-mon ceph-osd.
#
#   ceph.sh start FOLDER PORT   returns when http://127.0.0.1:PORT answers; access key AK, secret SK, bucket cairn
#   ceph.sh stop FOLDER
#   ceph.sh run COMMAND...      starts it in a folder of its own, runs COMMAND with the address and the keys in the
#                               environment, and stops it
#
# FOLDER holds the configuration, the monitor's database and logs; `start` ends what an earlier start left running, and
# removes its files. The monitor takes 127.0.0.2:PORT and the OSD ports of 127.0.0.3, so that instances with other
# folders and ports run beside each other.
#
# Exits with 77 if a package is missing, or without root.
set -euo pipefail
usage() { sed -n 's/^#   //p' "$0" >&2; exit 2; }
(($# >= 2)) || usage
command=$1 folder=$(realpath -m "$2")
here=$(dirname "$(realpath "$0")") conf=--conf=$folder/ceph.conf

# Ends all processes that have this configuration. They are killed, as nothing is to be kept: radosgw would take seconds
# to end, and the OSD could write its objects to disk.
stop() {
  local file
  for file in $(grep -lszxF "--regexp=$conf" /proc/[0-9]*/cmdline); do
    kill -KILL "$(basename "$(dirname "$file")")" 2>/dev/null || continue
    # A zombie counts as ended: not every init waits for its children.
    while grep -qs '^State:.[^ZX]' "${file%cmdline}status"; do sleep 0.02; done
  done
}

configuration() {
  cat <<END
[global]
fsid = $fsid
mon host = v2:127.0.0.2:$port
ms bind ipv6 = false
ms bind retry count = 1
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
keyring = $folder/keyring
run dir = $folder
log file = $folder/\$name.log
pid file =
admin socket =
crash dir = $folder
mon cluster log file = $folder/cluster.log

osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0

[mon]
public addr = 127.0.0.2
mon data = $folder/mon
mon data avail crit = 1
mon data avail warn = 2
mon allow pool size one = true
# Each pool is a change of the cluster's map: decide at once, not once a second.
paxos propose interval = 0.01
paxos min wait = 0.01

[osd]
public addr = 127.0.0.3
cluster addr = 127.0.0.3
osd data = $folder/osd
osd objectstore = memstore
memstore device bytes = 8589934592

[client]
rgw frontends = beast endpoint=127.0.0.1:$port
rgw thread pool size = 32
rgw dynamic resharding = false
# What is deleted or replaced is freed after 10 to 20 seconds, not after two hours.
rgw gc obj min wait = 10
rgw gc processor period = 10
END
}

start() {
  local tool fsid osd fd
  [[ $port =~ ^[0-9]+$ ]] || usage
  for tool in ceph ceph-mon ceph-osd monmaptool radosgw radosgw-admin; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool" >&2; exit 77; }
  done
  ((EUID == 0)) || { echo "skipped: not root" >&2; exit 77; }
  stop
  rm -rf "$folder"/{mon,osd,ceph.conf,monmap,keyring,*.log}
  mkdir -p "$folder"/{mon,osd}
  touch "$folder/keyring"
  fsid=$(</proc/sys/kernel/random/uuid) osd=$(</proc/sys/kernel/random/uuid)
  configuration >"$folder/ceph.conf"
  # The servers are not to hold what the caller has open, as a lock.
  for fd in "/proc/$$/fd"/*; do ((${fd##*/} < 3 || ${fd##*/} == 255)) || eval "exec ${fd##*/}>&-"; done
  exec 3>&2 >"$folder/start.log" 2>&1
  trap '{ echo "ceph.sh: not started; the last lines of the logs:"; tail -n 5 "$folder"/*.log; stop; } >&3' EXIT
  # Memory of objects that are gone goes back to the system.
  export MALLOC_MMAP_THRESHOLD_=131072 MALLOC_ARENA_MAX=4
  monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.2:$port]" "$folder/monmap"
  ceph-mon "$conf" -i a --mkfs --monmap "$folder/monmap"
  ceph-mon "$conf" -i a 3>&-
  timeout 60 ceph "$conf" osd new "$osd"
  ceph-osd "$conf" -i 0 --mkfs --osd-uuid "$osd"
  ceph-osd "$conf" -i 0 3>&-
  timeout 120 radosgw-admin "$conf" user create --uid=cairn --display-name=cairn --access-key=AK --secret-key=SK
  radosgw "$conf" -n client.admin 3>&-
  timeout 60 python3 "$here/client.py" --wait "$port" PUT /cairn </dev/null
  trap - EXIT
}

run() {
  local port
  folder=$(mktemp -d)
  trap 'bash "$here/ceph.sh" stop "$folder" || true; rm -rf "$folder"' EXIT
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  bash "$here/ceph.sh" start "$folder" "$port"
  AWS_ENDPOINT_URL_S3=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=AK AWS_SECRET_ACCESS_KEY=SK "$@"
}

case $command in
  start)
    (($# == 3)) || usage
    port=$3
    start ;;
  stop) stop ;;
  run) run "${@:2}" ;;
  *) usage ;;
esac
