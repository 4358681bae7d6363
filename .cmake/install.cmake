# SPDX-License-Identifier: MIT
# Installs the headers, the library, the CMake package and the pkg-config file, which work from wherever the prefix is
# moved.
include(CMakePackageConfigHelpers)
set(cairn_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cairn")
set(cairn_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH cairn_pc_to_prefix "/prefix/${cairn_pc_dir}" "/prefix")

# What a static library links, for pkg-config. A shared one has it itself.
set(cairn_pc_requires "")
if(NOT BUILD_SHARED_LIBS)
  set(cairn_pc_requires "libhwy >= 1.0")
  if(XXHASH_HAS_DISPATCH)
    string(APPEND cairn_pc_requires ", libxxhash")
  endif()
endif()

configure_package_config_file(.cmake/cairn-config.cmake.in cairn-config.cmake INSTALL_DESTINATION "${cairn_package_dir}"
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(cairn-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(.cmake/cairn.pc.in cairn.pc @ONLY)

install(TARGETS cairn EXPORT cairn-targets)
install(EXPORT cairn-targets NAMESPACE cairn:: DESTINATION "${cairn_package_dir}")
install(DIRECTORY include/cairn DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_BINARY_DIR}/cairn-config.cmake" "${PROJECT_BINARY_DIR}/cairn-config-version.cmake"
              .cmake/dependencies.cmake .cmake/mpi.cmake .cmake/torch.cmake .cmake/s3.cmake .cmake/parity.cmake .cmake/Findhwy.cmake .cmake/FindxxHash.cmake
        DESTINATION "${cairn_package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/cairn.pc" DESTINATION "${cairn_pc_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/cairn")
