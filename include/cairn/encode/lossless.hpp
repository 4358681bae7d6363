// Elements of any type -> byte planes, those coded that are worth it -> the same elements, bit for bit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/config.hpp"
#include "cairn/core/dtype.hpp"
#include "cairn/encode/base.hpp"

namespace cairn::codecs {

/// Lossless for any bits. Takes out zero elements where there are many. Of the rest, bytes of equal significance are coded
/// together: coding pays for the exponent of floating-point numbers, and rarely for their lower bytes. Leaves that get less than
/// 3 % smaller are stored as they are. Models `in_place_codec` and `mergeable_codec`.
struct lossless {
  /// Code the XOR with the parent checkpoint, where that is smaller: for leaves that change little between checkpoints. Costs as
  /// much memory as the leaves have.
  bool xor_parent = false;

  [[nodiscard]] std::string name() const { return "lossless"; }
  [[nodiscard]] bool uses_parent() const noexcept { return xor_parent; }
  /// Values in the last bytes of `out` may be encoded over themselves.
  [[nodiscard]] static constexpr bool encodes_in_place() noexcept { return true; }
  [[nodiscard]] CAIRN_INLINE std::size_t bound(dtype type, std::size_t bytes) const noexcept;
  /// Allocates a few bytes per element of a block of 2^17 elements, for each thread. Does not change `reference`.
  [[nodiscard]] CAIRN_INLINE encode_result encode(const encode_request& in, std::span<std::byte> out) const;
  /// Decodes the payload of any `lossless`.
  CAIRN_INLINE void decode(const decode_request& from) const;
  /// The XOR of all deltas, encoded as one. Allocates twice the bytes of the elements.
  [[nodiscard]] CAIRN_INLINE std::optional<std::vector<std::byte>> merge(const merge_request& in) const;
};

}  // namespace cairn::codecs

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/encode/lossless.ipp"  // IWYU pragma: keep
#endif
