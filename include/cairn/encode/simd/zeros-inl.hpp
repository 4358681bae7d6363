// SPDX-License-Identifier: MIT
// The zeros_kernels of lossless_kernels.hpp, for one target: included once per target by each_target.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Up to 64 elements, one by one: the rest after whole vectors, and all elements where there are no vectors.
template <class Word>
struct single_marks {
  static constexpr std::size_t width = sizeof(Word);

  static Word load(const std::byte* from, std::size_t i) noexcept {
    Word word;
    std::memcpy(&word, from + i * width, width);
    return word;
  }
  static void store(std::byte* to, std::size_t i, Word word) noexcept { std::memcpy(to + i * width, &word, width); }

  static std::uint64_t mark(const std::byte* values, std::size_t count) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(load(values, i) != 0) << i;
    return bits;
  }

  // No branches: every element is copied, and overwritten by the next one unless it is marked.
  static std::size_t pack(const std::byte* values, std::uint64_t bits, std::size_t count, std::byte* packed) noexcept {
    std::size_t marked = 0;
    for (std::size_t i = 0; i < count; ++i) {
      store(packed, marked, load(values, i));
      marked += bits >> i & 1;
    }
    return marked;
  }

  static std::size_t unpack(const std::byte* packed, std::uint64_t bits, std::size_t count,
                            std::byte* values) noexcept {
    std::size_t marked = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bit = bits >> i & 1;
      store(values, i, static_cast<Word>(load(packed, marked) & (0 - bit)));
      marked += bit;
    }
    return marked;
  }
};

// Highway's fallback targets have vectors of one lane, or arrays: plain loops are as fast.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
template <class Word>
struct vector_marks : single_marks<Word> {};
#else

/// Marks a vector of elements at a time; packs and unpacks 16 bytes at a time with the shuffle of their marks.
template <class Word>
struct vector_marks : single_marks<Word> {
  using single = single_marks<Word>;
  static constexpr std::size_t width = sizeof(Word);
  static constexpr bool shuffled = width > 1;  // 16 marks would need a table of 2 MiB
  using table = shuffles<shuffled ? width : 2>;
  using bytes_16 = hn::FixedTag<std::uint8_t, table::bytes>;

  static std::uint64_t mark(const std::byte* values, std::size_t count) noexcept {
    const hn::CappedTag<Word, 64> d;
    if (count < 64) return single::mark(values, count);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const auto v = hn::LoadU(d, reinterpret_cast<const Word*>(values) + i);
      std::uint64_t some = 0;
      hn::StoreMaskBits(d, hn::Ne(v, hn::Zero(d)), reinterpret_cast<std::uint8_t*>(&some));
      bits |= some << i;
    }
    return bits;
  }

  HWY_INLINE static hn::Vec<bytes_16> load_16(const std::byte* from) noexcept {
    return hn::LoadU(bytes_16(), reinterpret_cast<const std::uint8_t*>(from));
  }
  HWY_INLINE static void store_16(hn::Vec<bytes_16> v, std::byte* to) noexcept {
    hn::StoreU(v, bytes_16(), reinterpret_cast<std::uint8_t*>(to));
  }

  static std::size_t pack(const std::byte* values, std::uint64_t bits, std::size_t count, std::byte* packed) noexcept {
    std::size_t marked = 0, i = 0;
    for (; shuffled && i + table::elements <= count; i += table::elements) {
      const std::size_t way = bits >> i & (table::ways - 1);
      const auto shuffle = hn::LoadU(bytes_16(), all_shuffles<table>.pack[way]);
      store_16(hn::TableLookupBytes(load_16(values + i * width), shuffle), packed + marked * width);
      marked += all_shuffles<table>.marked[way];
    }
    if (i == count) return marked;
    return marked + single::pack(values + i * width, bits >> i, count - i, packed + marked * width);
  }

  static std::size_t unpack(const std::byte* packed, std::uint64_t bits, std::size_t count,
                            std::byte* values) noexcept {
    std::size_t marked = 0, i = 0;
    for (; shuffled && i + table::elements <= count; i += table::elements) {
      const std::size_t way = bits >> i & (table::ways - 1);
      const auto shuffle = hn::LoadU(bytes_16(), all_shuffles<table>.unpack[way]);
      store_16(hn::TableLookupBytesOr0(load_16(packed + marked * width), shuffle), values + i * width);
      marked += all_shuffles<table>.marked[way];
    }
    if (i == count) return marked;
    return marked + single::unpack(packed + marked * width, bits >> i, count - i, values + i * width);
  }
};
#endif

/// The kernels for elements of one type, in groups of 64 elements.
template <class Word>
struct zero_kernels_of {
  static constexpr std::size_t width = sizeof(Word), group = 64;
  using marks = vector_marks<Word>;

  static std::size_t mark(const std::byte* values, std::size_t count, std::byte* bits) noexcept {
    std::size_t marked = 0;
    for (std::size_t i = 0; i < count; i += group) {
      const std::size_t now = count - i < group ? count - i : group;
      const std::uint64_t some = marks::mark(values + i * width, now);
      std::memcpy(bits + i / 8, &some, (now + 7) / 8);
      marked += hwy::PopCount(some);
    }
    return marked;
  }

  static std::uint64_t load_bits(const std::byte* bits, std::size_t count) noexcept {
    std::uint64_t some = 0;
    std::memcpy(&some, bits, (count + 7) / 8);
    return some;
  }

  // Groups without zeros, and groups of zeros, are frequent.
  static std::size_t pack(const std::byte* values, const std::byte* bits, std::size_t count,
                          std::byte* packed) noexcept {
    std::size_t marked = 0;
    for (std::size_t i = 0; i < count; i += group) {
      const std::size_t now = count - i < group ? count - i : group;
      const std::uint64_t some = load_bits(bits + i / 8, now);
      const std::byte* const from = values + i * width;
      std::byte* const to = packed + marked * width;
      if (some == ~std::uint64_t{0}) {
        std::memcpy(to, from, group * width);
        marked += group;
      } else if (some != 0) {
        marked += marks::pack(from, some, now, to);
      }
    }
    return marked;
  }

  static std::size_t unpack(const std::byte* packed, const std::byte* bits, std::size_t count,
                            std::byte* values) noexcept {
    std::size_t marked = 0;
    for (std::size_t i = 0; i < count; i += group) {
      const std::size_t now = count - i < group ? count - i : group;
      const std::uint64_t some = load_bits(bits + i / 8, now);
      const std::byte* const from = packed + marked * width;
      std::byte* const to = values + i * width;
      if (some == ~std::uint64_t{0}) {
        std::memcpy(to, from, group * width);
        marked += group;
      } else if (some == 0) {
        std::memset(to, 0, now * width);
      } else {
        marked += marks::unpack(from, some, now, to);
      }
    }
    return marked;
  }

  static constexpr zero_kernels table{&mark, &pack, &unpack};
};

inline std::size_t count_marks(const std::byte* bits, std::size_t bytes) noexcept {
  std::size_t marked = 0;
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    std::uint64_t some = 0;
    if (bytes - i >= sizeof some)
      std::memcpy(&some, bits + i, sizeof some);
    else
      std::memcpy(&some, bits + i, bytes - i);
    marked += hwy::PopCount(some);
  }
  return marked;
}

inline constexpr zeros_kernels zeros_table{
    HWY_TARGET,
    {zero_kernels_of<std::uint8_t>::table, zero_kernels_of<std::uint16_t>::table, zero_kernels_of<std::uint32_t>::table,
     zero_kernels_of<std::uint64_t>::table},
    &count_marks};

}  // namespace HWY_NAMESPACE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
