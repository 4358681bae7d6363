// SPDX-License-Identifier: MIT
// How much memory the encoding of a save takes, and what part of the save fits into what is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "cairn/chain/encoded_piece.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// The bytes before the copy of a piece that its codec needs to encode it in place; 0 where it cannot.
[[nodiscard]] inline std::size_t room_to_encode(const leaf& whole, std::size_t bytes,
                                                std::span<const codec_rule> rules) {
  if (whole.bytes() < least_encoded_bytes) return 0;
  const auto& codec = codec_for(whole.path, rules);
  if (codec.uses_parent() || !codec.encodes_in_place()) return 0;
  return codec.bound(whole.type, bytes) - bytes;
}

/// Memory that a save takes beside its copy.
struct encode_memory {
  std::uint64_t encoded = 0;     ///< for encoded pieces, at most
  std::uint64_t references = 0;  ///< for the values that the next delta refers to
};

/// `is_copied`: the pieces are copied, so that a codec may encode them in place.
[[nodiscard]] inline encode_memory memory_to_encode(std::span<const leaf> leaves, std::span<const codec_rule> rules,
                                                    bool is_copied) {
  const leaf_codecs codecs(leaves, rules);
  encode_memory all;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!codecs.is_encoded(i)) continue;
    if (codecs[i].uses_parent()) all.references += leaves[i].bytes();
    if (!is_copied || codecs[i].uses_parent() || !codecs[i].encodes_in_place())
      all.encoded += codecs[i].bound(leaves[i].type, leaves[i].bytes());
  }
  return all;
}

/// Which part of a save fits into the memory that is left, and why not all of it.
struct memory_fit {
  double part = 1;
  std::string reason{};
};

/// What part of `divisible` bytes fits into the memory that is left beside `fixed` bytes; nothing if all fits. A save
/// may take 7/8 of what is left; a part, half of what `fixed` leaves. `there`: bytes that are allocated already. Less
/// than 1 MiB is not looked at. errc::no_memory if not even a part of 1 MiB fits.
[[nodiscard]] inline std::optional<memory_fit> fit_memory(std::uint64_t divisible, std::uint64_t fixed,
                                                          std::uint64_t there) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  if (divisible - there + fixed < mebibyte) return std::nullopt;
  auto left = memory_left_now();
  left.bytes += std::min(there, std::numeric_limits<std::uint64_t>::max() - left.bytes);
  const auto size = static_cast<double>(divisible), beside = static_cast<double>(fixed);
  const auto have = static_cast<double>(left.bytes);
  if (size + beside <= have / 8 * 7) return std::nullopt;
  const auto why =
      sentence({"the save needs ", divisible + fixed, " bytes of memory, and ", left.of, " leaves ", left.bytes});
  const auto part = (have - beside) / 2;
  if (part < mebibyte) fail(errc::no_memory, {why, "; give the job more memory"});
  return memory_fit{part / size, why};
}

/// Into how many parts a save is cut of which `fit.part` fits at a time.
[[nodiscard]] inline std::size_t number_of_parts(const memory_fit& fit) noexcept {
  return static_cast<std::size_t>(1 / fit.part) + 1;
}

}  // namespace cairn::inline v0_1::detail
