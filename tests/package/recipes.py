#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes for Conan, Spack and vcpkg, run without these tools, in whose place are the names that the recipes use: what they require, build and refuse for all of
their options; that they agree with each other, with the build and with the Debian package. Usage: recipes.py <source tree>"""

import importlib.util
import itertools
import json
import re
import sys
import types
from pathlib import Path
from types import SimpleNamespace

root = Path(sys.argv[1]).resolve()
build = (root / "CMakeLists.txt").read_text()
options_of_build = set(re.findall(r"option\((CAIRN_\w+)", build)) | {"BUILD_SHARED_LIBS"}
options_of_build |= {f"CMAKE_DISABLE_FIND_PACKAGE_{package}" for package in re.findall(r"find_package\((\w+) QUIET", build)}
homepage = re.search(r'HOMEPAGE_URL "(.+)"', build)[1]
version = re.search(r'CAIRN_VERSION "(.+)"', (root / "include/cairn/version.hpp").read_text())[1]
description = re.search(r'DESCRIPTION "(.+)"', build)[1]
listed = re.search(r"set\(cairn_dependencies (.*)\)", (root / ".cmake/dependencies.cmake").read_text())[1]
needed = {entry.split()[0].lower() for entry in re.findall(r'"([^"]+)"', listed)} - {"threads"}
needed = {{"hwy": "highway"}.get(name, name) for name in needed}


def load(path, modules):
    """The module in the file `path`, which may import `modules`."""
    for name, content in modules.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Conan.

class Refused(Exception):
    pass


class Component(SimpleNamespace):
    def __init__(self):
        super().__init__(requires=[], defines=[], libs=[], properties={})

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        return self.setdefault(name, Component())


class Options(SimpleNamespace):
    def rm_safe(self, name):
        self.__dict__.pop(name)


built = []


class Toolchain:
    def __init__(self, recipe):
        self.cache_variables = {}

    def generate(self):
        built.append(self.cache_variables)


class Make:
    def __init__(self, recipe):
        pass

    def configure(self):
        pass

    def build(self, target):
        built.append(target)


conan = load(root / "conanfile.py", {
    "conan": {"ConanFile": object},
    "conan.errors": {"ConanInvalidConfiguration": Refused},
    "conan.tools": {},
    "conan.tools.build": {"check_min_cppstd": lambda recipe, least: None},
    "conan.tools.cmake": {"CMake": Make, "CMakeDeps": Toolchain, "CMakeToolchain": Toolchain, "cmake_layout": lambda recipe: None},
    "conan.tools.files": {"copy": lambda *a, **k: None, "load": lambda recipe, path: Path(path).read_text()},
}).CairnConan
assert conan.homepage == homepage and conan.url and conan.license == "MIT" and len(conan.topics) >= 3
assert conan.description == description


def conan_recipe(system, **options):
    recipe = conan()
    recipe.recipe_folder, recipe.ref = str(root), "cairn"
    recipe.settings = SimpleNamespace(os=system)
    own = {name: value for name, value in conan.default_options.items() if "/" not in name}
    assert set(own) == set(conan.options)
    recipe.options = Options(**(own | options))
    recipe.required = {}
    recipe.requires = lambda reference, **traits: recipe.required.update([reference.split("/")])
    recipe.cpp_info = Component()
    recipe.cpp_info.components = Components()
    recipe.configure()
    recipe.requirements()
    return recipe


for compiled, fits, mpi, torch in itertools.product([False, True], repeat=4):
    recipe = conan_recipe("Linux", compiled=compiled, fits=fits, with_mpi=mpi, with_torch=torch)
    try:
        recipe.validate()
    except Refused as why:
        assert torch and not compiled and "compiled=True" in str(why), why
        continue
    assert compiled or not torch
    assert recipe.package_type == ("static-library" if compiled else "header-library")
    assert hasattr(recipe.options, "fPIC") == compiled
    optional = {name for name, on in {"eigen": fits, "openmpi": mpi, "libtorch": torch}.items() if on}
    assert set(recipe.required) == needed | optional, recipe.required
    recipe.package_info()
    parts = recipe.cpp_info.components
    assert set(parts) == {"headers"} | {name for name, on in {"compiled": compiled, "torch": torch, "mpi": mpi}.items() if on}
    required = [name for part in parts.values() for name in part.requires]
    assert {name.split("::")[0] for name in required if "::" in name} == set(recipe.required), required
    assert all(name in parts for name in required if "::" not in name), required
    assert all(set(part.requires) & {"headers", "compiled"} for name, part in parts.items() if name != "headers")
    targets = {part.properties["cmake_target_name"] for part in parts.values()}
    assert targets == {"cairn::" + ("cairn" if name == "headers" else name) for name in parts}
    assert all(("CAIRN_SEPARATE_COMPILATION" in part.defines) == bool(part.libs) for part in parts.values())
    built.clear()
    recipe.generate()
    recipe.build()
    assert [each for each in built if isinstance(each, str)] == ["cairn_compiled"] * compiled + ["cairn_torch"] * torch
    assert all(set(each) <= options_of_build for each in built if isinstance(each, dict)), built
recipe.set_version()
assert recipe.version == version
for system in ("Windows", "Macos"):
    try:
        conan_recipe(system).validate()
        raise SystemExit(f"Conan's recipe does not refuse {system}")
    except Refused as why:
        assert system in str(why)
assert recipe.required["eigen"] == "[>=3.4 <6]"

# Spack.

directives = []


def directive(name):
    return lambda *arguments, **conditions: directives.append((name, arguments, conditions))


class CMakePackage:
    spec = SimpleNamespace(satisfies=lambda constraint: constraint.strip("+~") in {arguments[0] for name, arguments, _ in directives if name == "variant"})

    def define(self, option, value):
        return option

    def define_from_variant(self, option, variant):
        assert ("variant", variant) in {(name, arguments[0]) for name, arguments, _ in directives}, variant
        return option


names = ("license", "version", "variant", "depends_on", "conflicts")
spack = load(root / ".packaging/spack/package.py", {
    "spack": {}, "spack.package": {name: directive(name) for name in names},
    "spack_repo": {}, "spack_repo.builtin": {}, "spack_repo.builtin.build_systems": {},
    "spack_repo.builtin.build_systems.cmake": {"CMakePackage": CMakePackage},
}).Cairn
assert spack.homepage == homepage and spack.__doc__ == description + "."
assert set(spack().cmake_args()) <= options_of_build
assert ("version", (version,)) in [(name, arguments) for name, arguments, _ in directives]
libraries = {arguments[0].split("@")[0] for name, arguments, conditions in directives if name == "depends_on" and not {"when", "type"} & set(conditions)}
assert libraries == needed, libraries

# vcpkg.

port = json.loads((root / ".packaging/vcpkg/vcpkg.json").read_text())
assert port["homepage"] == homepage and port["version-semver"] == version and port["license"] == "MIT" and port["description"] == description
libraries = {"boost" if name == "boost-pfr" else name for name in port["dependencies"] if isinstance(name, str)}
assert libraries == needed, libraries
assert [name if isinstance(name, str) else name["name"] for name in port["dependencies"]] == sorted(
    name if isinstance(name, str) else name["name"] for name in port["dependencies"])
assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) and set(feature) <= {"description", "dependencies"} for name, feature in port["features"].items())
given = re.findall(r"-D(\w+)=| (?:compiled|fits) (C\w+)", (root / ".packaging/vcpkg/portfile.cmake").read_text())
assert len(given) == 4 and {name for names in given for name in names} - {""} <= options_of_build, given

# Debian.

control = (root / ".packaging/debian/control").read_text()
assert f"Homepage: {homepage}\n" in control
assert (root / ".packaging/debian/changelog").read_text().startswith(f"cairn ({version}-1) ")
print("Conan, Spack, vcpkg and Debian agree")
