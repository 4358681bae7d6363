# SPDX-License-Identifier: MIT
"""The package as users get it: by pip, and checked by mypy."""

import os
import pathlib
import subprocess
import sys

PYTHON = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(os.environ["PYTHONPATH"]) / "cairn"


def run(*command, **how):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, **how)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pip_installs_it_from_a_checkout_without_network(tmp_path):
    run("-m", "pip", "install", "--no-deps", "--no-index", "--no-input", "--target", tmp_path / "site",
        "--config-settings", f"build-dir={os.environ['CAIRN_BUILD']}", PYTHON.parents[1],
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"})
    installed = {"PYTHONPATH": str(tmp_path / "site"), "PYTHONDONTWRITEBYTECODE": "1"}
    program = "import cairn, importlib.metadata as m, pathlib; print(m.version('cairn')); assert pathlib.Path(cairn.__file__).parts[-3] == 'site'"
    run("-c", program, env={**os.environ, **installed}, cwd=tmp_path)
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", PYTHON / "test_cairn.py", cwd=tmp_path,
        env={**os.environ, **installed})


def test_the_types_are_those_of_the_module(tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text("cairn._cairn.Checkpoint\n")  # only its metaclass, which is pybind11's, differs
    run("-m", "mypy.stubtest", "cairn._cairn", "--allowlist", allowed, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
    run("-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "-p", "cairn", cwd=PACKAGE.parent)


def test_mypy_checks_programs_that_use_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import cairn\nwith cairn.open('run') as opened:\n    step: int = opened.step\n    mean = opened['weight'].mean()\n")
    check = ["-m", "mypy", "--cache-dir", tmp_path / "cache", program]
    where = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    run(*check, env=where)
    program.write_text("import cairn\nstep: str = cairn.open('run').step\n")
    wrong = subprocess.run([sys.executable, *map(str, check)], env=where, capture_output=True, text=True)
    assert wrong.returncode == 1 and "program.py:2" in wrong.stdout


def test_the_script_plots_a_run_of_cpp(tmp_path):
    for _ in range(2):
        subprocess.run([os.environ["CAIRN_TRAINER"], tmp_path / "run"], check=True, capture_output=True)
    run(PYTHON / "plot_run.py", tmp_path / "run", tmp_path / "run.png", env={**os.environ, "MPLCONFIGDIR": str(tmp_path)})
    picture = (tmp_path / "run.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
