// SPDX-License-Identifier: MIT
// The buckets_kernels of lc_kernels.hpp, for one target; included by lc_kernels-inl.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
namespace bucket_code {
using namespace rows;

HWY_INLINE bits delta_bits(const float* u, const float* a) {
  const float_tag d;
  return hn::BitCast(bits_tag(), hn::Sub(hn::LoadU(d, u), hn::LoadU(d, a)));
}

inline void deltas(const float* u, const float* a, std::size_t n, float* out) noexcept {
  for_all<true>(u, a, n, out, [](const float* real, const float* tracked, float* to) HWY_ATTR {
    const float_tag d;
    hn::StoreU(hn::Sub(hn::LoadU(d, real), hn::LoadU(d, tracked)), d, to);
  });
}

/// Lowers the least distances of members from both ends of a range. As unsigned differences wrap around, a float
/// outside the range is farther from both ends than any member.
HWY_INLINE void note(bits x, const bucket_range& range, bits& from_first, bits& to_last) {
  const bits_tag d;
  from_first = hn::Min(from_first, hn::Sub(x, hn::Set(d, range.first)));
  to_last = hn::Min(to_last, hn::Sub(hn::Set(d, range.last), x));
}

HWY_INLINE bucket_reach reach_of(const bucket_range& range, bits from_first, bits to_last) {
  const bits_tag d;
  const std::uint32_t above = hn::GetLane(hn::MinOfLanes(d, from_first));
  const std::uint32_t below = hn::GetLane(hn::MinOfLanes(d, to_last));
  if (above > range.last - range.first) return {};
  return {range.first + above, range.last - below};
}

// Vectors of scalable targets cannot be array elements or class members: each range's distances are local variables.
inline magnitudes survey(const float* u, const float* a, std::size_t n, std::uint32_t ceiling,
                         const bucket_range (&ranges)[4], bucket_reach (&reaches)[4]) noexcept {
  const bits_tag d;
  const hn::RebindToSigned<bits_tag> compared;  // AVX2 compares signed numbers only, and magnitudes have no sign bit
  const std::size_t lanes = hn::Lanes(d);
  const auto no_sign = hn::Set(d, 0x7FFF'FFFF);
  const auto top = hn::BitCast(compared, hn::Set(d, ceiling));
  auto largest = hn::Zero(compared), largest_below = hn::Zero(compared);
  const bucket_range range_0 = ranges[0], range_1 = ranges[1], range_2 = ranges[2], range_3 = ranges[3];
  auto from_0 = hn::Set(d, 0xFFFF'FFFF), from_1 = from_0, from_2 = from_0, from_3 = from_0;
  auto to_0 = from_0, to_1 = from_0, to_2 = from_0, to_3 = from_0;
  const auto note_all = [&](bits x) HWY_ATTR {
    const auto magnitude = hn::BitCast(compared, hn::And(x, no_sign));
    largest = hn::Max(largest, magnitude);
    largest_below = hn::Max(largest_below, hn::IfThenElseZero(hn::Lt(magnitude, top), magnitude));
    note(x, range_0, from_0, to_0);
    note(x, range_1, from_1, to_1);
    note(x, range_2, from_2, to_2);
    note(x, range_3, from_3, to_3);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    fetch_ahead(u + i);
    fetch_ahead(a + i);
    note_all(delta_bits(u + i, a + i));
  }
  if (i < n) {
    float rest_u[row] = {}, rest_a[row] = {};
    copy(u + i, n - i, rest_u);
    copy(a + i, n - i, rest_a);
    note_all(delta_bits(rest_u, rest_a));
  }
  reaches[0] = reach_of(range_0, from_0, to_0);
  reaches[1] = reach_of(range_1, from_1, to_1);
  reaches[2] = reach_of(range_2, from_2, to_2);
  reaches[3] = reach_of(range_3, from_3, to_3);
  return {static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(compared, largest))),
          static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(compared, largest_below)))};
}

using double_tag = hn::CappedTag<double, 8>;
using half_tag = hn::Rebind<float, double_tag>;  // as many floats
using doubles = hn::Vec<double_tag>;

