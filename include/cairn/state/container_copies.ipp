// Definitions of container_copies.hpp.
#pragma once

#include "cairn/core/error.hpp"
#include "cairn/state/container_copies.hpp"

namespace cairn::detail {

CAIRN_INLINE void check_distinct(std::size_t size, std::size_t stored) {
  if (size != stored) fail(errc::corrupt, {"a set or a map with the same key twice"});
}

CAIRN_INLINE void check_columns(std::size_t keys, std::size_t values) {
  if (keys != values) fail(errc::corrupt, {"a map with a different number of keys and values"});
}

}  // namespace cairn::detail
