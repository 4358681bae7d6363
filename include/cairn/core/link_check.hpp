// SPDX-License-Identifier: MIT
// A program without the implementation of Cairn, or with that of another version, has a link error that says what to do.
#pragma once

#include "cairn/version.hpp"

#define CAIRN_LINK_CHECK_NAME(major, minor, patch) \
  cairn_##major##_##minor##_##patch##_is_missing_link_it_or_include_cairn_implementation_hpp_in_one_cpp_file
#define CAIRN_LINK_CHECK_OF(major, minor, patch) CAIRN_LINK_CHECK_NAME(major, minor, patch)
#define CAIRN_LINK_CHECK CAIRN_LINK_CHECK_OF(CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR, CAIRN_VERSION_PATCH)

/// Defined in definitions/state.cpp: in the library, or by implementation.hpp.
extern "C" void CAIRN_LINK_CHECK() noexcept;

namespace {
[[gnu::used]] void (*const cairn_link_check)() noexcept = &CAIRN_LINK_CHECK;
}
