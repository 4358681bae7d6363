# SPDX-License-Identifier: MIT
# Finds RapidJSON and defines RapidJSON::RapidJSON, which the package of version 1.1 does not.
find_package(RapidJSON CONFIG QUIET)
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/reader.h HINTS ${RAPIDJSON_INCLUDE_DIRS} ${RapidJSON_INCLUDE_DIRS})
mark_as_advanced(RAPIDJSON_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RapidJSON REQUIRED_VARS RAPIDJSON_INCLUDE_DIR)
if(RapidJSON_FOUND AND NOT TARGET RapidJSON::RapidJSON)
  add_library(RapidJSON::RapidJSON INTERFACE IMPORTED)
  target_include_directories(RapidJSON::RapidJSON INTERFACE "${RAPIDJSON_INCLUDE_DIR}")
endif()
