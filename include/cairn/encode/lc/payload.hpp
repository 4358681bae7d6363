// SPDX-License-Identifier: MIT
// The layout of a quantized payload: a version, and steps, each of which is decoded onto the result of the one before.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cairn/core/float_bits.hpp"
#include "cairn/encode/code_tables.hpp"
#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/lc/options.hpp"
#include "cairn/encode/simd/lc_kernels.hpp"

namespace cairn::inline v0_1::detail::lc {

inline constexpr std::byte payload_version{1};

/// Takes values from the front of untrusted bytes. Beyond their end, values are 0 and `good` is false.
class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] std::span<const std::byte> take(std::uint64_t bytes) noexcept {
    good_ = good_ && bytes <= rest_.size();
    const auto taken = rest_.first(good_ ? static_cast<std::size_t>(bytes) : 0);
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  template <class Value>
  [[nodiscard]] Value take_value() noexcept {
    Value value{};
    if (const auto from = take(sizeof value); good_) std::memcpy(&value, from.data(), sizeof value);
    return value;
  }

  /// LEB128: seven bits per byte, the lowest first; the highest bit says that another byte follows.
  [[nodiscard]] std::uint64_t take_number() noexcept {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      const auto byte = take_value<std::uint8_t>();
      number |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return number;
    }
    good_ = false;
    return 0;
  }

  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  std::span<const std::byte> rest_;
  bool good_ = true;
};

/// The largest size of a number.
inline constexpr std::size_t number_bound = 10;

/// Writes a number for `byte_reader::take_number`, and returns its end.
[[nodiscard]] inline std::byte* put_number(std::byte* at, std::uint64_t number) noexcept {
  for (; number >= 128; number >>= 7) *at++ = static_cast<std::byte>(number & 127U) | std::byte{128};
  *at++ = static_cast<std::byte>(number);
  return at;
}

/// Appends values to bytes.
class byte_writer {
 public:
  void put(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  template <class Value>
  void put_value(const Value& value) {
    put(std::as_bytes(std::span(&value, 1)));
  }

  void put_number(std::uint64_t number) {
    std::array<std::byte, number_bound> bytes;
    const std::byte* const end = lc::put_number(bytes.data(), number);
    put({bytes.data(), end});
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// The Huffman code of all blocks of a step.
struct step_code {
  enum class kind : std::uint8_t { none, within, by_id };
  kind stored = kind::none;
  code_lengths lengths{};  ///< of `within`
  std::uint64_t id = 0;    ///< of `by_id`
};

/// The header of a step:
///   u8 bits: 2 or 3
///   u8 flags: 2 has a code within, 4 names a code by id, 8 has ratios
///   u8 number of values; the values, f32 each
///   the code: its lengths (see huffman::write_code_lengths), or u64 id
/// The blocks follow (see blocks.hpp).
struct step_header {
  unsigned bits = 2;
  delta_kind delta = delta_kind::difference;
  std::size_t symbols = 0;  ///< values that are stored; the others are 0
  simd::symbol_table table;
  step_code code;
};

/// The largest size of a payload of one step without its blocks.
inline constexpr std::size_t headers_bound = 32 + 3 + 28 + huffman::code_lengths_bound;

inline void put_step_header(byte_writer& out, const step_header& step) {
  out.put_value(static_cast<std::uint8_t>(step.bits));
  out.put_value(static_cast<std::uint8_t>(static_cast<unsigned>(step.code.stored) << 1 |
                                          (step.delta == delta_kind::ratio ? 8U : 0U)));
  out.put_value(static_cast<std::uint8_t>(step.symbols));
  for (std::size_t s = 1; s <= step.symbols; ++s) out.put_value(step.table.values[s]);
  if (step.code.stored == step_code::kind::by_id) out.put_value(step.code.id);
  if (step.code.stored == step_code::kind::within) {
    std::array<std::byte, huffman::code_lengths_bound> text;
    out.put(std::span(text).first(huffman::write_code_lengths(step.code.lengths, text)));
  }
}

/// The header at the front of `in`; nothing when it is malformed.
[[nodiscard]] inline std::optional<step_header> take_step_header(byte_reader& in) {
  step_header step;
  step.bits = in.take_value<std::uint8_t>();
  const unsigned flags = in.take_value<std::uint8_t>(), code = flags & 7U;
  if ((flags & 8U) != 0) step.delta = delta_kind::ratio;
  step.symbols = in.take_value<std::uint8_t>();
  if (!in.good() || (step.bits != 2 && step.bits != 3) || flags > 15 || code % 2 != 0 || code > 4 ||
      step.symbols >= 1U << step.bits)
    return {};
  for (std::size_t s = 1; s <= step.symbols; ++s) {
    const float value = step.table.values[s] = in.take_value<float>();
    if (step.delta == delta_kind::ratio && (!(std::abs(value) < 0x1p31F) || value != std::trunc(value))) return {};
  }
  step.code.stored = static_cast<step_code::kind>(code >> 1);
  if (step.code.stored == step_code::kind::by_id) step.code.id = in.take_value<std::uint64_t>();
  if (step.code.stored == step_code::kind::within)
    if (!in.take(huffman::read_code_lengths(in.rest(), step.code.lengths)).size()) return {};
  if (!in.good()) return {};
  return step;
}

/// A payload: u8 version, the number of steps, the steps. The size of a step precedes it, except for the last step.
inline void put_payload_header(byte_writer& out, std::uint64_t steps) {
  out.put_value(payload_version);
  out.put_number(steps);
}

/// Calls `visit(bytes)` for every step of a payload, in order. Calls `need(bytes)` before it looks at bytes between the
/// steps. False when the payload is malformed or of another version; some steps may have been visited then.
template <class Need, class Visit>
[[nodiscard]] bool for_each_step(std::span<const std::byte> payload, const Need& need, const Visit& visit) {
  byte_reader in(payload);
  const auto need_number = [&](std::size_t before) {
    need(in.rest().first(std::min(in.rest().size(), before + number_bound)));
  };
  need_number(sizeof payload_version);
  if (in.take_value<std::byte>() != payload_version) return false;
  const auto steps = in.take_number();
  if (!in.good() || steps == 0) return false;
  for (std::uint64_t i = 1; i < steps; ++i) {
    need_number(0);
    const auto step = in.take(in.take_number());
    if (!in.good()) return false;
    visit(step);
  }
  visit(in.rest());
  return true;
}

}  // namespace cairn::inline v0_1::detail::lc
