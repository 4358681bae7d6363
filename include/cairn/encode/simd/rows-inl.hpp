// SPDX-License-Identifier: MIT
// What the kernels of LC share, for one target: vectors of floats, and layouts by rows of 16 elements.
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

}  // namespace rows
}  // namespace HWY_NAMESPACE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
