// SPDX-License-Identifier: MIT
// A codec that stores elements as they are, and where there is a parent as a delta: tests derive theirs from it.
#pragma once

#include "cairn/encode/base.hpp"
#include "standard.hpp"

namespace tests {

struct copying_codec {
  [[nodiscard]] std::string name() const { return "copying"; }
  [[nodiscard]] bool uses_parent() const { return true; }
  [[nodiscard]] std::size_t bound(cairn::dtype /*type*/, std::size_t bytes) const { return bytes; }
  [[nodiscard]] cairn::encode_result encode(const cairn::encode_request& in, std::span<std::byte> out) const {
    std::copy(in.values.begin(), in.values.end(), out.begin());
    return {.codec = name(), .bytes = in.values.size(), .relative = !in.reference.empty()};
  }
  void decode(const cairn::decode_request& from) const {
    std::copy(from.payload.begin(), from.payload.end(), from.values.begin());
  }
};

/// Merges deltas of it, of which the last one has the elements.
[[nodiscard]] inline std::vector<std::byte> last_of(const cairn::merge_request& in) {
  const auto& last = in.deltas.back().payload;
  return {last.begin(), last.end()};
}

}  // namespace tests
