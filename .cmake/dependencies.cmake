# SPDX-License-Identifier: MIT
# The dependencies of cairn::cairn. The build reads this list, and so does the installed cairn-config.cmake.
# Each entry is the argument list of one find_package.
set(cairn_dependencies "range-v3" "Boost 1.75" "hwy 1.0 MODULE" "RapidJSON MODULE" "xxHash MODULE" "Threads")
set(cairn_targets range-v3::range-v3 Boost::headers hwy::hwy RapidJSON::RapidJSON xxHash::xxhash Threads::Threads)

# Distributions ship xxHash without a CMake package and RapidJSON without a target, and Conan names Highway otherwise; the modules beside this file add
# the targets.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
