// SPDX-License-Identifier: MIT
// The planes_kernels of lossless_kernels.hpp, for one target: included once per target by each_target.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Elements one by one: the rest after whole vectors, and all elements where there are no vectors.
template <class Word>
struct single_planes {
  static constexpr std::size_t width = sizeof(Word);
  static constexpr int top = 8 * static_cast<int>(width) - 1;

  static void split(const std::byte* values, std::size_t count, bool rotate, std::byte* const* planes) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      Word word;
      std::memcpy(&word, values + i * width, width);
      if (rotate) word = static_cast<Word>(word << 1 | word >> top);
      for (std::size_t b = 0; b < width; ++b) planes[b][i] = static_cast<std::byte>(word >> (8 * b));
    }
  }

  static void merge(const std::byte* const* planes, std::size_t count, bool rotate, std::byte* values) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bytes = 0;
      for (std::size_t b = 0; b < width; ++b) bytes |= static_cast<std::uint64_t>(planes[b][i]) << (8 * b);
      auto word = static_cast<Word>(bytes);
      if (rotate) word = static_cast<Word>(word >> 1 | word << top);
      std::memcpy(values + i * width, &word, width);
    }
  }
};

// Highway's fallback targets have vectors of one lane, or arrays: plain loops are as fast.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
template <class Word>
struct vector_planes : single_planes<Word> {};
#else

/// A vector of elements at a time. Elements of 8 bytes take two vectors: one of lower halves, one of upper halves.
template <class Word>
struct vector_planes : single_planes<Word> {
  using single = single_planes<Word>;
  using lane = std::conditional_t<sizeof(Word) == 8, std::uint32_t, Word>;
  using wide = hn::ScalableTag<lane>;
  using narrow = hn::Rebind<std::uint8_t, wide>;
  using vector = hn::Vec<wide>;
  static constexpr std::size_t lane_bytes = sizeof(lane);
  static constexpr int lane_top = 8 * static_cast<int>(lane_bytes) - 1;
  static constexpr std::size_t ahead = 1024;  // bytes to prefetch

  /// The lowest byte of every lane.
  HWY_INLINE static hn::Vec<narrow> low_bytes(vector v) noexcept {
#if HWY_TARGET == HWY_AVX3_DL  // where TruncateTo of Highway 1.0.3 takes the wrong bytes of 32-bit lanes
    if constexpr (lane_bytes == 4) return hn::U8FromU32(hn::And(v, hn::Set(wide(), 0xFF)));
#endif
    return hn::TruncateTo(narrow(), v);
  }

  template <int Byte = 0>
  HWY_INLINE static void store_bytes(vector v, std::byte* const* planes, std::size_t i) noexcept {
    hn::StoreU(low_bytes(hn::ShiftRight<8 * Byte>(v)), narrow(), reinterpret_cast<std::uint8_t*>(planes[Byte] + i));
    if constexpr (Byte + 1 < lane_bytes) store_bytes<Byte + 1>(v, planes, i);
  }

  template <int Byte = 0>
  HWY_INLINE static vector load_bytes(const std::byte* const* planes, std::size_t i) noexcept {
    const auto bytes = hn::LoadU(narrow(), reinterpret_cast<const std::uint8_t*>(planes[Byte] + i));
    const vector v = hn::ShiftLeft<8 * Byte>(hn::PromoteTo(wide(), bytes));
    if constexpr (Byte + 1 < lane_bytes)
      return hn::Or(v, load_bytes<Byte + 1>(planes, i));
    else
      return v;
  }

  /// `v` shifted left by one bit; the highest bit of `below` becomes the lowest one.
  HWY_INLINE static vector up(vector v, vector below) noexcept {
    return hn::Or(hn::ShiftLeft<1>(v), hn::ShiftRight<lane_top>(below));
  }
  HWY_INLINE static vector down(vector v, vector above) noexcept {
    return hn::Or(hn::ShiftRight<1>(v), hn::ShiftLeft<lane_top>(above));
  }

