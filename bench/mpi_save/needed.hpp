// SPDX-License-Identifier: MIT
// The bytes of a checkpoint that a rank needs for its boxes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "cairn/core/box.hpp"
#include "cairn/store/base.hpp"

namespace bench {

struct needed_bytes {
  std::uint64_t elements = 0;  ///< of the boxes
  std::uint64_t blocks = 0;    ///< of the blocks of checksums that have any of them, or any of its coded blocks
};

/// `box_of` gives the box of a leaf that a rank loads; none: all of it.
[[nodiscard]] needed_bytes count_needed(
    const cairn::any_store& store, std::string_view name,
    const std::function<std::optional<cairn::detail::box>(std::string_view path)>& box_of);

}  // namespace bench
