// SPDX-License-Identifier: MIT
// The lossy delta codec: the change of each element since the parent checkpoint as a symbol of two or three bits,
// Huffman-coded. A program that writes or loads such checkpoints includes this header.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cairn/core/dtype.hpp"
#include "cairn/encode/base.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/lc/codec.hpp"
#include "cairn/encode/lc/options.hpp"

namespace cairn::inline v0_1 {

namespace codecs {

/// Quantizes the delta to the parent checkpoint into buckets of equal (sign, exponent). The 2^Bits - 1 buckets of
/// highest priority get a symbol; all other elements get symbol 0 and do not change. Symbols are packed into bytes,
/// which are Huffman-coded. The delta is the difference from what a reader restores from the parent, so the error of
/// one checkpoint is part of the next delta, and errors do not accumulate.
///
/// For F32, BF16 and F16 leaves that have a parent; others and small ones are encoded by codecs::lossless, as
/// `encode_result::codec` says. A leaf that exceeds a bound is quantized again with promotion::energy; lc<2> then tries
/// both with three bits. If the leaf still exceeds the bound, it is encoded by codecs::lossless. Elements that become
/// or cease to be infinite or NaN are stored exactly, and so are those whose error is larger than `max_error` or that,
/// with delta_kind::ratio, would be below half or above twice the real element. A leaf with too many of them, more than
/// one in 64 of a block of 2^20 elements, counts as beyond its bound. Errors: errc::invalid for a bound that is
/// negative or NaN. Complexity: at least two passes over values and reference for each try; a promotion by energy makes
/// the first one slower. Source: Chen, Liu, Ren, Jin, "On Efficient Constructions of Checkpoints", ICML 2020; see
/// lc/options.hpp for what is not from there.
template <int Bits>
struct lc {
  static_assert(Bits == 2 || Bits == 3, "lc has symbols of 2 or 3 bits");

  /// Which buckets get a symbol.
  promotion priority = promotion::magnitude;
  /// What is quantized: differences, or ratios, for elements that are not negative, such as second moments.
  delta_kind delta = delta_kind::difference;
  /// No element is farther than this from the real one.
  std::optional<double> max_error{};
  /// The L2 norm of the error of a leaf is at most this part of that of the change since the parent; at 1 the delta is
  /// no better than the parent.
  std::optional<double> max_delta_l2{};

  [[nodiscard]] std::string name() const { return Bits == 2 ? "lc2" : "lc3"; }
  [[nodiscard]] bool uses_parent() const { return true; }
  [[nodiscard]] static constexpr bool decodes_ranges() noexcept { return true; }
  [[nodiscard]] std::size_t bound(dtype type, std::size_t bytes) const { return detail::lc::bound(type, bytes); }

  [[nodiscard]] encode_result encode(const encode_request& in, std::span<std::byte> out) const {
    return detail::lc::encode(options(), Bits, name(), in, out);
  }

  /// Decodes any payload of lc<2> or lc<3>, merged ones too.
  void decode(const decode_request& from) const { detail::lc::decode(from); }

  /// Float addition is not associative, so the sum of deltas is not their effect: the merged payload has the steps of
  /// all. Nothing where that would not be smaller than the elements.
  [[nodiscard]] std::optional<std::vector<std::byte>> merge(const merge_request& in) const {
    return detail::lc::merge(in);
  }

 private:
  [[nodiscard]] detail::lc::options options() const { return {priority, delta, max_error, max_delta_l2}; }
};

}  // namespace codecs

namespace detail {

inline const known_codec lc2_is_known{"lc2", [] { return any_codec(codecs::lc<2>{}); }};
inline const known_codec lc3_is_known{"lc3", [] { return any_codec(codecs::lc<3>{}); }};

}  // namespace detail
}  // namespace cairn::inline v0_1
