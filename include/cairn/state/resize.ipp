// SPDX-License-Identifier: MIT
// Definitions of resize.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/resize.hpp"

namespace cairn::inline v0_1::detail {

CAIRN_INLINE void check_iterated(std::uint64_t iterated, std::uint64_t size) {
  if (iterated != size)
    fail(errc::invalid, {"goes over ", iterated, " of its ", size,
                         " elements, so the others would be lost; specialise cairn::adapter for its type"});
}

}  // namespace cairn::inline v0_1::detail