/// Adds a vector of elements. Squares of numbers of up to 26 bits are exact: a fused multiply-add gives the same bits.
HWY_INLINE void add_errors(const float* real, const float* approximation, doubles& squares, doubles& real_squares,
                           doubles& largest) {
  const double_tag d;
  const half_tag h;
  const auto cut = hn::BitCast(d, hn::Set(hn::RebindToUnsigned<double_tag>(), 0xFFFF'FFFF'F800'0000U));
  const auto r = hn::PromoteTo(d, hn::LoadU(h, real));
  const auto e = hn::Sub(hn::PromoteTo(d, hn::LoadU(h, approximation)), r);
  const auto short_e = hn::And(e, cut);
  squares = hn::MulAdd(short_e, short_e, squares);
  real_squares = hn::MulAdd(r, r, real_squares);
  largest = hn::Max(largest, hn::Abs(e));
}

inline error_sums errors(const float* real, const float* approximation, std::size_t n) noexcept {
  const double_tag d;
  const std::size_t lanes = hn::Lanes(d), whole = n - n % row;
  float rest_r[row] = {}, rest_a[row] = {};
  copy(real + whole, n - whole, rest_r);
  copy(approximation + whole, n - whole, rest_a);
  double squares[row], real_squares[row], largest[row];
  for (std::size_t p = 0; p < row; p += 2 * lanes) {
    auto squares_0 = hn::Zero(d), squares_1 = squares_0, real_0 = squares_0, real_1 = squares_0;
    auto largest_0 = squares_0, largest_1 = squares_0;
    const auto add = [&](const float* r, const float* b) HWY_ATTR {
      add_errors(r, b, squares_0, real_0, largest_0);
      add_errors(r + lanes, b + lanes, squares_1, real_1, largest_1);
    };
    for (std::size_t i = p; i < whole; i += row) add(real + i, approximation + i);
    add(rest_r + p, rest_a + p);
    hn::StoreU(squares_0, d, squares + p);
    hn::StoreU(squares_1, d, squares + p + lanes);
    hn::StoreU(real_0, d, real_squares + p);
    hn::StoreU(real_1, d, real_squares + p + lanes);
    hn::StoreU(largest_0, d, largest + p);
    hn::StoreU(largest_1, d, largest + p + lanes);
  }
  for (std::size_t half = row / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) {
      squares[i] += squares[i + half];
      real_squares[i] += real_squares[i + half];
      if (largest[i + half] > largest[i]) largest[i] = largest[i + half];
    }
  return {squares[0], real_squares[0], largest[0]};
}

inline double squares(const float* u, const float* a, std::size_t n) noexcept {
  const double_tag d;
  const half_tag h;
  const std::size_t lanes = hn::Lanes(d), whole = n - n % row;
  float rest_u[row] = {}, rest_a[row] = {};
  copy(u + whole, n - whole, rest_u);
  copy(a + whole, n - whole, rest_a);
  double sums[row];
  for (std::size_t p = 0; p < row; p += 2 * lanes) {
    auto some = hn::Zero(d), others = hn::Zero(d);
    const auto add = [&](const float* x, const float* y) HWY_ATTR {
      const auto first = hn::PromoteTo(d, hn::Sub(hn::LoadU(h, x), hn::LoadU(h, y)));
      const auto second = hn::PromoteTo(d, hn::Sub(hn::LoadU(h, x + lanes), hn::LoadU(h, y + lanes)));
      some = hn::MulAdd(first, first, some);
      others = hn::MulAdd(second, second, others);
    };
    for (std::size_t i = p; i < whole; i += row) add(u + i, a + i);
    add(rest_u + p, rest_a + p);
    hn::StoreU(some, d, sums + p);
    hn::StoreU(others, d, sums + p + lanes);
  }
  for (std::size_t half = row / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

}  // namespace bucket_code

inline constexpr buckets_kernels buckets_table{HWY_TARGET, &bucket_code::deltas, &bucket_code::survey,
                                               &bucket_code::errors, &bucket_code::squares};

}  // namespace HWY_NAMESPACE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
