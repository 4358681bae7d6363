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

    variant("compiled", default=True, description="Build and install the compiled library, cairn::compiled")
    variant("shared", default=False, when="+compiled", description="Make it a shared library")
    variant("fits", default=False, description="Policies that fit a curve to the loss")
    variant("mpi", default=False, description="Groups of MPI ranks")
    variant("program", default=False, when="+compiled", description="The program cairn, which looks into checkpoints and runs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.21:", type="build")
    depends_on("boost@1.75:")
    depends_on("highway@1.0:")
    depends_on("range-v3@0.12:")
    depends_on("rapidjson@1.1:")
    depends_on("xxhash@0.8:")
    depends_on("eigen@3.3:", when="+fits")
    depends_on("mpi", when="+mpi")
    depends_on("cli11@2:", when="+program")
    depends_on("libzip", when="+program")
    depends_on("nlohmann-json@3:", when="+program")

    conflicts("platform=darwin", msg="Cairn needs Linux")
    conflicts("platform=windows", msg="Cairn needs Linux")
    conflicts("%gcc@:11")
    conflicts("%clang@:15")

    def cmake_args(self):
        return [
            self.define("CAIRN_BUILD_TESTS", False),
            self.define("CAIRN_BUILD_EXAMPLES", False),
            self.define_from_variant("CAIRN_COMPILED", "compiled"),
            self.define_from_variant("CAIRN_MPI", "mpi"),
            self.define_from_variant("CAIRN_PROGRAM", "program"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_Eigen3", self.spec.satisfies("~fits")),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
