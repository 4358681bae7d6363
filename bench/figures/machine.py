# SPDX-License-Identifier: MIT
"""The machine, the compiler, the libraries and the commit."""

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

# Debian's packages of the peers, and of what Cairn needs.
PACKAGES = ("libblosc-dev", "libboost-serialization1.81-dev", "libcereal-dev", "libeigen3-dev", "libhdf5-dev", "libhdf5-openmpi-dev", "libhwy-dev", "liblz4-dev",
            "libmpich-dev", "libopenmpi-dev", "libtorch-dev", "libzfp-dev", "libzstd-dev", "rapidjson-dev")
MODULES = ("numpy", "h5py", "torch")


def output_of(*words):
    """What a command prints; empty where it fails."""
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def first_match(pattern, file, otherwise):
    try:
        found = re.search(pattern, Path(file).read_text(encoding="utf-8", errors="replace"), re.M)
    except OSError:
        return otherwise
    return found[1].strip() if found else otherwise


def commit(root):
    """The commit of the source tree, and whether it was changed, but for the results."""
    found = output_of("git", "-C", str(root), "rev-parse", "--short", "HEAD") or "not known"
    changes = output_of("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)bench/RESULTS.md", ":(exclude,top)bench/results")
    return found + ", with changes" if changes else found


def setup(folder, build):
    """The machine, the file system of `folder`, and the versions of what is built and compared in `build`."""
    flags = first_match(r"^flags\s*: (.*)$", "/proc/cpuinfo", "").split()
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sse4_2", "SSE4.2")) if flag in flags), "")
    kilobytes = int(first_match(r"^MemTotal:\s*(\d+)", "/proc/meminfo", "0"))
    compiler = first_match(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", build / "CMakeCache.txt", "c++")
    found = {"CPU": ", ".join(filter(None, [first_match(r"^model name\s*: (.*)$", "/proc/cpuinfo", platform.machine()), widest])),
             "cores": str(len(os.sched_getaffinity(0))),
             "memory": f"{kilobytes / 2**20:.1f} GiB",
             "kernel": f"{platform.system()} {platform.release()}",
             "file system": output_of("findmnt", "--noheadings", "--output=FSTYPE", "--target", str(folder)) or "not known",
             "compiler": (output_of(compiler, "--version").splitlines() or ["not known"])[0]}
    for line in output_of("dpkg-query", "-W", "-f", "${binary:Package} ${Version} ${db:Status-Status}\n", "*-dev").splitlines():
        package, version, status = (line.split() + ["", ""])[:3]
        if package.split(":")[0] in PACKAGES and status == "installed":
            found[package.split(":")[0]] = version
    for module in MODULES:
        try:
            found[f"Python's {module}"] = importlib.metadata.version(module)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found