  HWY_INLINE static void split_step(const std::byte* values, std::size_t i, bool rotate,
                                    std::byte* const* planes) noexcept {
    const auto* const from = reinterpret_cast<const lane*>(values + i * sizeof(Word));
    if constexpr (sizeof(Word) == 8) {
      vector low, high;
      hn::LoadInterleaved2(wide(), from, low, high);
      store_bytes(rotate ? up(low, high) : low, planes, i);
      store_bytes(rotate ? up(high, low) : high, planes + lane_bytes, i);
    } else {
      const vector v = hn::LoadU(wide(), from);
      store_bytes(rotate ? up(v, v) : v, planes, i);
    }
  }

  HWY_INLINE static void merge_step(const std::byte* const* planes, std::size_t i, bool rotate,
                                    std::byte* values) noexcept {
    auto* const to = reinterpret_cast<lane*>(values + i * sizeof(Word));
    const vector v = load_bytes(planes, i);
    if constexpr (sizeof(Word) == 8) {
      const vector high = load_bytes(planes + lane_bytes, i);
      hn::StoreInterleaved2(rotate ? down(v, high) : v, rotate ? down(high, v) : high, wide(), to);
    } else {
      hn::StoreU(rotate ? down(v, v) : v, wide(), to);
    }
  }

  // The last vector overlaps the one before, which writes the same bytes again.
  static void split(const std::byte* values, std::size_t count, bool rotate, std::byte* const* planes) noexcept {
    const std::size_t lanes = hn::Lanes(wide());
    if (count < lanes) return single::split(values, count, rotate, planes);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      __builtin_prefetch(values + i * sizeof(Word) + ahead);
      split_step(values, i, rotate, planes);
    }
    if (i < count) split_step(values, count - lanes, rotate, planes);
  }

  static void merge(const std::byte* const* planes, std::size_t count, bool rotate, std::byte* values) noexcept {
    const std::size_t lanes = hn::Lanes(wide());
    if (count < lanes) return single::merge(planes, count, rotate, values);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) merge_step(planes, i, rotate, values);
    if (i < count) merge_step(planes, count - lanes, rotate, values);
  }
};
#endif

/// The kernels for elements of one type.
template <class Word>
struct plane_kernels_of {
  static constexpr std::size_t width = sizeof(Word);

  // The pointers are copied to local memory, which stores through them cannot alias.
  static void split(const std::byte* values, std::size_t count, bool rotate, std::byte* const* planes) noexcept {
    std::byte* local[width];
    for (std::size_t b = 0; b < width; ++b) local[b] = planes[b];
    if constexpr (width > 1)
      vector_planes<Word>::split(values, count, rotate, local);
    else if (count > 0)
      std::memcpy(local[0], values, count);
  }

  static void merge(const std::byte* const* planes, std::size_t count, bool rotate, std::byte* values) noexcept {
    const std::byte* local[width];
    for (std::size_t b = 0; b < width; ++b) local[b] = planes[b];
    if constexpr (width > 1)
      vector_planes<Word>::merge(local, count, rotate, values);
    else if (count > 0)
      std::memcpy(values, local[0], count);
  }

  static constexpr plane_kernels table{&split, &merge};
};

inline void combine(const std::byte* a, const std::byte* b, std::size_t bytes, std::byte* out) noexcept {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  const hn::ScalableTag<std::uint8_t> d;
  for (; i + hn::Lanes(d) <= bytes; i += hn::Lanes(d)) {
    const auto left = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(a + i));
    const auto right = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(b + i));
    hn::StoreU(hn::Xor(left, right), d, reinterpret_cast<std::uint8_t*>(out + i));
  }
#endif
  for (; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t left, right;
    std::memcpy(&left, a + i, sizeof left);
    std::memcpy(&right, b + i, sizeof right);
    left ^= right;
    std::memcpy(out + i, &left, sizeof left);
  }
  for (; i < bytes; ++i) out[i] = a[i] ^ b[i];
}

inline constexpr planes_kernels planes_table{
    HWY_TARGET,
    {plane_kernels_of<std::uint8_t>::table, plane_kernels_of<std::uint16_t>::table,
     plane_kernels_of<std::uint32_t>::table, plane_kernels_of<std::uint64_t>::table},
    &combine};

}  // namespace HWY_NAMESPACE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
