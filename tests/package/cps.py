#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads an installed cairn.cps as a tool does that knows the Common Package Specification: checks what it must have,
resolves the component to flags, and builds and runs the consumer with these.
Usage: cps.py <compiler> <prefix> <scratch folder>"""

import json
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

name, = package["default_components"]
component = package["components"][name]
# Of what it requires, Boost has headers alone, in the compiler's path.
required = component["requires"] + component.get("link_requires", [])
assert all(each.split(":")[0] in package["requires"] for each in required), required
libraries = component.get("link_libraries", []) + [each.split(":")[1] for each in component.get("link_requires", [])]
flags = component["compile_flags"] + [f"-I{folder}" for folder in component["includes"]]
links = [component["location"], *component["link_flags"], *(f"-l{library}" for library in libraries)]
flags, links = ([each.replace("@prefix@", str(prefix)) for each in part] for part in (flags, links))
scratch.mkdir(parents=True, exist_ok=True)
subprocess.run([compiler, "-std=c++20", *flags, here / "consumer.cpp", "-o", scratch / "consumer", *links], check=True)
subprocess.run([scratch / "consumer", scratch / "checkpoint"], check=True)
