// SPDX-License-Identifier: MIT
// The lossless codec: splits elements of any type into byte planes, and Huffman-codes the planes that become smaller.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/core/error.hpp"  // IWYU pragma: export: what it throws
#include "cairn/encode/base.hpp"

namespace cairn::inline v0_1::codecs {

/// Restores all bits. Takes out zero elements where there are many. Of the other elements, bytes of equal significance
/// form a plane: coding pays for the plane of the exponents of floating-point numbers, and rarely for the lower ones. A
/// piece that becomes less than 3 % smaller is stored as it is. Of a piece of more than 2^17 elements, a sample says so
/// before it is encoded; where the sample is wrong, the payload may be larger than the elements, by at most 0.2 %.
/// Models `in_place_codec`, `live_codec`, `ranged_codec` and `mergeable_codec`.
struct lossless {
  /// Code the XOR with the parent checkpoint, where that is smaller: for leaves that change little between checkpoints.
  /// Costs as much memory as the leaves have.
  bool xor_parent = false;

  [[nodiscard]] std::string name() const { return "lossless"; }
  [[nodiscard]] bool uses_parent() const noexcept { return xor_parent; }
  [[nodiscard]] static constexpr bool encodes_in_place() noexcept { return true; }
  /// Each element is read once for its planes. An element that was zero when zeros were marked is zero in the payload.
  [[nodiscard]] static constexpr bool encodes_live() noexcept { return true; }
  [[nodiscard]] static constexpr bool decodes_ranges() noexcept { return true; }
  [[nodiscard]] std::size_t bound(dtype type, std::size_t bytes) const noexcept;
  /// Allocates a few bytes per element of a block of 2^17 elements, for each thread. Does not change `reference`.
  [[nodiscard]] encode_result encode(const encode_request& in, std::span<std::byte> out) const;
  /// Decodes the payload of any `lossless`.
  void decode(const decode_request& from) const;
  /// The XOR of all deltas, encoded as one. Allocates twice the bytes of the elements.
  [[nodiscard]] std::optional<std::vector<std::byte>> merge(const merge_request& in) const;
};

}  // namespace cairn::inline v0_1::codecs
