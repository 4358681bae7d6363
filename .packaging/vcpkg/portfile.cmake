# SPDX-License-Identifier: MIT
# A port for vcpkg, for a registry or --overlay-ports. The source is the tree around it; a registry replaces the next line by vcpkg_from_github.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
                     FEATURES compiled CAIRN_COMPILED
                     INVERTED_FEATURES fits CMAKE_DISABLE_FIND_PACKAGE_Eigen3)
if("compiled" IN_LIST FEATURES)
  vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
  set(package_root lib)
else()
  set(VCPKG_BUILD_TYPE release)  # headers alone
  set(package_root share)
endif()
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DCAIRN_BUILD_TESTS=OFF -DCAIRN_BUILD_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH ${package_root}/cmake/cairn)
if(NOT "compiled" IN_LIST FEATURES)  # vcpkg has files with -pthread in lib/ only
  file(COPY "${CURRENT_PACKAGES_DIR}/share/pkgconfig" DESTINATION "${CURRENT_PACKAGES_DIR}/lib")
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/licenses"
                    "${CURRENT_PACKAGES_DIR}/share/cmake" "${CURRENT_PACKAGES_DIR}/share/pkgconfig")
vcpkg_fixup_pkgconfig()
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
