# SPDX-License-Identifier: MIT
"""Conan 2 recipe: `conan create . -s compiler.cppstd=20`.

The target is cairn::cairn; with the option `with_mpi` also cairn::mpi; with `with_torch` also cairn::torch, the
compiled definitions of the adapters for libtorch; with `with_s3` also cairn::s3, the store in a bucket.
tests/package/conan is the test of the package.
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
    topics = ("checkpoint", "training", "deep-learning", "fault-tolerance", "safetensors", "serialization")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"fPIC": [True, False], "with_mpi": [True, False], "with_torch": [True, False], "with_s3": [True, False]}
    default_options = {"fPIC": True, "with_mpi": False, "with_torch": False, "with_s3": False, "boost/*:header_only": True}
    exports = "include/cairn/version.hpp"
    exports_sources = "CMakeLists.txt", ".cmake/*", "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = os.path.join("tests", "package", "conan")

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "cairn", "version.hpp"))
        self.version = re.search(r'#define CAIRN_VERSION "(.+)"', header).group(1)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.75 <2]", transitive_headers=True)
        self.requires("highway/[>=1.0.3 <2]")
        self.requires("range-v3/[>=0.12 <1]", visible=False)  # used by the definitions alone, like the next two
        self.requires("rapidjson/[>=cci.20220822]", visible=False)
        self.requires("xxhash/[>=0.8.1 <1]", visible=False)
        if self.options.with_mpi:
            self.requires("openmpi/[>=4.1 <6]", transitive_headers=True, transitive_libs=True)
        if self.options.with_torch:
            self.requires("libtorch/[>=2.4 <3]", transitive_headers=True, transitive_libs=True)
        if self.options.with_s3:
            self.requires("libcurl/[>=7.85 <9]")
            self.requires("openssl/[>=1.1 <4]")

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} supports Linux only, not {self.settings.os}")

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for variable in ("CAIRN_BUILD_TESTS", "CAIRN_BUILD_EXAMPLES", "CAIRN_INSTALL"):
            toolchain.cache_variables[variable] = False
        toolchain.cache_variables["CAIRN_TORCH"] = bool(self.options.with_torch)
        toolchain.cache_variables["CAIRN_S3"] = bool(self.options.with_s3)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        torch, s3 = ["cairn_torch"] * bool(self.options.with_torch), ["cairn_s3"] * bool(self.options.with_s3)
        for library in ["cairn", *torch, *s3]:
            cmake.build(target=library)

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "libcairn*.a", self.build_folder, os.path.join(self.package_folder, "lib"), keep_path=False)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "cairn")
        self._component("library", "cairn", ["cairn"], ["boost::boost", "highway::highway"])
        if self.options.with_torch:
            self._component("torch", "torch", ["cairn_torch"], ["library", "libtorch::libtorch"])
        if self.options.with_s3:
            self._component("s3", "s3", ["cairn_s3"], ["library", "libcurl::libcurl", "openssl::crypto"])
        if self.options.with_mpi:
            self._component("mpi", "mpi", [], ["library", "openmpi::openmpi"])

    def _component(self, name, target, libraries, requires):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"cairn::{target}")
        component.set_property("pkg_config_name", "cairn" if target == "cairn" else f"cairn-{target}")
        component.bindirs = []
        component.libs = libraries
        component.system_libs = ["pthread"]
        component.requires = requires
