// Definitions of copies.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/copies.hpp"

namespace cairn::detail {

CAIRN_INLINE void check_date(bool same) {
  if (!same) fail(errc::corrupt, {"a date with a number that no year, month or day can have"});
}

CAIRN_INLINE void check_bits(std::size_t size, std::size_t stored) {
  if (size != stored) fail(errc::mismatch, {"a bitset of ", size, " bits cannot take ", stored});
}

}  // namespace cairn::detail
