// SPDX-License-Identifier: MIT
// Kernels of symbols.hpp, for one target; included by lc_kernels-inl.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
inline namespace CAIRN_SIMD_BASE {
namespace HWY_NAMESPACE {
namespace symbol_code {
using namespace rows;

/// Compares with the keys of K symbols, from S on.
template <std::size_t K, std::uint32_t S = 1>
struct classes {
  bits key;
  classes<K - 1, S + 1> rest;

  HWY_INLINE classes() {}  // written out: of an implicit one g++ on AArch64 forgets the target
  HWY_INLINE void start(const symbol_table& symbols) {
    key = hn::Set(bits_tag(), symbols.keys[S]);
    rest.start(symbols);
  }
  HWY_INLINE bits symbol(bits keys, bits so_far) const {
    const auto now = hn::IfThenElse(hn::Eq(keys, key), hn::Set(bits_tag(), S), so_far);
    return rest.symbol(keys, now);
  }
};
template <std::uint32_t S>
struct classes<0, S> {
  HWY_INLINE void start(const symbol_table&) {}
  HWY_INLINE bits symbol(bits, bits so_far) const { return so_far; }
};

/// Looks up the values of symbols: with one permutation where a vector has eight lanes, else with two.
struct additions {
#if HWY_TARGET == HWY_SCALAR
  const symbol_table& symbols;
  HWY_INLINE explicit additions(const symbol_table& s) : symbols(s) {}
  HWY_INLINE floats value(bits symbol) const { return hn::Set(float_tag(), symbols.values[hn::GetLane(symbol)]); }
#else
  static constexpr bool permutes = hn::MaxLanes(float_tag()) >= 8;
  floats low, high;  // the values of symbols 0 to 3 and 4 to 7; with one permutation, `low` has all
  HWY_INLINE explicit additions(const symbol_table& s) {
    float both[row];
    for (std::size_t i = 0; i < row; ++i) both[i] = s.values[i % 8];
    low = hn::LoadU(float_tag(), both);
    high = low;
    if constexpr (!permutes) high = hn::LoadU(float_tag(), both + 4);
  }
  HWY_INLINE floats value(bits symbol) const {
    const float_tag d;
    const bits_tag db;
    if constexpr (permutes) {
      return hn::TableLookupLanes(low, hn::IndicesFromVec(d, symbol));
    } else {
      const auto within = hn::IndicesFromVec(d, hn::And(symbol, hn::Set(db, 3)));
      const auto is_high = hn::RebindMask(d, hn::Eq(hn::And(symbol, hn::Set(db, 4)), hn::Set(db, 4)));
      return hn::IfThenElse(is_high, hn::TableLookupLanes(high, within), hn::TableLookupLanes(low, within));
    }
  }
#endif
};

/// Encoder and decoder share this addition. Not `Max`: its result for +0 and -0 depends on the target.
HWY_INLINE floats add_above(floats a, floats value, floats floor) {
  const auto sum = hn::Add(a, value);
  return hn::IfThenElse(hn::Lt(sum, floor), floor, sum);
}

template <int Bits>
struct packing {
  static constexpr int slot = Bits == 2 ? 2 : 4;  // bits of a packed symbol
  static constexpr std::size_t rows = 32 / slot, elements = rows * row;
  static constexpr std::size_t keys = (1U << Bits) - 1;

  classes<keys> kinds;
  additions adds;
  floats floor;

  HWY_INLINE explicit packing(const symbol_table& symbols) : adds(symbols), floor(hn::Set(float_tag(), symbols.floor)) {
    kinds.start(symbols);
  }

  HWY_INLINE void pack_block(const float* u, const float* a, float* b, std::uint32_t* words) const {
    const float_tag d;
    const bits_tag db;
    const auto zero = hn::Zero(db), none = hn::Set(db, no_key);
    for (std::size_t p = 0; p < row; p += hn::Lanes(d)) {
      auto packed = hn::Zero(db);
      for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = r * row + p;
        fetch_ahead(u + i);
        fetch_ahead(a + i);
        const auto before = hn::LoadU(d, a + i);
        const auto x = hn::BitCast(db, hn::Sub(hn::LoadU(d, u + i), before));
        const auto key = hn::IfThenElse(hn::Eq(hn::Add(x, x), zero), none, hn::ShiftRight<23>(x));
        const auto symbol = kinds.symbol(key, zero);
        hn::StoreU(add_above(before, adds.value(symbol), floor), d, b + i);
        packed = hn::Or(hn::ShiftRight<slot>(packed), hn::ShiftLeft<32 - slot>(symbol));
      }
      hn::StoreU(packed, db, words + p);
    }
  }

  HWY_INLINE void add_block(const std::uint32_t* words, float* a) const {
    const float_tag d;
    const bits_tag db;
    const auto mask = hn::Set(db, static_cast<std::uint32_t>(keys));
    for (std::size_t p = 0; p < row; p += hn::Lanes(d)) {
      auto packed = hn::LoadU(db, words + p);
      for (std::size_t i = p; i < elements; i += row) {
        fetch_ahead(a + i);
        hn::StoreU(add_above(hn::LoadU(d, a + i), adds.value(hn::And(packed, mask)), floor), d, a + i);
        packed = hn::ShiftRight<slot>(packed);
      }
    }
  }
};

template <int Bits>
HWY_INLINE void pack(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                     std::byte* packed) {
  using shape = packing<Bits>;
  const shape code(symbols);
  auto* words = reinterpret_cast<std::uint32_t*>(packed);
  std::size_t i = 0;
  for (; i + shape::elements <= n; i += shape::elements, words += row) code.pack_block(u + i, a + i, b + i, words);
  if (i == n) return;
  float rest_u[shape::elements] = {}, rest_a[shape::elements] = {}, rest_b[shape::elements];
  copy(u + i, n - i, rest_u);
  copy(a + i, n - i, rest_a);
  code.pack_block(rest_u, rest_a, rest_b, words);
  copy(rest_b, n - i, b + i);
}

inline void pack2(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                  std::byte* packed) noexcept {
  pack<2>(u, a, n, symbols, b, packed);
}
inline void pack3(const float* u, const float* a, std::size_t n, const symbol_table& symbols, float* b,
                  std::byte* packed) noexcept {
  pack<3>(u, a, n, symbols, b, packed);
}

template <int Bits>
HWY_INLINE void add(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) {
  using shape = packing<Bits>;
  const shape code(symbols);
  const auto* words = reinterpret_cast<const std::uint32_t*>(packed);
  std::size_t i = 0;
  for (; i + shape::elements <= n; i += shape::elements, words += row) code.add_block(words, a + i);
  if (i == n) return;
  float rest[shape::elements] = {};
  copy(a + i, n - i, rest);
  code.add_block(words, rest);
  copy(rest, n - i, a + i);
}

inline void add2(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept {
  add<2>(packed, n, symbols, a);
}
inline void add3(const std::byte* packed, std::size_t n, const symbol_table& symbols, float* a) noexcept {
  add<3>(packed, n, symbols, a);
}

}  // namespace symbol_code

inline constexpr symbols_kernels symbols_table{HWY_TARGET, &symbol_code::pack2, &symbol_code::pack3, &symbol_code::add2,
                                               &symbol_code::add3};

}  // namespace HWY_NAMESPACE
}  // namespace CAIRN_SIMD_BASE
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
