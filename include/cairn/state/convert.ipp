// SPDX-License-Identifier: MIT
// Definitions of state/convert.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

#include "cairn/core/box.hpp"
#include "cairn/core/float_bits.hpp"
#include "cairn/core/float_environment.hpp"
#include "cairn/core/float_types.hpp"
#include "cairn/state/convert.hpp"

namespace cairn::inline v0_1::detail {

/// Calls `action` with a value of the C++ type that stores `type`.
template <class Action>
constexpr decltype(auto) with_storage(dtype type, const Action& action) {
  switch (type) {
    case dtype::boolean:
    case dtype::u8:
      return action(std::uint8_t{});
    case dtype::i8:
      return action(std::int8_t{});
    case dtype::f8_e4m3:
      return action(float8_e4m3{});
    case dtype::f8_e5m2:
      return action(float8_e5m2{});
    case dtype::u16:
      return action(std::uint16_t{});
    case dtype::i16:
      return action(std::int16_t{});
    case dtype::f16:
      return action(float16{});
    case dtype::bf16:
      return action(bfloat16{});
    case dtype::u32:
      return action(std::uint32_t{});
    case dtype::i32:
      return action(std::int32_t{});
    case dtype::f32:
      return action(float{});
    case dtype::u64:
      return action(std::uint64_t{});
    case dtype::i64:
      return action(std::int64_t{});
    case dtype::f64:
      break;
  }
  return action(double{});
}

/// double -> float so that a second rounding, to a type of at most 11 digits, gives what one rounding would.
[[nodiscard]] inline float round_to_odd(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || is_nan(value) || is_infinite(nearest)) return nearest;
  const float toward_zero =
      std::abs(static_cast<double>(nearest)) > std::abs(value) ? std::nextafter(nearest, 0.0F) : nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(toward_zero) | 1U);
}

/// The same from an integer to one that a double has.
template <class Integer>
[[nodiscard]] constexpr Integer round_to_odd_integer(Integer value) noexcept {
  constexpr Integer most = Integer{1} << 53U, lost = (Integer{1} << 11U) - 1;
  const bool is_small = value <= most && (std::is_unsigned_v<Integer> || value >= -most);
  return is_small || (value & lost) == 0 ? value : (value & ~lost) | (lost + 1);
}

struct wide_integer {
  std::uint64_t bits;  // two's complement where negative
  bool negative;
};

// Conversion goes through a short buffer of doubles or wide integers: n dtypes take 2n loops instead of n x n.

/// `to`: what the result is narrowed to.
template <class Wide>
void widen(dtype from, const std::byte* in, dtype to, std::span<Wide> out) noexcept {
  with_storage(from, [&]<class Stored>(Stored stored) {
    for (Wide& wide : out) {
      std::memcpy(&stored, in, sizeof stored);
      in += sizeof stored;
      if constexpr (!std::is_arithmetic_v<Stored>) {
        if constexpr (std::is_same_v<Wide, double>) wide = static_cast<double>(static_cast<float>(stored));
      } else if constexpr (std::is_same_v<Wide, double>) {
        if constexpr (std::is_integral_v<Stored> && sizeof stored == 8)
          if (to != dtype::f64) stored = round_to_odd_integer(stored);
        wide = static_cast<double>(stored);
      } else if constexpr (std::is_integral_v<Stored>) {
        wide = {static_cast<std::uint64_t>(stored), stored < Stored{}};
      }
    }
  });
}

template <class Wide>
[[nodiscard]] bool narrow(std::span<const Wide> in, dtype to, std::byte* out) noexcept {
  return with_storage(to, [&]<class Stored>(Stored stored) {
    for (const Wide& wide : in) {
      if constexpr (std::is_same_v<Wide, double>) {
        if constexpr (std::is_floating_point_v<Stored>)
          stored = static_cast<Stored>(wide);
        else if constexpr (!std::is_arithmetic_v<Stored>)
          stored = Stored(round_to_odd(wide));
      } else if constexpr (std::is_integral_v<Stored>) {
        stored = static_cast<Stored>(wide.bits);
        if (static_cast<std::uint64_t>(stored) != wide.bits || (stored < Stored{}) != wide.negative) return false;
      }
      std::memcpy(out, &stored, sizeof stored);
      out += sizeof stored;
    }
    return true;
  });
}

template <class Wide>
[[nodiscard]] bool convert_through(dtype from, const std::byte* in, dtype to, std::byte* out,
                                   std::size_t count) noexcept {
  std::array<Wide, 256> buffer;
  while (count > 0) {
    const auto some = std::span(buffer).first(std::min(count, buffer.size()));
    widen<Wide>(from, in, to, some);
    if (!narrow<Wide>(some, to, out)) return false;
    in += some.size() * size_of(from);
    out += some.size() * size_of(to);
    count -= some.size();
  }
  return true;
}

bool convert(dtype from, std::span<const std::byte> in, dtype to, std::span<std::byte> out) noexcept {
  const default_float_environment rounds_to_nearest;
  const std::size_t count = in.size() / size_of(from);
  return is_floating(to) ? convert_through<double>(from, in.data(), to, out.data(), count)
                         : convert_through<wide_integer>(from, in.data(), to, out.data(), count);
}

bool is_reshapable(const extents& from, const extents& to, reshaping allowed) noexcept {
  if (from.size() != to.size() || !keeps_shape(allowed)) return from == to;
  return allowed == reshaping::any || std::equal(from.begin(), from.end(), to.begin(), std::less_equal<>());
}

bool differ_by_container(const extents& a, const extents& b) noexcept {
  const auto& [more, fewer] = a.size() > b.size() ? std::tie(a, b) : std::tie(b, a);
  return more.size() == fewer.size() + 1 && more.front() == 1 &&
         std::equal(fewer.begin(), fewer.end(), more.begin() + 1);
}

memory_view overlap_of(const memory_view& view, const extents& shape) {
  const extents first(shape.size());
  return view_of(view, common_part({first, view.shape}, {first, shape}));
}

std::string_view reshaping_advice(const extents& from, const extents& to) noexcept {
  if (element_count(to) == 0 && element_count(from) > 0)
    return "; give it that shape before the load, or leave it out with filter";
  if (is_reshapable(from, to, reshaping::grow)) return " (load with reshape and reshaping::grow to load what it has)";
  return is_reshapable(from, to, reshaping::any) ? " (load with reshape and reshaping::any to load what both have)"
                                                 : "";
}

}  // namespace cairn::inline v0_1::detail
