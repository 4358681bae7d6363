# SPDX-License-Identifier: MIT
"""Builds the wheel of the package cairn: CMake builds the module, and this puts it and the Python files into an archive.

A backend of its own (PEP 517), since pip downloads any other one, and Cairn is installed without network. `pip install . --config-settings
build-dir=DIR` uses a build folder that is there.
"""

import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "examples/python/src/cairn"


def version():
    text = (ROOT / "include/cairn/version.hpp").read_text()
    return re.search(r'#define CAIRN_VERSION "(.*)"', text).group(1)


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def metadata_files():
    about = f"Metadata-Version: 2.1\nName: cairn\nVersion: {version()}\nSummary: Reads and writes Cairn's checkpoints as numpy arrays\n"
    about += "Requires-Python: >=3.10\nRequires-Dist: numpy\n"
    wheel = f"Wheel-Version: 1.0\nGenerator: cairn\nRoot-Is-Purelib: false\nTag: {tag()}\n"
    return {"METADATA": about.encode(), "WHEEL": wheel.encode(), "LICENSE": (ROOT / "LICENSE").read_bytes()}


def build_module(build):
    """Returns the file of the compiled module."""
    # pip hides the installed packages from this process; CMake looks for Python and pybind11 as usual.
    usual = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    if not (build / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCAIRN_BUILD_TESTS=OFF",
                        f"-DCAIRN_PYTHON={sys.executable}"], check=True, env=usual)
    targets = subprocess.run(["cmake", "--build", build, "--target", "help"], check=True, env=usual, capture_output=True, text=True).stdout
    if "cairn_python" not in targets:
        raise RuntimeError("the Python package needs pybind11 and the headers of Python (Debian: pybind11-dev python3-dev)")
    subprocess.run(["cmake", "--build", build, "--target", "cairn_python", "--parallel", str(os.cpu_count() or 1)], check=True, env=usual)
    module = build / "examples/python/cairn" / f"_cairn{sysconfig.get_config_var('EXT_SUFFIX')}"
    if not module.exists():
        raise RuntimeError(f"{module} is missing: {build} builds for another Python")
    return module


def write_wheel(path, files):
    """`files`: names and bytes. The last one, RECORD, has a hash of each."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(content)])
        name = f"cairn-{version()}.dist-info/RECORD"
        rows.writerow([name, "", ""])
        archive.writestr(name, record.getvalue())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as scratch:
        module = build_module(pathlib.Path((config_settings or {}).get("build-dir", scratch)))
        files = {f"cairn/{each.name}": each.read_bytes() for each in sorted(PACKAGE.iterdir()) if each.is_file()}
        files[f"cairn/{module.name}"] = module.read_bytes()
    files |= {f"cairn-{version()}.dist-info/{name}": content for name, content in metadata_files().items()}
    name = f"cairn-{version()}-{tag()}.whl"
    write_wheel(pathlib.Path(wheel_directory) / name, files)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = f"cairn-{version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / name
    folder.mkdir()
    for each, content in metadata_files().items():
        (folder / each).write_bytes(content)
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("cairn has no source archive of its own: install it from a checkout")
