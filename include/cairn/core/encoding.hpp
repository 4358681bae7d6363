// How a leaf, or a slice of one, is stored when it is not stored as it is.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "cairn/core/dtype.hpp"
#include "cairn/core/leaf.hpp"

namespace cairn {

/// What a lossy codec lost: the decoded elements against the real ones.
struct loss {
  double max_error = 0;    ///< largest |decoded - real|, over the elements that are finite
  double relative_l2 = 0;  ///< |decoded - real| / |real| in the L2 norm; infinite where real is 0 and decoded is not

  friend bool operator==(const loss&, const loss&) = default;
};

/// The greater of both, of each.
[[nodiscard]] inline loss worse(const loss& a, const loss& b) noexcept {
  return {std::max(a.max_error, b.max_error), std::max(a.relative_l2, b.relative_l2)};
}

/// What a file says of an encoded tensor, which is stored as U8.
struct encoding {
  std::string codec;           ///< by name: "lossless", "lc2", a user's own
  dtype type{};                ///< of the elements
  extents shape;               ///< of the elements
  bool relative = false;       ///< decoding starts from the elements of the parent checkpoint
  std::optional<loss> lost{};  ///< of a lossy codec

  friend bool operator==(const encoding&, const encoding&) = default;
};

}  // namespace cairn
