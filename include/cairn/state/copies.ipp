// SPDX-License-Identifier: MIT
// Definitions of copies.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/copies.hpp"

namespace cairn::inline v0_1::detail {

void check_date(bool same) {
  if (!same)
    fail(errc::mismatch,
         {"has a number in the checkpoint that no year, month or day can have; convert it in cairn_migrate, or "
          "leave it out with filter"});
}

void check_bits(std::size_t size, std::size_t stored) {
  if (size != stored)
    fail(errc::mismatch, {"has ", stored, " bits in the checkpoint and ", size,
                          " in the state; make it a bitset of that size, or leave it out with filter"});
}

}  // namespace cairn::inline v0_1::detail
