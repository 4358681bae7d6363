# Installs the headers, the CMake package and the pkg-config file; all of them work from wherever the prefix is moved.
include(CMakePackageConfigHelpers)
set(cairn_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/cairn")
set(cairn_pc_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
file(RELATIVE_PATH cairn_pc_to_prefix "/prefix/${cairn_pc_dir}" "/prefix")

configure_package_config_file(.cmake/cairn-config.cmake.in cairn-config.cmake INSTALL_DESTINATION "${cairn_package_dir}")
write_basic_package_version_file(cairn-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(.cmake/cairn.pc.in cairn.pc @ONLY)

install(TARGETS cairn cairn_compiled EXPORT cairn-targets)
install(EXPORT cairn-targets NAMESPACE cairn:: DESTINATION "${cairn_package_dir}")
install(DIRECTORY include/cairn DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES "${PROJECT_BINARY_DIR}/cairn-config.cmake" "${PROJECT_BINARY_DIR}/cairn-config-version.cmake"
              .cmake/dependencies.cmake .cmake/FindRapidJSON.cmake .cmake/FindxxHash.cmake
        DESTINATION "${cairn_package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/cairn.pc" DESTINATION "${cairn_pc_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/cairn")
