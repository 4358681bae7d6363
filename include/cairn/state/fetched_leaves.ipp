// SPDX-License-Identifier: MIT
// Definitions of fetched_leaves.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "cairn/core/convert.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/reshape.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/fetched_leaves.hpp"

namespace cairn::inline v0_1::detail {

void fetch_leaf(fetched_leaves& by, const catalog& from, std::size_t index, const memory_view& to) {
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
