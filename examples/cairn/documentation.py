#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output in docs/program.md is that of the program. Usage: documentation.py CAIRN GOLDEN PAGE"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from golden_runs import make_run

program, golden, page = (os.path.realpath(each) for each in sys.argv[1:4])
commands = failed = 0
with tempfile.TemporaryDirectory() as folder:
    home = os.path.realpath(folder)
    os.chdir(home)
    make_run(golden, "run", ["1.5", "0.75", "0.5", "0.375"])
    os.environ["TZ"] = "UTC"
    for step in range(1, 5):
        os.utime(f"run/step-{step:09}/index.json", (1795881600 + 240 * step,) * 2)
    for block in re.findall(r"```console\n(.*?)```", pathlib.Path(page).read_text(), re.S):
        for command, expected in re.findall(r"^\$ cairn (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            ended = subprocess.run([program, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            commands += 1
            found, expected = ended.stdout.replace(home, "/home/ada").splitlines(), expected.rstrip("\n").splitlines()
            if found != expected:
                failed += 1
                print(f"FAILED: cairn {command}", *difflib.unified_diff(expected, found, "the page", "the program", lineterm=""), sep="\n")
print(f"{commands} commands of the page, {failed} failed")
sys.exit(failed > 0 or commands == 0)
