// SPDX-License-Identifier: MIT
// A checksum of a whole state, by which a save knows that the state is the one that is published already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/core/checksum.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/base.hpp"
#include "cairn/store/structure.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// XXH3-64 of paths, dtypes, shapes, structure and all elements. How the leaves are cut into pieces does not matter.
class state_sum {
 public:
  state_sum() = default;
  explicit state_sum(const description& what) {
    for (const auto& each : what.leaves) {
      add(each.path);
      add(std::string_view(name(each.type)));
      add(to_string(each.shape));
    }
    add(write_structure(what.structure));
  }

  /// Adds the elements of pieces, which must come in the order of the leaves.
  void add(std::span<const leaf> leaves, std::span<const std::vector<staged_piece>> shards) {
    for (const auto& shard : shards)
      for (const auto& each : shard) add(leaves[each.leaf], each);
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return sum_.value(); }

 private:
  void add(std::string_view text) {
    add_bytes(std::as_bytes(std::span(text)));
    const char end = '\0';
    add_bytes(std::as_bytes(std::span(&end, 1)));
  }
  void add(const leaf& whole, const staged_piece& each) {
    const std::uint64_t width = size_of(whole.type);
    if (each.copy != nullptr) return add_bytes({each.copy, each.count * width});
    if (whole.contiguous()) return add_bytes({whole.memory + each.first * width, each.count * width});
    const std::uint64_t most = packed_bytes / width;
    for (std::uint64_t done = 0; done < each.count; done += most) {
      const auto some = packed_.first(std::min(most, each.count - done) * width);
      gather(whole, each.first + done, some);
      add_bytes(some);
    }
  }
  void add_bytes(std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) sum_.add(bytes);
  }

  static constexpr std::uint64_t packed_bytes = std::uint64_t{64} << 10U;

  running_checksum sum_;
  page_buffer packed_;
};

/// The sum of a state in its own memory.
[[nodiscard]] inline std::uint64_t sum_of(const description& what) {
  state_sum sum(what);
  sum.add(what.leaves, from_leaves<staged_piece>(divide_evenly(what.leaves, 1)));
  return sum.value();
}

}  // namespace cairn::inline v0_1::detail
