#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks that every image of an epoch is used exactly once by a job and its restarts, and prints a line per epoch.
# Usage: used_once.sh IMAGES EPOCHS RUN:STEP...    the files of each run (option --used), and its last step that counts: the later ones were lost
set -euo pipefail

images=$1 epochs=$2 after=0
for run in "${@:3}"; do
  awk -v after="$after" -v last="${run##*:}" '$1 > after && $1 <= last' "${run%:*}".*
  after=${run##*:}
done | awk -v images="$images" -v epochs="$epochs" '
  NF != 3 || $3 >= images || $2 >= epochs { print "no image of an epoch: " $0; wrong = 1; next }
  used[$2, $3]++ { print "epoch " $2 + 1 ": image " $3 " is used again"; wrong = 1 }
  END {
    for (epoch = 0; epoch < epochs; ++epoch) {
      different = 0
      for (image = 0; image < images; ++image)
        if ((epoch, image) in used) ++different
        else { print "epoch " epoch + 1 ": image " image " is left out"; wrong = 1 }
      print "epoch " epoch + 1 ": " different " different images of " images " used"
    }
    exit wrong
  }'
