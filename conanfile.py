"""Conan 2 recipe: `conan create . -s compiler.cppstd=20` packages the headers and tests them with tests/package/conan."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class CairnConan(ConanFile):
    name = "cairn"
    description = "Checkpoints for native C++ trainers"
    license = "MIT"
    topics = ("checkpoint", "training", "safetensors", "serialization", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports = "include/cairn/version.hpp"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = os.path.join("tests", "package", "conan")
    default_options = {"boost/*:header_only": True}

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include", "cairn", "version.hpp"))
        self.version = re.search(r'#define CAIRN_VERSION "(.+)"', header).group(1)

    def requirements(self):
        self.requires("range-v3/[>=0.12 <1]", transitive_headers=True)
        self.requires("boost/[>=1.81 <2]", transitive_headers=True)
        self.requires("highway/[>=1.0.3 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("rapidjson/cci.20230929", transitive_headers=True)
        self.requires("xxhash/[>=0.8.1 <1]", transitive_headers=True)
        self.requires("eigen/[>=3.4 <4]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        basic_layout(self)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "cairn")
        self.cpp_info.set_property("cmake_target_name", "cairn::cairn")
        self.cpp_info.set_property("pkg_config_name", "cairn")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
