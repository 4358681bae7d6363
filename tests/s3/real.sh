#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests of buckets that need a server ([real]) against Ceph's gateway: directly, and through a proxy that loses
# and falsifies a tenth of the requests. Before that checks that gateway and proxy do what these tests rely on.
# Usage: real.sh PROGRAM. Exits with 77 if a package is missing, or without root.
set -euo pipefail
here=$(dirname "$(realpath "$0")") program=$(realpath "$1")
folder=$(mktemp -d)
end() { bash "$here/ceph.sh" stop "$folder/ceph" || true; rm -rf "$folder"; }
trap end EXIT
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
bash "$here/ceph.sh" start "$folder/ceph" "$port"

python3 "$here/server_test.py" "$port"
export CAIRN_S3_BUCKET=cairn AWS_ACCESS_KEY_ID=AK AWS_SECRET_ACCESS_KEY=SK
CAIRN_S3_ENDPOINT=http://127.0.0.1:$port "$program" '[real]'

rules='[{"do":"drop","p":0.02},{"do":"lose","p":0.02},{"do":"twice","p":0.01},{"do":"cut","p":0.01},{"do":"error","p":0.02},
        {"do":"slow_down","p":0.01},{"do":"error","p":0.01,"forward":true}]'
exec {proxy}< <(exec python3 "$here/proxy.py" --listen 0 --to "$port" --seed 1 --rules "$rules")
read -r -u "$proxy" _ _ listens
CAIRN_S3_FAULTS=1 CAIRN_S3_ENDPOINT=http://127.0.0.1:$listens "$program" '[real]'
