# SPDX-License-Identifier: MIT
"""Conan's test of the package: the project of ../find_package."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class CairnTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(os.pardir, "find_package"))
        cmake.build()

    def test(self):
        if can_run(self):
            options = self.dependencies["cairn"].options
            programs = {"consumer": True, "consumer_mpi": options.with_mpi, "consumer_torch": options.with_torch}
            for program in (name for name, is_built in programs.items() if is_built):
                folder = os.path.join(self.build_folder, "checkpoint_of_" + program)
                self.run(f'"{os.path.join(self.cpp.build.bindir, program)}" "{folder}"', env="conanrun")
