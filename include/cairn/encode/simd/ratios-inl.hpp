// SPDX-License-Identifier: MIT
// Kernels of ratios.hpp, for one target; included by lc_kernels-inl.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
namespace ratio_code {
using namespace rows;

using integer_tag = hn::RebindToSigned<float_tag>;
using integers = hn::Vec<integer_tag>;

inline constexpr std::int32_t magnitude_mask = 0x7FFF'FFFF, infinite = 0x7F80'0000;

HWY_INLINE integers load_bits(const float* x) { return hn::BitCast(integer_tag(), hn::LoadU(float_tag(), x)); }
HWY_INLINE bits unsigned_bits(integers x) { return hn::BitCast(bits_tag(), x); }  // whose sums wrap around

/// Calls `act(u, a, b)` for vectors of elements; the last ones are copied to rows of 16. Where `act` writes to `b`, they are copied back.
template <bool Writes, class Out, class Act>
HWY_INLINE void for_all(const float* u, const float* a, std::size_t n, Out* b, const Act& act) {
  const std::size_t lanes = hn::Lanes(float_tag());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) act(u + i, a + i, Writes ? b + i : b);
  if (i == n) return;
  float rest_u[row] = {}, rest_a[row] = {}, rest_b[row] = {};
  copy(u + i, n - i, rest_u);
  copy(a + i, n - i, rest_a);
  act(rest_u, rest_a, rest_b);
  if constexpr (Writes) copy(rest_b, n - i, b + i);
}

inline void ratios(const float* u, const float* a, std::size_t n, float* d) noexcept {
  for_all<true>(u, a, n, d, [](const float* real, const float* tracked, float* to) HWY_ATTR {
    const integer_tag t;
    const auto x = load_bits(real), y = load_bits(tracked);
    const auto mask = hn::Set(t, magnitude_mask), zero = hn::Zero(t);
    const auto m = hn::And(x, mask), k = hn::And(y, mask);
    // Of zero and another number, and of numbers of two signs, the XOR of the marks has its highest bit.
    const auto is_zero_m = hn::VecFromMask(t, hn::Eq(m, zero)), is_zero_k = hn::VecFromMask(t, hn::Eq(k, zero));
    const auto same = hn::Eq(hn::ShiftRight<31>(hn::Or(hn::Xor(x, y), hn::Xor(is_zero_m, is_zero_k))), zero);
    const auto finite = hn::Lt(hn::Max(m, k), hn::Set(t, infinite));
    const auto difference =
        hn::IfThenElseZero(hn::And(same, finite), hn::BitCast(t, hn::Sub(unsigned_bits(x), unsigned_bits(y))));
    hn::StoreU(hn::ConvertTo(float_tag(), difference), float_tag(), to);
  });
}

inline void multiply(const float* a, const float* d, std::size_t n, float* b) noexcept {
  for_all<true>(a, d, n, b, [](const float* from, const float* by, float* to) HWY_ATTR {
    const auto whole = hn::ConvertTo(integer_tag(), hn::LoadU(float_tag(), by));
    const auto sum = hn::Add(unsigned_bits(load_bits(from)), unsigned_bits(whole));
    hn::StoreU(hn::BitCast(float_tag(), sum), float_tag(), to);
  });
}

inline bool are_near(const float* u, const float* b, std::size_t n) noexcept {
  const integer_tag t;
  auto far = hn::Zero(t);
  const float* nothing = nullptr;
  for_all<false>(u, b, n, nothing, [&](const float* real, const float* restored, const float*) HWY_ATTR {
    const float_tag f;
    const auto x = load_bits(real), y = load_bits(restored);
    const auto m = hn::Abs(hn::BitCast(f, x)), k = hn::Abs(hn::BitCast(f, y));
    const auto within = hn::And(hn::Le(m, hn::Add(k, k)), hn::Le(k, hn::Add(m, m)));
    const auto limit = hn::Set(t, infinite);
    const auto finite = hn::And(hn::Lt(hn::BitCast(t, m), limit), hn::Lt(hn::BitCast(t, k), limit));
    const auto same_sign = hn::Gt(hn::Xor(x, y), hn::Set(t, -1));
    const auto ratio =
        hn::And(hn::VecFromMask(t, hn::RebindMask(t, within)), hn::VecFromMask(t, hn::And(finite, same_sign)));
    const auto good = hn::Or(ratio, hn::VecFromMask(t, hn::Eq(x, y)));
    far = hn::Or(far, hn::Not(good));
  });
  return hn::AllTrue(t, hn::Eq(far, hn::Zero(t)));
}

}  // namespace ratio_code

inline constexpr ratios_kernels ratios_table{HWY_TARGET, &ratio_code::ratios, &ratio_code::multiply,
                                             &ratio_code::are_near};

}  // namespace HWY_NAMESPACE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
