# SPDX-License-Identifier: MIT
"""Conan 2 recipe. `conan create . -s compiler.cppstd=20` packages the headers, `-o "&:compiled=True"` the compiled library too.

The targets are cairn::cairn and, if compiled, cairn::compiled; cairn::mpi with the option `with_mpi`. With `with_torch`, cairn::torch is the compiled
definitions of the adapters for libtorch. tests/package/conan is the test of the package.
"""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class CairnConan(ConanFile):
    name = "cairn"
    description = "Checkpoints for native C++ trainers"
    license = "MIT"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://cairn.example.org"
    topics = ("checkpoint", "training", "deep-learning", "fault-tolerance", "safetensors", "serialization", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {"compiled": [True, False], "fPIC": [True, False], "fits": [True, False], "with_mpi": [True, False], "with_torch": [True, False]}
    default_options = {"compiled": False, "fPIC": True, "fits": False, "with_mpi": False, "with_torch": False, "boost/*:header_only": True}
    exports = "include/cairn/version.hpp"
    exports_sources = "CMakeLists.txt", ".cmake/*", "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = os.path.join("tests", "package", "conan")

    def configure(self):
        self.package_type = "static-library" if self.options.compiled else "header-library"
        if not self.options.compiled:
            self.options.rm_safe("fPIC")

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "cairn", "version.hpp"))
        self.version = re.search(r'#define CAIRN_VERSION "(.+)"', header).group(1)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("range-v3/[>=0.12 <1]", transitive_headers=True)
        self.requires("boost/[>=1.75 <2]", transitive_headers=True)
        self.requires("highway/[>=1.0.3 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("rapidjson/[>=cci.20220822]", transitive_headers=True)
        self.requires("xxhash/[>=0.8.1 <1]", transitive_headers=True)
        if self.options.fits:
            self.requires("eigen/[>=3.4 <6]", transitive_headers=True)
        if self.options.with_mpi:
            self.requires("openmpi/[>=4.1 <6]", transitive_headers=True, transitive_libs=True)
        if self.options.with_torch:
            self.requires("libtorch/[>=2.4 <3]", transitive_headers=True, transitive_libs=True)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} supports Linux only, not {self.settings.os}")
        if self.options.with_torch and not self.options.compiled:
            raise ConanInvalidConfiguration("with_torch needs compiled=True")

    def generate(self):
        if self.options.compiled:
            CMakeDeps(self).generate()
            toolchain = CMakeToolchain(self)
            for variable in ("CAIRN_BUILD_TESTS", "CAIRN_BUILD_EXAMPLES", "CAIRN_INSTALL"):
                toolchain.cache_variables[variable] = False
            toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_Eigen3"] = not self.options.fits
            toolchain.cache_variables["CAIRN_TORCH"] = bool(self.options.with_torch)
            toolchain.generate()

    def build(self):
        if self.options.compiled:
            cmake = CMake(self)
            cmake.configure()
            cmake.build(target="cairn_compiled")
            if self.options.with_torch:
                cmake.build(target="cairn_torch")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "libcairn*.a", self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)

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
        headers.system_libs = ["pthread"]
        if self.options.compiled:
            self._library("compiled", "cairn", ["headers"])
        if self.options.with_torch:
            self._library("torch", "cairn_torch", ["compiled", "libtorch::libtorch"])
        if self.options.with_mpi:
            mpi = self.cpp_info.components["mpi"]
            mpi.set_property("cmake_target_name", "cairn::mpi")
            mpi.bindirs = []
            mpi.libdirs = []
            mpi.requires = ["headers", "openmpi::openmpi"]

    def _library(self, component, name, requires):
        part = self.cpp_info.components[component]
        part.set_property("cmake_target_name", f"cairn::{component}")
        part.set_property("pkg_config_name", f"cairn-{component}")
        part.bindirs = []
        part.libs = [name]
        part.defines = ["CAIRN_SEPARATE_COMPILATION"]
        part.requires = requires
