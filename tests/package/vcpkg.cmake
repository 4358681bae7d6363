# SPDX-License-Identifier: MIT
# Runs the port for vcpkg without vcpkg: each function of vcpkg that the portfile calls does here what it is documented to
# do, for a release build. The library is not compiled for it: it is that of a build that is there. Then builds and runs
# the consumer with the package. Usage: cmake -DSOURCE=<source tree> -DBUILD=<its build> -DSCRATCH=<new folder>
#                                             -DGENERATOR=<CMake generator> -DCOMPILER=<C++ compiler> -P vcpkg.cmake
cmake_minimum_required(VERSION 3.21)
set(PORT cairn)
set(CURRENT_PACKAGES_DIR "${SCRATCH}/packages")
file(REMOVE_RECURSE "${SCRATCH}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()
function(vcpkg_cmake_configure)
endfunction()
function(vcpkg_cmake_install)
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${CURRENT_PACKAGES_DIR}")
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" CONFIG_PATH "" ${ARGN})
  file(GLOB files "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/*")
  if(NOT files)
    message(FATAL_ERROR "there is no CMake package in ${arg_CONFIG_PATH}")
  endif()
  file(COPY ${files} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake")
  # The package finds its prefix from where it lies: one folder less.
  file(GLOB files "${CURRENT_PACKAGES_DIR}/share/${PORT}/*onfig.cmake"
       "${CURRENT_PACKAGES_DIR}/share/${PORT}/*targets.cmake")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "/../../../\"" "/../../\"" text "${text}")
    string(REPLACE [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)]] [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)]] text "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" FILE_LIST ${ARGN})
  file(COPY_FILE "${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright")
endfunction()

set(CMAKE_CURRENT_LIST_DIR "${SOURCE}/.packaging/vcpkg")
include("${SOURCE}/.packaging/vcpkg/portfile.cmake")
# What vcpkg checks after each build of a port.
foreach(file IN ITEMS share/cairn/copyright share/cairn/usage share/cairn/cairn-config.cmake lib/pkgconfig/cairn.pc include/cairn/cairn.hpp)
  if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${file}")
    message(FATAL_ERROR "the package lacks ${file}")
  endif()
endforeach()
foreach(folder IN ITEMS debug/include debug/share share/cmake lib/cmake share/licenses share/pkgconfig)
  if(EXISTS "${CURRENT_PACKAGES_DIR}/${folder}")
    message(FATAL_ERROR "the package has ${folder}")
  endif()
endforeach()

run("${CMAKE_COMMAND}" -S "${SOURCE}/tests/package/find_package" -B "${SCRATCH}/consumer" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-Dcairn_DIR=${CURRENT_PACKAGES_DIR}/share/cairn")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/consumer" --target consumer)
run("${SCRATCH}/consumer/consumer" "${SCRATCH}/checkpoint")
