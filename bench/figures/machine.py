# SPDX-License-Identifier: MIT
"""What the page says of the machine, the compiler, the libraries and the commit."""

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

# Debian's packages of the peers, and of what Cairn needs.
PACKAGES = ("libblosc-dev", "libboost-serialization1.81-dev", "libcereal-dev", "libeigen3-dev", "libhdf5-dev", "libhdf5-openmpi-dev", "libhwy-dev", "liblz4-dev",
            "libmpich-dev", "libopenmpi-dev", "libtorch-dev", "libzfp-dev", "libzstd-dev", "rapidjson-dev")


def output_of(*words):
    """The first line that a command prints; empty where it fails."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def first_match(pattern, file, otherwise):
    try:
        found = re.search(pattern, Path(file).read_text(encoding="utf-8", errors="replace"), re.M)
    except OSError:
        return otherwise
    return found[1].strip() if found else otherwise


def file_system_of(folder):
    """The type of the file system with the longest mount point above `folder`."""
    best = ("", "not known")
    here = str(Path(folder).resolve()) + "/"
    for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
        _, point, kind = line.split()[:3]
        if here.startswith(point.rstrip("/") + "/") and len(point) >= len(best[0]):
            best = (point, kind)
    return best[1]


def machine(folder):
    flags = first_match(r"^flags\s*: (.*)$", "/proc/cpuinfo", "").split()
    widest = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("sse4_2", "SSE4.2")) if flag in flags), "")
    memory = int(first_match(r"^MemTotal:\s*(\d+)", "/proc/meminfo", "0"))
    load = Path("/proc/loadavg").read_text(encoding="utf-8").split()[0]
    return [["CPU", ", ".join(filter(None, [first_match(r"^model name\s*: (.*)$", "/proc/cpuinfo", platform.machine()), widest]))],
            ["cores", str(len(os.sched_getaffinity(0)))], ["memory", f"{memory / 2**20:.1f} GiB"],
            ["kernel", f"{platform.system()} {platform.release()}"], ["file system", file_system_of(folder)],
            ["load before the first program", f"{load} (on an idle machine: near 0)"]]


def versions(root, build):
    compiler = first_match(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", build / "CMakeCache.txt", "")
    commit = output_of("git", "-C", str(root), "rev-parse", "--short", "HEAD") or "not known"
    if output_of("git", "-C", str(root), "status", "--porcelain", "--untracked-files=no"):
        commit += ", with changes"
    found = [["Cairn", first_match(r'CAIRN_VERSION "(.*)"', root / "include/cairn/version.hpp", "not known")], ["commit", commit],
             ["compiler", (output_of(compiler, "--version").splitlines() or ["not known"])[0] if compiler else "not known"]]
    listed = output_of("dpkg-query", "-W", "-f", "${binary:Package} ${Version} ${db:Status-Status}\n", "*-dev")
    for line in listed.splitlines():
        package, version, status = (line.split() + ["", ""])[:3]
        if package.split(":")[0] in PACKAGES and status == "installed":
            found.append([package.split(":")[0], version])
    for module in ("numpy", "h5py", "torch"):
        try:
            found.append([f"Python's {module}", importlib.metadata.version(module)])
        except importlib.metadata.PackageNotFoundError:
            pass
    return found
