#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sends SIGTERM to a trainer when AWS announces, two minutes before, that it takes the machine away. Usage: watch.sh PID
# NOTICE is what is asked every 5 seconds: it is there when the machine goes, and not before. Others than AWS always answer, and say it in the text.
set -euo pipefail
pid=$1
metadata=http://169.254.169.254/latest
notice=${NOTICE:-$metadata/meta-data/spot/instance-action}
every=${EVERY:-5}
while kill -0 "$pid" 2> /dev/null; do
  token=$(curl -sf -m 2 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$metadata/api/token" 2> /dev/null) || token=
  if curl -sf -m 2 ${token:+-H "X-aws-ec2-metadata-token: $token"} "$notice" > /dev/null; then
    kill -TERM "$pid"
    exit
  fi
  sleep "$every"
done
