#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads an installed cairn.cps as a tool does that knows the Common Package Specification: checks what it must have, resolves the components to flags, compares
those with pkg-config's, and builds and runs the consumer with the compiled library. Usage: cps.py <compiler> <prefix> <scratch folder>"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
compiler, prefix, scratch = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3])
file, = prefix.rglob("cairn.cps")
package = json.loads(file.read_text())

assert package["cps_version"] == "0.13" and package["name"] == "cairn", package
# The prefix follows from where the file lies.
path = package["cps_path"]
assert path.startswith("@prefix@/") and file.parent == prefix / path.removeprefix("@prefix@/"), path
external = {"hwy:hwy": "libhwy"}  # the others have headers alone, in the compiler's path


def flags_of(name):
    """Compile and link flags of a component and of those that it requires."""
    part = package["components"][name]
    resolved = lambda text: text.replace("@prefix@", str(prefix))
    compile_flags = [f"-D{key}" + ("" if value is None else f"={value}") for key, value in part.get("definitions", {}).get("*", {}).items()]
    compile_flags += [f"-I{resolved(folder)}" for folder in part.get("includes", [])] + part.get("compile_flags", [])
    link_flags = [resolved(part["location"])] if part["type"] in ("archive", "dylib") else []
    assert all(Path(each).is_file() for each in link_flags), link_flags
    link_flags += part.get("link_flags", []) + [f"-l{library}" for library in part.get("link_libraries", [])]
    for required in part.get("requires", []):
        if required.startswith(":"):
            more = flags_of(required[1:])
        else:
            assert required.split(":")[0] in package["requires"], required
            more = [pkg_config("--cflags", external[required]), pkg_config("--libs", external[required])] if required in external else [[], []]
        compile_flags, link_flags = compile_flags + more[0], link_flags + more[1]
    return compile_flags, link_flags


def pkg_config(*arguments):
    pc, = prefix.rglob("cairn.pc")
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))
    return shlex.split(subprocess.run(["pkg-config", *arguments], check=True, capture_output=True, text=True, env=environment).stdout)


for component, name in {"cairn": "cairn", "compiled": "cairn-compiled"}.items():
    of_cps, of_pc = set(flags_of(component)[0]), set(pkg_config("--cflags", name))
    real = lambda flags: {str(Path(flag[2:]).resolve()) if flag.startswith("-I") else flag for flag in flags} - {"/usr/include"}
    assert real(of_cps) == real(of_pc), (component, of_cps, of_pc)

scratch.mkdir(parents=True, exist_ok=True)
compile_flags, link_flags = flags_of("compiled")
subprocess.run([compiler, "-std=c++20", *compile_flags, here / "consumer.cpp", "-o", scratch / "consumer", *link_flags], check=True)
subprocess.run([scratch / "consumer", scratch / "checkpoint"], check=True)
