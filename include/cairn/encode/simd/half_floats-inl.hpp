// SPDX-License-Identifier: MIT
// Kernels of half_floats.hpp, for one target; included by lc_kernels-inl.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
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

/// Results that are normal are rounded by integer arithmetic; denormal ones by adding 0.5, whose last bit is that of the result.
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

}  // namespace HWY_NAMESPACE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
