# SPDX-License-Identifier: MIT
# Finds Highway and defines hwy::hwy. Highway's own package has the name hwy, that of Conan the name highway. The latter comes first: it is there only if
# Conan has provided it, while hwy may be another one, of the system.
find_package(highway ${hwy_FIND_VERSION} CONFIG QUIET)
if(TARGET highway::highway AND NOT TARGET hwy::hwy)
  add_library(hwy::hwy INTERFACE IMPORTED)
  target_link_libraries(hwy::hwy INTERFACE highway::highway)
endif()
if(NOT TARGET hwy::hwy)
  find_package(hwy ${hwy_FIND_VERSION} CONFIG QUIET)
endif()
if(TARGET hwy::hwy)
  set(HWY_TARGET hwy::hwy)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwy REQUIRED_VARS HWY_TARGET)
