// SPDX-License-Identifier: MIT
// The kernels of lc, for one target: included once per target by each_target.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
namespace rows {

namespace hn = hwy::HWY_NAMESPACE;

using float_tag = hn::CappedTag<float, 16>;
using bits_tag = hn::RebindToUnsigned<float_tag>;
using floats = hn::Vec<float_tag>;
using bits = hn::Vec<bits_tag>;

/// Elements of a row. Layouts are defined by rows, so that they do not depend on the number of lanes.
inline constexpr std::size_t row = 16;

/// Prefetches 4 KiB ahead: the hardware's own prefetching stops at the end of a page. Doubles the speed of two streams.
/// The address may be outside of the array, where no pointer may be made by addition.
HWY_INLINE void fetch_ahead(const float* at) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(at) + 4096));
}

template <class T>
HWY_INLINE void copy(const T* in, std::size_t n, T* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = in[i];
}

/// Calls `act(u, a, b)` for vectors of elements; the last ones are copied to rows of 16. Where `act` writes to `b`,
/// they are copied back.
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

}  // namespace rows
namespace half_float_code {
using namespace rows;

using half_tag = hn::Rebind<std::uint16_t, float_tag>;

/// Calls `convert(from, to)`, which converts a vector, for all elements; the last ones are copied to a row of 16.
template <class From, class To, class Convert>
HWY_INLINE void convert_all(const From* in, std::size_t n, To* out, const Convert& convert) {
  const std::size_t lanes = hn::Lanes(float_tag());
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) convert(in + i, out + i);
  if (i == n) return;
  From rest_in[16] = {};
  To rest_out[16];
  for (std::size_t k = 0; k < n - i; ++k) rest_in[k] = in[i + k];
  convert(rest_in, rest_out);
  for (std::size_t k = 0; k < n - i; ++k) out[i + k] = rest_out[k];
}

HWY_INLINE bits load_half(const std::uint16_t* in) { return hn::PromoteTo(bits_tag(), hn::LoadU(half_tag(), in)); }

HWY_INLINE void store_half(bits x, std::uint16_t* out) {
  const hn::RebindToSigned<bits_tag> d;
  hn::StoreU(hn::DemoteTo(half_tag(), hn::BitCast(d, x)), half_tag(), out);
}

inline void widen_bf16(const std::uint16_t* in, std::size_t n, float* out) noexcept {
  convert_all(in, n, out, [](const std::uint16_t* from, float* to) HWY_ATTR {
    hn::StoreU(hn::BitCast(float_tag(), hn::ShiftLeft<16>(load_half(from))), float_tag(), to);
  });
}

inline void narrow_bf16(const float* in, std::size_t n, std::uint16_t* out) noexcept {
  convert_all(in, n, out, [](const float* from, std::uint16_t* to) HWY_ATTR {
    const bits_tag d;
    const auto x = hn::BitCast(d, hn::LoadU(float_tag(), from));
    const auto odd = hn::And(hn::ShiftRight<16>(x), hn::Set(d, 1));
    store_half(hn::ShiftRight<16>(hn::Add(x, hn::Add(odd, hn::Set(d, 0x7FFF)))), to);
  });
}

/// The bits of an element, moved to the place of a float's, are the element times 2^-112, normal or denormal.
inline void widen_f16(const std::uint16_t* in, std::size_t n, float* out) noexcept {
  convert_all(in, n, out, [](const std::uint16_t* from, float* to) HWY_ATTR {
    const float_tag d;
    const bits_tag db;
    const auto x = load_half(from);
    const auto sign = hn::ShiftLeft<16>(hn::And(x, hn::Set(db, 0x8000)));
    const auto moved = hn::ShiftLeft<13>(hn::And(x, hn::Set(db, 0x7FFF)));
    const auto scale = hn::BitCast(d, hn::Set(db, (127U + 112U) << 23));
    const auto number = hn::BitCast(db, hn::Mul(hn::BitCast(d, moved), scale));
    const auto infinite = hn::Set(db, 31U << 23);  // the exponent of infinity and NaN
    const auto special = hn::Eq(hn::And(moved, infinite), infinite);
    const auto magnitude = hn::IfThenElse(special, hn::Or(moved, hn::Set(db, 255U << 23)), number);
    hn::StoreU(hn::BitCast(d, hn::Or(magnitude, sign)), d, to);
  });
}

/// Normal results are rounded by integer arithmetic; denormal ones by adding 0.5, whose last bit is that of the result.
inline void narrow_f16(const float* in, std::size_t n, std::uint16_t* out) noexcept {
  convert_all(in, n, out, [](const float* from, std::uint16_t* to) HWY_ATTR {
    const float_tag d;
    const bits_tag db;
    const auto x = hn::BitCast(db, hn::LoadU(d, from));
    const auto magnitude = hn::Min(hn::And(x, hn::Set(db, 0x7FFF'FFFF)), hn::Set(db, (127U + 16U) << 23));
    const auto sign = hn::ShiftRight<16>(hn::And(x, hn::Set(db, 0x8000'0000)));
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(db, 1));
    const auto rounded = hn::Add(hn::Sub(magnitude, hn::Set(db, 112U << 23)), hn::Add(odd, hn::Set(db, 0xFFF)));
    const auto normal = hn::ShiftRight<13>(rounded);
    const auto last_bit = hn::Set(db, (127U - 1U) << 23);  // 0.5, whose last bit is 2^-24, the least float16
    const auto sum = hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, last_bit));
    const auto denormal = hn::Sub(hn::BitCast(db, sum), last_bit);
    const auto small = hn::Eq(magnitude, hn::Min(magnitude, hn::Set(db, (113U << 23) - 1)));
    store_half(hn::Or(hn::IfThenElse(small, denormal, normal), sign), to);
  });
}

}  // namespace half_float_code

inline constexpr half_floats_kernels half_floats_table{HWY_TARGET, &half_float_code::widen_bf16,
                                                       &half_float_code::widen_f16, &half_float_code::narrow_bf16,
                                                       &half_float_code::narrow_f16};

namespace ratio_code {
using namespace rows;

using integer_tag = hn::RebindToSigned<float_tag>;
using integers = hn::Vec<integer_tag>;

inline constexpr std::int32_t magnitude_mask = 0x7FFF'FFFF, infinite = 0x7F80'0000;

HWY_INLINE integers load_bits(const float* x) { return hn::BitCast(integer_tag(), hn::LoadU(float_tag(), x)); }
HWY_INLINE bits unsigned_bits(integers x) { return hn::BitCast(bits_tag(), x); }  // whose sums wrap around

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

#include "cairn/encode/simd/buckets-inl.hpp"
#include "cairn/encode/simd/symbols-inl.hpp"
