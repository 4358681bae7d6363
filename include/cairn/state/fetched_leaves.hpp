// SPDX-License-Identifier: MIT
// Reads one stored leaf into memory of any dtype and layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/state/convert.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/state/reshape.hpp"
#include "cairn/core/strided.hpp"

namespace cairn::inline v0_1::detail {

/// Reads a catalog's leaves, and keeps their bytes, at most `most_bytes` in all. What does not fit is read each time.
class fetched_leaves {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20U;

  explicit fetched_leaves(std::uint64_t most = most_bytes) : room_(most) {}

  [[nodiscard]] bool has(std::size_t index) const { return kept_.contains(index); }

  /// As catalog::fetch.
  void fetch(const catalog& from, std::size_t index, std::span<std::byte> out) {
    const auto at = kept_.find(index);
    if (at != kept_.end()) {
      std::copy(at->second.begin(), at->second.end(), out.begin());
      return;
    }
    from.fetch(index, out);
    if (out.size() > room_) return;
    kept_.emplace(index, std::vector<std::byte>(out.begin(), out.end()));
    room_ -= out.size();
  }

 private:
  std::map<std::size_t, std::vector<std::byte>> kept_;
  std::uint64_t room_;
};

/// Fetches leaf `index` by `by` into `to`, which has as many elements; or fewer in some of as many dimensions: these
/// get the first ones. Converts and scatters as needed. errc::mismatch: a value does not fit the dtype of `to`.
inline void fetch_leaf(fetched_leaves& by, const catalog& from, std::size_t index, const memory_view& to) {
  const stored_leaf& stored = from.leaves[index];
  const bool crops = element_count(stored.shape) != to.count();
  if (stored.type == to.type && to.contiguous() && !crops) return by.fetch(from, index, {to.memory, to.bytes()});
  std::vector<std::byte> bytes(stored.bytes());
  by.fetch(from, index, bytes);
  if (stored.type != to.type) {
    std::vector<std::byte> converted(element_count(stored.shape) * size_of(to.type));
    if (!convert(stored.type, bytes, to.type, converted))
      fail(errc::mismatch, {stored.path, " in ", from.origin, " has values that do not fit into ", name(to.type),
                            "; give it a wider type, or leave it out with filter"});
    bytes.swap(converted);
  }
  if (crops) {
    std::vector<std::byte> cropped(to.bytes());
    gather(overlap_of({to.type, stored.shape, bytes.data(), {}}, to.shape), 0, cropped);
    bytes.swap(cropped);
  }
  scatter(to, 0, bytes);
}

}  // namespace cairn::inline v0_1::detail
