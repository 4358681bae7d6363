// SPDX-License-Identifier: MIT
#include "cairn/state/convert.hpp"
#include "cairn/core/float_types.hpp"

#include <cfenv>

#include "catch.hpp"

namespace {

template <class From, class To>
std::pair<bool, std::vector<To>> converted(cairn::dtype from, const std::vector<From>& values, cairn::dtype to) {
  std::vector<To> result(values.size());
  const bool fits =
      cairn::detail::convert(from, std::as_bytes(std::span(values)), to, std::as_writable_bytes(std::span(result)));
  return {fits, result};
}

template <class Narrow>
bool is_nan_of(const std::byte* at) {
  Narrow value;
  std::memcpy(&value, at, sizeof value);
  return std::isnan(static_cast<float>(value));
}

/// Of the floating types of one or two bytes.
bool is_nan(cairn::dtype type, const std::byte* at) {
  switch (type) {
    case cairn::dtype::f8_e4m3:
      return is_nan_of<cairn::float8_e4m3>(at);
    case cairn::dtype::f8_e5m2:
      return is_nan_of<cairn::float8_e5m2>(at);
    case cairn::dtype::f16:
      return is_nan_of<cairn::float16>(at);
    default:
      return is_nan_of<cairn::bfloat16>(at);
  }
}

using cairn::dtype;

TEST_CASE("widening keeps every value: there and back is the identity") {
  for (std::size_t f = 0; f < cairn::dtype_count; ++f) {
    for (std::size_t t = 0; t < cairn::dtype_count; ++t) {
      const auto from = static_cast<dtype>(f);
      const auto to = static_cast<dtype>(t);
      if (!cairn::detail::is_widening(from, to) || cairn::size_of(from) > 2 || from == dtype::boolean) continue;
      const unsigned count = cairn::size_of(from) == 1 ? 256 : 65536;
      std::vector<std::byte> in(count * cairn::size_of(from));
      for (unsigned i = 0; i < count; ++i) std::memcpy(in.data() + i * cairn::size_of(from), &i, cairn::size_of(from));
      std::vector<std::byte> wide(count * cairn::size_of(to));
      std::vector<std::byte> back(in.size());
      INFO(cairn::name(from) << " -> " << cairn::name(to));
      REQUIRE(cairn::detail::convert(from, in, to, wide));
      if (is_floating(to) && !is_floating(from)) {
        for (unsigned i = 0; i < count && to == dtype::f64; ++i) {
          double value = 0;
          std::memcpy(&value, wide.data() + 8 * i, 8);
          REQUIRE(value == (is_signed_integer(from)
                                ? (count == 256 ? static_cast<std::int8_t>(i) : static_cast<std::int16_t>(i))
                                : static_cast<double>(i)));
        }
        continue;  // no way back from floating to integer
      }
      REQUIRE(cairn::detail::convert(to, wide, from, back));
      unsigned different = 0;
      for (unsigned i = 0; i < count; ++i) {
        const auto* a = in.data() + i * cairn::size_of(from);
        const auto* b = back.data() + i * cairn::size_of(from);
        const bool nan = cairn::is_floating(from) && is_nan(from, a);
        different += !nan && std::memcmp(a, b, cairn::size_of(from)) != 0;
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("what widens and what does not") {
  CHECK(cairn::detail::is_widening(dtype::f16, dtype::f32));
  CHECK(cairn::detail::is_widening(dtype::bf16, dtype::f32));
  CHECK(cairn::detail::is_widening(dtype::i32, dtype::f64));
  CHECK(cairn::detail::is_widening(dtype::u8, dtype::i16));
  CHECK(cairn::detail::is_widening(dtype::boolean, dtype::i32));
  CHECK(cairn::detail::is_widening(dtype::f8_e4m3, dtype::bf16));
  CHECK_FALSE(cairn::detail::is_widening(dtype::f32, dtype::f16));
  CHECK_FALSE(cairn::detail::is_widening(dtype::f16, dtype::bf16));
  CHECK_FALSE(cairn::detail::is_widening(dtype::bf16, dtype::f16));
  CHECK_FALSE(cairn::detail::is_widening(dtype::f8_e4m3, dtype::f8_e5m2));
  CHECK_FALSE(cairn::detail::is_widening(dtype::i64, dtype::f64));
  CHECK_FALSE(cairn::detail::is_widening(dtype::i8, dtype::u64));
  CHECK_FALSE(cairn::detail::is_widening(dtype::u64, dtype::i64));
  CHECK_FALSE(cairn::detail::is_widening(dtype::f32, dtype::i64));
  CHECK_FALSE(cairn::detail::is_widening(dtype::u8, dtype::boolean));
  CHECK(cairn::detail::is_convertible(dtype::f64, dtype::f16, cairn::conversion::any));
  CHECK_FALSE(cairn::detail::is_convertible(dtype::f32, dtype::i32, cairn::conversion::any));
  CHECK_FALSE(cairn::detail::is_convertible(dtype::f16, dtype::f32, cairn::conversion::none));
}

TEST_CASE("narrowing rounds once, even through two roundings") {
  // 1 + 2^-11 + 2^-30 lies above the tie between two halves; rounded to float first it would lie on it.
  const double above_tie = 1.0 + 0x1p-11 + 0x1p-40;
  const auto [fits, result] = converted<double, std::uint16_t>(dtype::f64, {above_tie, 1.0 + 0x1p-11}, dtype::f16);
  CHECK(fits);
  CHECK(result == std::vector<std::uint16_t>{0x3c01, 0x3c00});
}

TEST_CASE("a conversion rounds to nearest, whatever mode the program has set") {
  std::fesetround(FE_UPWARD);
  const auto result = converted<double, float>(dtype::f64, {1.0 + 0x1p-40}, dtype::f32).second;
  std::fesetround(FE_TONEAREST);
  CHECK(result == std::vector<float>{1});
}

/// An integer rounded to `digits` binary digits, to nearest even.
double rounded(std::uint64_t magnitude, int digits) {
  const int lost = std::max(64 - std::countl_zero(magnitude) - digits, 0);
  const auto rest = magnitude & ((std::uint64_t{1} << lost) - 1), tie = (std::uint64_t{1} << lost) / 2;
  const auto kept = magnitude >> lost, up = std::uint64_t{lost > 0 && (rest > tie || (rest == tie && kept % 2 == 1))};
  return std::ldexp(static_cast<double>(kept + up), lost);
}

TEST_CASE("integers of more digits than a double has round once") {
  std::vector<std::uint64_t> magnitudes{(1ULL << 60) + (1ULL << 36) + 1, 1ULL << 53, (1ULL << 53) + 1, ~0ULL >> 1, 3};
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    magnitudes.push_back(random() >> (random() % 63 + 1));
    for (const int digits : {8, 24}) {  // those of BF16 and F32, and one more
      const auto tie = (random() >> (63 - digits) | 1) << (62 - digits);
      for (const auto near : {tie - 1, tie, tie + 1}) magnitudes.push_back(near);
    }
  }
  const auto check = [&]<class Integer>(dtype from, const std::vector<Integer>& values) {
    const auto [wide, doubles] = converted<Integer, double>(from, values, dtype::f64);
    const auto [single, floats] = converted<Integer, float>(from, values, dtype::f32);
    const auto [half, halves] = converted<Integer, cairn::bfloat16>(from, values, dtype::bf16);
    REQUIRE((wide && single && half));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double sign = doubles[i] < 0 ? -1 : 1;
      INFO(values[i]);
      CHECK(doubles[i] == sign * rounded(magnitudes[i], 53));
      CHECK(static_cast<double>(floats[i]) == sign * rounded(magnitudes[i], 24));
      CHECK(static_cast<double>(static_cast<float>(halves[i])) == sign * rounded(magnitudes[i], 8));
    }
  };
  std::vector<std::int64_t> positive(magnitudes.begin(), magnitudes.end()), negative;
  for (const auto each : positive) negative.push_back(-each);
  check(dtype::i64, positive);
  check(dtype::i64, negative);
  for (auto& each : magnitudes) each *= 2;
  magnitudes.push_back(~0ULL);
  check(dtype::u64, magnitudes);
}

TEST_CASE("integers that do not fit are reported") {
  CHECK(converted<std::int64_t, std::int8_t>(dtype::i64, {-128, 127}, dtype::i8).first);
  CHECK_FALSE(converted<std::int64_t, std::int8_t>(dtype::i64, {128}, dtype::i8).first);
  CHECK_FALSE(converted<std::int64_t, std::uint64_t>(dtype::i64, {-1}, dtype::u64).first);
  CHECK_FALSE(converted<std::uint64_t, std::int64_t>(dtype::u64, {~0ULL}, dtype::i64).first);
  CHECK(converted<std::int32_t, double>(dtype::i32, {-7}, dtype::f64).second == std::vector<double>{-7.0});
}

/// All finite values of a format, in ascending order of their bits without sign: the definition to round
/// against.
template <class Small, class Bits>
void check_format(float largest) {
  const unsigned sign = 1U << (8 * sizeof(Bits) - 1);
  for (unsigned bits = 0; bits < 2 * sign; ++bits) {
    const auto small = Small::from_bits(static_cast<Bits>(bits));
    const auto value = static_cast<float>(small);
    if (std::isnan(value)) {
      CHECK(std::isnan(static_cast<float>(Small(value))));
      continue;
    }
    if (Small(value) != small) FAIL("bits " << bits << " do not come back");
    if (!std::isinf(value) && std::abs(value) > largest) FAIL("bits " << bits << " give " << value);
  }
  // Half-way between two neighbours goes to the even one; anything beyond half-way to the nearer one.
  for (unsigned bits = 0; bits + 1 < sign; ++bits) {
    const auto low = static_cast<float>(Small::from_bits(static_cast<Bits>(bits)));
    const auto high = static_cast<float>(Small::from_bits(static_cast<Bits>(bits + 1)));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const float middle = low + (high - low) / 2;  // exact unless it is a float's smallest step
    if (static_cast<double>(middle) != (static_cast<double>(low) + static_cast<double>(high)) / 2) continue;
    const auto even = static_cast<Bits>(bits % 2 == 0 ? bits : bits + 1);
    if (Small(middle).bits != even) FAIL("the tie above bits " << bits << " goes to " << Small(middle).bits);
    if (Small(std::nextafter(middle, low)).bits != bits && std::nextafter(middle, low) != low) FAIL("below " << middle);
    if (Small(std::nextafter(middle, high)).bits != bits + 1) FAIL("above " << middle);
    if (Small(-middle).bits != (even | sign)) FAIL("the sign of " << -middle);
  }
}

}  // namespace

TEST_CASE("small floats widen exactly and narrow to the nearest, ties to even") {
  check_format<cairn::float16, std::uint16_t>(65504.0F);
  check_format<cairn::bfloat16, std::uint16_t>(std::numeric_limits<float>::max());
  check_format<cairn::float8_e4m3, std::uint8_t>(448.0F);
  check_format<cairn::float8_e5m2, std::uint8_t>(57344.0F);
}

TEST_CASE("values beyond the largest overflow as the format says") {
  CHECK(std::isinf(static_cast<float>(cairn::float16(65520.0F))));
  CHECK(static_cast<float>(cairn::float16(65519.0F)) == 65504.0F);
  CHECK(std::isinf(static_cast<float>(cairn::float8_e5m2(1e9F))));
  CHECK(static_cast<float>(cairn::float8_e4m3(464.0F)) == 448.0F);
  CHECK(std::isnan(static_cast<float>(cairn::float8_e4m3(465.0F))));
  CHECK(std::isnan(static_cast<float>(cairn::float8_e4m3(std::numeric_limits<float>::infinity()))));
  CHECK(std::isinf(static_cast<float>(cairn::bfloat16(std::numeric_limits<float>::max()))));
}

TEST_CASE("known values") {
  CHECK(cairn::float16(1.0F / 3).bits == 0x3555);
  CHECK(cairn::bfloat16(1.0F / 3).bits == 0x3eab);
  CHECK(cairn::float8_e4m3(1.0F).bits == 0x38);
  CHECK(cairn::float8_e5m2(1.0F).bits == 0x3c);
}
