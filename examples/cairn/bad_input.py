#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of the program on every bad input: one line on the standard error, exit status 2, and what to do. Usage: bad_input.py CAIRN GOLDEN"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from golden_runs import change_index, make_run

program, golden = (os.path.realpath(each) for each in sys.argv[1:3])
failures = []
checked = 0

# What tells a user what to do.
ADVICE = re.compile(r"give |choose |make it|move it|run cairn as|change the permissions|`cairn |a newer version|try again|remove it|--help|takes a|needs a rule|--filter|convert it|end other programs|raise the limit|start a thread")


def run(*words, user=None, limit=None):
    """As another user, or under a limit: (what, bytes)."""
    command = [program, *words]
    if user:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    set_limit = limit and (lambda: resource.setrlimit(limit[0], (limit[1], limit[1])))
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=set_limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "does not end")


def check(words, ended, statuses=(2,)):
    global checked
    checked += 1
    name = "cairn " + " ".join(words)
    lines = ended.stderr.splitlines()
    if ended.returncode not in statuses:
        failures.append(f"{name}: exit status {ended.returncode}: {ended.stderr}{ended.stdout}")
    elif ended.returncode == 2:
        if len(lines) != 1 or not lines[0].startswith("cairn: "):
            failures.append(f"{name}: no error of one line: {ended.stderr}")
        elif not ADVICE.search(lines[0]):
            failures.append(f"{name}: does not say what to do: {ended.stderr}")
        if ended.stdout:
            failures.append(f"{name}: an error, and output: {ended.stdout}")
    elif ended.returncode == 1 and (ended.stderr or not ADVICE.search(ended.stdout) and "restore" not in ended.stdout):
        failures.append(f"{name}: damage, and no advice: {ended.stdout}{ended.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.chmod(folder, 0o755)
    shutil.copytree(os.path.join(golden, "chain-4"), "run")
    newest = "step-000000004"
    header = b'{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'
    pathlib.Path("tensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))

    def copy_of_run(name):
        shutil.copytree("run", name)
        return pathlib.Path(name)

    os.mkdir("empty")
    pathlib.Path("foreign").write_text("text\n")
    os.mkfifo("fifo")
    os.mkdir("foreign-directory")
    pathlib.Path("foreign-directory/notes.txt").write_text("text\n")
    for file in (copy_of_run("damaged") / newest).glob("*.safetensors"):
        os.truncate(file, 100)
    (copy_of_run("damaged-index") / newest / "index.json").write_text("{}")
    for index in copy_of_run("newer").glob("*/index.json"):
        change_index(index, lambda text: text.replace('"version":"2"', '"version":"99"', 1))
    copy_of_run("closed")
    copy_of_run("closed-index")

    # Each command, and whether it takes a run, a checkpoint or a file in place of PLACE.
    commands = {
        "ls PLACE": "run",
        "prune PLACE --keep-last 1": "run",
        "prune PLACE --keep-last 1 --yes": "run",
        "report PLACE -o page.html": "run",
        "verify PLACE --all": "run",
        "show PLACE": "checkpoint",
        "verify PLACE": "checkpoint",
        "diff PLACE run": "checkpoint",
        "diff run PLACE": "checkpoint",
        "export PLACE made/out.safetensors": "checkpoint",
        "export PLACE made/directory": "checkpoint",
        "merge PLACE": "checkpoint",
        "copy PLACE made/copied": "checkpoint",
        "plan PLACE --ranks 2": "checkpoint",
        "import PLACE made/imported": "file",
    }

    # Each bad input, and the exit statuses that are not 2: 1 reports damage, 0 lists what can be read.
    damage = {"ls": (1,), "verify": (1,), "report": (0,)}
    inputs = {
        "nowhere": {},
        "empty": {},
        "foreign": {"verify PLACE": (1,)},
        "fifo": {"verify PLACE": (1,)},
        "foreign-directory": {},
        "damaged": {**damage, "ls": (0,)},
        "damaged-index": damage,
        f"damaged/{newest}": {"verify PLACE": (1,)},
        f"damaged-index/{newest}": {"verify PLACE": (1,)},
        "newer": {"ls": (1,), "report": (0,), "verify PLACE --all": (2,)},
        f"newer/{newest}": {},
        f"run/{newest}/index.json": {"verify PLACE": (1,)},
        "run/no-such-name": {},
    }
    closed = {"closed": {}, f"closed/{newest}": {}, "closed-index": {"ls": (1,), "report": (0,)}, f"closed-index/{newest}": {}}

    def check_all(place, but, user=None):
        for template in commands:
            before = sorted(os.listdir("."))
            words = [place if word == "PLACE" else word for word in template.split()]
            statuses = but.get(template, but.get(template.split()[0], (2,)))
            ended = run(*words, user=user)
            if place in ("newer", "closed-index") and template == "verify PLACE --all":  # a line on the output for each checkpoint
                if ended.returncode != 2 or not ADVICE.search(ended.stdout):
                    failures.append(f"cairn {' '.join(words)}: {ended.returncode} {ended.stdout}{ended.stderr}")
            else:
                check(words, ended, statuses)
            if os.path.exists("page.html"):
                os.remove("page.html")
            if sorted(os.listdir(".")) != before:
                failures.append(f"cairn {' '.join(words)}: left {set(os.listdir('.')) - set(before)}")

    for place, but in inputs.items():
        check_all(place, but)

    # Without permission: as another user where this is root, whom no permission stops.
    user = 65534 if os.geteuid() == 0 else None
    if user is None or shutil.which("setpriv"):
        for path in [pathlib.Path("."), *pathlib.Path(".").rglob("*")]:
            if user is not None:
                os.chown(path, user, user)
        os.chmod("closed", 0)
        for index in pathlib.Path("closed-index").glob("*/index.json"):
            os.chmod(index, 0)
        for place, but in closed.items():
            check_all(place, but, user)
        ended = run("prune", "closed-index", "--keep-last", "1", user=user)
        if "permissions" not in ended.stderr or "move it" in ended.stderr:
            failures.append(f"prune of an index without permission: {ended.stderr}")
        os.mkdir("read-only")
        os.chmod("read-only", 0o555)
        if user is not None:
            os.chown("read-only", user, user)
        for words in (
            ["export", "run", "read-only/out.safetensors"],
            ["export", "run", "read-only/directory"],
            ["report", "run", "-o", "read-only/page.html"],
            ["import", "tensors", "read-only/imported"],
        ):
            check(words, run(*words, user=user))
        os.chmod("closed", 0o755)
    else:
        print("without setpriv: not tried without permission")

    # Outputs that are in the way, names that are not there, and words that no command takes.
    os.mkdir("directory.safetensors")
    run("export", "run", "one.safetensors")
    os.mkdir("model")
    run("export", "run", "model")
    os.link("one.safetensors", "same.safetensors")
    os.symlink("one.safetensors", "link.safetensors")
    before = pathlib.Path("model/model.safetensors").read_bytes()
    for words in (
        ["export", "run", "directory.safetensors"],
        ["export", "one.safetensors", "one.safetensors"],
        ["export", "one.safetensors", "same.safetensors"],
        ["export", "one.safetensors", "link.safetensors"],
        ["export", "model/model.safetensors", "model"],
        ["export", "model/model.safetensors", "model/."],
        ["export", "run", f"run/{newest}"],
        ["export", "run", "made/x", "--filter", "no-such-array"],
        ["export", "run", "foreign/x"],
        ["report", "run", "-o", "nowhere/page.html"],
        ["report", "run", "-o", "empty"],
        ["report", "run", "-o", "foreign"],
        ["report", "run", "-o", "fifo"],
        ["report", "run", "-o", "/dev/stdout"],
        ["report", "run", "--events", "fifo", "-o", "x.html"],
        ["report", "run", "-o", "-", "--json"],
        ["report", "run", "--events", "nowhere", "-o", "x.html"],
        ["report", "run", "--events", "empty", "-o", "x.html"],
        ["report", "run", "--events", "foreign", "-o", "x.html"],
        ["merge", "one.safetensors"],
        ["copy", "one.safetensors", "made/copied"],
        ["copy", "run", "one.safetensors"],
        ["ls", "s3://"],
        ["verify", "s3://Bucket/run"],
        ["copy", "run", "s3://bucket"],
        ["import", "one.safetensors", "s3://bucket/run"],
        ["prune", "run"],
        ["prune", "run", "--keep-best", "1", "--metric", "no-such-metric"],
        ["ls", "run", "--no-such-option"],
        ["plan", "run", "--ranks", "0"],
        ["plan", "run", "--ranks", "100001"],
        ["no-such-command"],
        [],
    ):
        check(words, run(*words))
    make_run(golden, "no-losses", 4 * ['"nan"'])
    ended = run("prune", "no-losses", "--keep-best", "1")
    check(["prune", "no-losses", "--keep-best", "1"], ended)
    if "all are NaN" not in ended.stderr:
        failures.append(f"prune with no loss that is a number: {ended.stderr}")

    # What is no file to import: the advice is about such files, and not about runs.
    foreign = {"a": ["F32", [1], 4], "b": ["C64", [1], 8]}
    for name, header in {"none": {}, "unnamed": {"": foreign["a"]}, "longer": {"a": foreign["a"]}, "complex": {"b": foreign["b"]}}.items():
        made = {each: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]} for each, (dtype, shape, size) in header.items()}
        text = json.dumps(made).encode()
        pathlib.Path(f"{name}.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + (b"" if name == "none" else bytes(8 if name != "unnamed" else 4)))
        words = ["import", f"{name}.safetensors", "made/imported"]
        ended = run(*words)
        check(words, ended)
        if re.search("verify|RUN|newer version", ended.stderr):
            failures.append(f"{' '.join(words)}: {ended.stderr}")
    for name, begin in {"a.pt": b"PK\3\4", "a.npy": b"\x93NUMPY", "a.pkl": b"\x80\2"}.items():
        pathlib.Path(name).write_bytes(begin + bytes(100))
        ended = run("import", name, "made/imported")
        if ended.returncode != 2 or f"python -m cairn.convert {name} " not in ended.stderr:
            failures.append(f"import {name}: {ended.stderr}")
    for place in ("foreign", "nowhere", "fifo", "foreign-directory"):
        ended = run("import", place, "made/imported")
        if "verify" in ended.stderr or "RUN" in ended.stderr:
            failures.append(f"import {place}: {ended.stderr}")

    # Limits of the process: a size of files, and memory.
    few = 1 << 27
    has_few = run("--version", limit=(resource.RLIMIT_AS, few)).returncode == 0  # the address sanitizer takes more
    header = b'{"a":{"dtype":"F32","shape":[67108864],"data_offsets":[0,268435456]}}'
    with open("large.safetensors", "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 268435456)
    for what, bound, words in (
        (resource.RLIMIT_FSIZE, 1024, ["export", "run", "made/x.safetensors"]),
        (resource.RLIMIT_FSIZE, 1024, ["report", "run", "-o", "x.html"]),
        (resource.RLIMIT_FSIZE, 1024, ["merge", "run"]),
        (resource.RLIMIT_FSIZE, 16, ["import", "tensors", "made/imported"]),
        *([(resource.RLIMIT_AS, few, ["diff", "large.safetensors", "large.safetensors"]), (resource.RLIMIT_AS, few, ["export", "large.safetensors", "made/x"])] if has_few else []),
    ):
        check(words, run(*words, limit=(what, bound)))
    os.remove("large.safetensors")
    if pathlib.Path("model/model.safetensors").read_bytes() != before:
        failures.append("an export has replaced the file that it reads")
    for left in ("made", "x.html", "directory.safetensors/x"):
        if os.path.exists(left):
            failures.append(f"{left} is left behind")

    # An interrupted prune releases the lock of the run. A signal that comes too late interrupts nothing.
    for step in range(1, 401):
        shutil.copytree("run/step-000000001", f"long/step-{step:09}")
        change_index(pathlib.Path(f"long/step-{step:09}/index.json"), lambda text: text.replace('"step":1,', f'"step":{step},', 1))
    subprocess.run([program, "import", "one.safetensors", "long/step-000000401", "--step", "401"], check=True, stdout=subprocess.DEVNULL)
    pruning = subprocess.Popen([program, "prune", "long", "--keep-last", "1", "--yes"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while pruning.poll() is None and len(os.listdir("long")) > 395:
        pass
    pruning.send_signal(signal.SIGINT)
    _, stderr = pruning.communicate()
    if pruning.returncode not in (0, -signal.SIGINT) or os.path.exists("long/.lock"):
        failures.append(f"an interrupted prune: {pruning.returncode} {stderr} {sorted(os.listdir('long'))[:3]}")
    hidden = [str(each) for each in pathlib.Path(".").rglob(".tmp-*")]
    if hidden:
        failures.append(f"left behind: {hidden}")

for each in failures:
    print("FAILED:", each.rstrip())
print(f"{checked} calls with bad input, {len(failures)} failed")
sys.exit(bool(failures))
