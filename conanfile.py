# SPDX-License-Identifier: MIT
"""Conan 2 recipe. `conan create . -s compiler.cppstd=20` packages the headers, `-o "&:compiled=True"` the compiled library too.

The option `compiled` decides what a consumer of the package gets: the targets are cairn::cairn and, if compiled, cairn::compiled.
Both are tested with tests/package/conan.
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class CairnConan(ConanFile):
    name = "cairn"
    description = "Checkpoints for native C++ trainers"
    license = "MIT"
    topics = ("checkpoint", "training", "safetensors", "serialization", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {"compiled": [True, False], "fits": [True, False]}
    default_options = {"compiled": False, "fits": False, "boost/*:header_only": True}
    exports = "include/cairn/version.hpp"
    exports_sources = "CMakeLists.txt", ".cmake/*", "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = os.path.join("tests", "package", "conan")

    def configure(self):
        self.package_type = "static-library" if self.options.compiled else "header-library"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "cairn", "version.hpp"))
        self.version = re.search(r'#define CAIRN_VERSION "(.+)"', header).group(1)

    def requirements(self):
        self.requires("range-v3/[>=0.12 <1]", transitive_headers=True)
        self.requires("boost/[>=1.75 <2]", transitive_headers=True)
        self.requires("highway/[>=1.0.3 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("rapidjson/cci.20230929", transitive_headers=True)
        self.requires("xxhash/[>=0.8.1 <1]", transitive_headers=True)
        if self.options.fits:
            self.requires("eigen/[>=3.4 <4]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def generate(self):
        if self.options.compiled:
            CMakeDeps(self).generate()
            toolchain = CMakeToolchain(self)
            for variable in ("CAIRN_BUILD_TESTS", "CAIRN_BUILD_EXAMPLES", "CAIRN_INSTALL"):
                toolchain.cache_variables[variable] = False
            toolchain.generate()

    def build(self):
        if self.options.compiled:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="cairn_compiled")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "libcairn.a", self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "cairn")
        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "cairn::cairn")
        headers.set_property("pkg_config_name", "cairn")
        headers.bindirs = []
        headers.libdirs = []
        headers.requires = [f"{name}::{name}" for name in ("range-v3", "boost", "highway", "rapidjson", "xxhash")]
        if self.options.fits:
            headers.requires.append("eigen::eigen")
        if self.settings.os in ("Linux", "FreeBSD"):
            headers.system_libs = ["pthread"]
        if self.options.compiled:
            compiled = self.cpp_info.components["compiled"]
            compiled.set_property("cmake_target_name", "cairn::compiled")
            compiled.set_property("pkg_config_name", "cairn-compiled")
            compiled.bindirs = []
            compiled.libs = ["cairn"]
            compiled.defines = ["CAIRN_SEPARATE_COMPILATION"]
            compiled.requires = ["headers"]
