# SPDX-License-Identifier: MIT
# Installs the headers, the compiled library where it is built, the CMake package, the pkg-config files and the CPS file. All of them work from
# wherever the prefix is moved. Without the compiled library nothing depends on the machine, and all goes to share/.
include(CMakePackageConfigHelpers)
if(CAIRN_COMPILED)
  set(package_root "${CMAKE_INSTALL_LIBDIR}")
  set(any_machine "")
else()
  set(package_root "${CMAKE_INSTALL_DATADIR}")
  set(any_machine ARCH_INDEPENDENT)
endif()
set(cairn_package_dir "${package_root}/cmake/cairn")
set(cairn_pc_dir "${package_root}/pkgconfig")
set(cairn_cps_dir "${package_root}/cps")
file(RELATIVE_PATH cairn_pc_to_prefix "/prefix/${cairn_pc_dir}" "/prefix")

configure_package_config_file(.cmake/cairn-config.cmake.in cairn-config.cmake INSTALL_DESTINATION "${cairn_package_dir}"
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(cairn-config-version.cmake COMPATIBILITY SameMinorVersion ${any_machine})
configure_file(.cmake/cairn.pc.in cairn.pc @ONLY)

install(TARGETS cairn EXPORT cairn-targets)
install(EXPORT cairn-targets NAMESPACE cairn:: DESTINATION "${cairn_package_dir}")
install(DIRECTORY include/cairn DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_BINARY_DIR}/cairn-config.cmake" "${PROJECT_BINARY_DIR}/cairn-config-version.cmake"
              .cmake/dependencies.cmake .cmake/mpi.cmake .cmake/torch.cmake .cmake/Findhwy.cmake .cmake/FindRapidJSON.cmake .cmake/FindxxHash.cmake
        DESTINATION "${cairn_package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/cairn.pc" DESTINATION "${cairn_pc_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/cairn")

if(CAIRN_COMPILED)
  # The library's checksums are those that it was compiled with.
  if(XXHASH_HAS_DISPATCH)
    set(cairn_pc_xxhash ", libxxhash")
    set(cairn_pc_dispatch " -DCAIRN_XXHASH_DISPATCH")
  endif()
  configure_file(.cmake/cairn-compiled.pc.in cairn-compiled.pc @ONLY)
  get_target_property(cairn_type cairn_compiled TYPE)
  set(cairn_cps_type archive)
  if(cairn_type STREQUAL "SHARED_LIBRARY")
    set(cairn_cps_type dylib)
  endif()
  set(cairn_cps_name "${CMAKE_${cairn_type}_PREFIX}cairn${CMAKE_${cairn_type}_SUFFIX}")
  set(cairn_cps_more "")
  if(XXHASH_HAS_DISPATCH)
    set(cairn_cps_more ", \"CAIRN_XXHASH_DISPATCH\": null")
    set(cairn_cps_xxhash "\n      \"link_libraries\": [\"xxhash\"],")
  endif()
  set(cairn_cps_compiled ",
    \"compiled\": {
      \"type\": \"${cairn_cps_type}\",
      \"location\": \"@prefix@/${CMAKE_INSTALL_LIBDIR}/${cairn_cps_name}\",
      \"definitions\": {\"*\": {\"CAIRN_SEPARATE_COMPILATION\": null${cairn_cps_more}}},${cairn_cps_xxhash}
      \"requires\": [\":cairn\"]
    }")
  install(TARGETS cairn_compiled EXPORT cairn-compiled-targets)
  install(EXPORT cairn-compiled-targets NAMESPACE cairn:: DESTINATION "${cairn_package_dir}")
  install(FILES "${PROJECT_BINARY_DIR}/cairn-compiled.pc" DESTINATION "${cairn_pc_dir}")
endif()

set(prefix "@prefix@")  # is not to be replaced
configure_file(.cmake/cairn.cps.in cairn.cps @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cairn.cps" DESTINATION "${cairn_cps_dir}")
