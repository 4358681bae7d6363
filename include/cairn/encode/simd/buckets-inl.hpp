// SPDX-License-Identifier: MIT
// Kernels of buckets.hpp, for one target; included by lc_kernels-inl.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
inline namespace CAIRN_SIMD_BASE {
namespace HWY_NAMESPACE {
namespace bucket_code {
using namespace rows;

HWY_INLINE bits delta_bits(const float* u, const float* a) {
  const float_tag d;
  return hn::BitCast(bits_tag(), hn::Sub(hn::LoadU(d, u), hn::LoadU(d, a)));
}

inline void deltas(const float* u, const float* a, std::size_t n, float* out) noexcept {
  const float_tag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Sub(hn::LoadU(d, u + i), hn::LoadU(d, a + i)), d, out + i);
  if (i == n) return;
  float rest_u[row] = {}, rest_a[row] = {}, rest[row];
  copy(u + i, n - i, rest_u);
  copy(a + i, n - i, rest_a);
  hn::StoreU(hn::Sub(hn::LoadU(d, rest_u), hn::LoadU(d, rest_a)), d, rest);
  copy(rest, n - i, out + i);
}

/// The least distances of members from both ends of a range. As unsigned differences wrap around, a float outside the range is
/// farther from both ends than any member.
struct distances {
  bits first, last, from_first, to_last;

  HWY_INLINE explicit distances(const bucket_range& range) {
    const bits_tag d;
    first = hn::Set(d, range.first);
    last = hn::Set(d, range.last);
    from_first = to_last = hn::Set(d, 0xFFFF'FFFF);
  }
  HWY_INLINE void note(bits x) {
    from_first = hn::Min(from_first, hn::Sub(x, first));
    to_last = hn::Min(to_last, hn::Sub(last, x));
  }
  HWY_INLINE bucket_reach reach(const bucket_range& range) const {
    const bits_tag d;
    const std::uint32_t above = hn::GetLane(hn::MinOfLanes(d, from_first));
    const std::uint32_t below = hn::GetLane(hn::MinOfLanes(d, to_last));
    if (above > range.last - range.first) return {};
    return {range.first + above, range.last - below};
  }
};

inline magnitudes survey(const float* u, const float* a, std::size_t n, std::uint32_t ceiling,
                         const bucket_range (&ranges)[4], bucket_reach (&reaches)[4]) noexcept {
  const bits_tag d;
  const hn::RebindToSigned<bits_tag> compared;  // AVX2 compares signed numbers only, and magnitudes have no sign bit
  const std::size_t lanes = hn::Lanes(d);
  const auto no_sign = hn::Set(d, 0x7FFF'FFFF);
  const auto top = hn::BitCast(compared, hn::Set(d, ceiling));
  auto largest = hn::Zero(compared), largest_below = hn::Zero(compared);
  distances of_0(ranges[0]), of_1(ranges[1]), of_2(ranges[2]), of_3(ranges[3]);
  const auto note = [&](bits x) HWY_ATTR {
    const auto magnitude = hn::BitCast(compared, hn::And(x, no_sign));
    largest = hn::Max(largest, magnitude);
    largest_below = hn::Max(largest_below, hn::IfThenElseZero(hn::Lt(magnitude, top), magnitude));
    of_0.note(x);
    of_1.note(x);
    of_2.note(x);
    of_3.note(x);
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    fetch_ahead(u + i);
    fetch_ahead(a + i);
    note(delta_bits(u + i, a + i));
  }
  if (i < n) {
    float rest_u[row] = {}, rest_a[row] = {};
    copy(u + i, n - i, rest_u);
    copy(a + i, n - i, rest_a);
    note(delta_bits(rest_u, rest_a));
  }
  reaches[0] = of_0.reach(ranges[0]);
  reaches[1] = of_1.reach(ranges[1]);
  reaches[2] = of_2.reach(ranges[2]);
  reaches[3] = of_3.reach(ranges[3]);
  return {static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(compared, largest))),
          static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(compared, largest_below)))};
}

using double_tag = hn::CappedTag<double, 8>;
using half_tag = hn::Rebind<float, double_tag>;  // as many floats
using doubles = hn::Vec<double_tag>;

/// Squares of numbers of at most 26 bits are exact, so a fused multiply-add gives the same bits.
struct error_lanes {
  doubles squares, real_squares, largest;

  HWY_INLINE error_lanes() { squares = real_squares = largest = hn::Zero(double_tag()); }

  HWY_INLINE void note(const float* real, const float* approximation) {
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
};

inline error_sums errors(const float* real, const float* approximation, std::size_t n) noexcept {
  const double_tag d;
  const std::size_t lanes = hn::Lanes(d), whole = n - n % row;
  float rest_r[row] = {}, rest_a[row] = {};
  copy(real + whole, n - whole, rest_r);
  copy(approximation + whole, n - whole, rest_a);
  double squares[row], real_squares[row], largest[row];
  for (std::size_t p = 0; p < row; p += 2 * lanes) {
    error_lanes some, others;
    for (std::size_t i = p; i < whole; i += row) {
      some.note(real + i, approximation + i);
      others.note(real + i + lanes, approximation + i + lanes);
    }
    some.note(rest_r + p, rest_a + p);
    others.note(rest_r + p + lanes, rest_a + p + lanes);
    const auto put = [&](const error_lanes& from, std::size_t at) HWY_ATTR {
      hn::StoreU(from.squares, d, squares + at);
      hn::StoreU(from.real_squares, d, real_squares + at);
      hn::StoreU(from.largest, d, largest + at);
    };
    put(some, p);
    put(others, p + lanes);
  }
  for (std::size_t half = row / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) {
      squares[i] += squares[i + half];
      real_squares[i] += real_squares[i + half];
      if (largest[i + half] > largest[i]) largest[i] = largest[i + half];
    }
  return {squares[0], real_squares[0], largest[0]};
}

}  // namespace bucket_code

inline constexpr buckets_kernels buckets_table{HWY_TARGET, &bucket_code::deltas, &bucket_code::survey,
                                               &bucket_code::errors};

}  // namespace HWY_NAMESPACE
}  // namespace CAIRN_SIMD_BASE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
