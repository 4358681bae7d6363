# SPDX-License-Identifier: MIT
# Recipe for Spack 1.0 or newer: the file packages/cairn/package.py of a Spack repository.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Cairn(CMakePackage):
    """Checkpoints for native C++ trainers."""

    homepage = "https://cairn.example.org"
    git = "https://cairn.example.org/cairn.git"

    license("MIT")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("shared", default=False, description="Build a shared library")
    variant("mpi", default=False, description="Groups of MPI ranks")
    variant("program", default=False, description="The program cairn, which looks into checkpoints and runs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("boost@1.75:")
    depends_on("highway@1.0:")
    depends_on("range-v3@0.12:", type="build")
    depends_on("rapidjson@1.1:", type="build")
    depends_on("xxhash@0.8:")
    depends_on("mpi", when="+mpi")
    depends_on("cli11@2:", when="+program")
    depends_on("nlohmann-json@3:", when="+program")

    conflicts("platform=darwin", msg="Cairn needs Linux")
    conflicts("platform=windows", msg="Cairn needs Linux")
    conflicts("%gcc@:11")
    conflicts("%clang@:15")

    def cmake_args(self):
        return [
            self.define("CAIRN_BUILD_TESTS", False),
            self.define("CAIRN_BUILD_EXAMPLES", False),
            self.define_from_variant("CAIRN_MPI", "mpi"),
            self.define_from_variant("CAIRN_PROGRAM", "program"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
