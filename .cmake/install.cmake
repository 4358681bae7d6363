# SPDX-License-Identifier: MIT
# Installs the headers, the library, the CMake package, the pkg-config file and the CPS file. All of them work from
# wherever the prefix is moved.
include(CMakePackageConfigHelpers)
set(cairn_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cairn")
set(cairn_pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(cairn_cps_dir "${CMAKE_INSTALL_LIBDIR}/cps")
file(RELATIVE_PATH cairn_pc_to_prefix "/prefix/${cairn_pc_dir}" "/prefix")

# What a static library links, for pkg-config and CPS. A shared one has it itself.
set(cairn_pc_requires "")
set(cairn_cps_links "")
set(cairn_cps_type dylib)
set(cairn_type SHARED)
if(NOT BUILD_SHARED_LIBS)
  set(cairn_pc_requires "libhwy >= 1.0")
  set(cairn_cps_links ",\n      \"link_requires\": [\"hwy:hwy\"]")
  set(cairn_cps_type archive)
  set(cairn_type STATIC)
  if(XXHASH_HAS_DISPATCH)
    string(APPEND cairn_pc_requires ", libxxhash")
    string(APPEND cairn_cps_links ",\n      \"link_libraries\": [\"xxhash\"]")
  endif()
endif()
set(cairn_library "${CMAKE_${cairn_type}_LIBRARY_PREFIX}cairn${CMAKE_${cairn_type}_LIBRARY_SUFFIX}")

configure_package_config_file(.cmake/cairn-config.cmake.in cairn-config.cmake INSTALL_DESTINATION "${cairn_package_dir}"
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(cairn-config-version.cmake COMPATIBILITY SameMinorVersion)
configure_file(.cmake/cairn.pc.in cairn.pc @ONLY)
set(prefix "@prefix@")  # is not to be replaced
configure_file(.cmake/cairn.cps.in cairn.cps @ONLY)

install(TARGETS cairn EXPORT cairn-targets)
install(EXPORT cairn-targets NAMESPACE cairn:: DESTINATION "${cairn_package_dir}")
install(DIRECTORY include/cairn DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_BINARY_DIR}/cairn-config.cmake" "${PROJECT_BINARY_DIR}/cairn-config-version.cmake"
              .cmake/dependencies.cmake .cmake/mpi.cmake .cmake/torch.cmake .cmake/s3.cmake .cmake/Findhwy.cmake .cmake/FindxxHash.cmake
        DESTINATION "${cairn_package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/cairn.pc" DESTINATION "${cairn_pc_dir}")
install(FILES "${PROJECT_BINARY_DIR}/cairn.cps" DESTINATION "${cairn_cps_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/cairn")
