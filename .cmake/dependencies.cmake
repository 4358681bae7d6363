# SPDX-License-Identifier: MIT
# What programs with Cairn need, and what else its definitions need, each with its targets. Each entry is the argument
# list of one find_package. The installed cairn-config.cmake reads the first list, too.
set(cairn_dependencies "Boost 1.75" "Threads")
set(cairn_targets Boost::headers Threads::Threads)
set(cairn_build_dependencies "range-v3" "hwy 1.0 MODULE" "RapidJSON MODULE" "xxHash MODULE")
set(cairn_build_targets range-v3::range-v3 hwy::hwy RapidJSON::RapidJSON xxHash::xxhash)

# Distributions ship xxHash without a CMake package and RapidJSON without a target, and Conan names Highway otherwise; the modules beside this file add
# the targets.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
