// SPDX-License-Identifier: MIT
// The symbols_kernels of lc_kernels.hpp, for one target; included by lc_kernels-inl.hpp.
HWY_BEFORE_NAMESPACE();
namespace cairn::inline v0_1::detail::simd {
namespace HWY_NAMESPACE {
namespace symbol_code {
using namespace rows;

// Vectors of scalable targets have no size: they cannot be members of a class. Kernels therefore keep them in local
// variables, and the table in a local copy, which no store can change.

/// The symbols of keys, of symbols S to `Last`; those of other keys are `so_far`.
template <std::uint32_t Last, std::uint32_t S = 1>
HWY_INLINE bits symbols_of(bits keys, const symbol_table& symbols, bits so_far) {
  const bits_tag d;
  const auto now = hn::IfThenElse(hn::Eq(keys, hn::Set(d, symbols.keys[S])), hn::Set(d, S), so_far);
  if constexpr (S == Last)
    return now;
  else
    return symbols_of<Last, S + 1>(keys, symbols, now);
}

/// The values of symbols `first` to `first` + 3, and to `first` + 7 where a vector has eight lanes.
HWY_INLINE floats load_values(const symbol_table& symbols, std::size_t first) {
  float both[row];
  for (std::size_t i = 0; i < row; ++i) both[i] = symbols.values[(first + i) % 8];
  return hn::LoadU(float_tag(), both);
}

/// Looks up the values of symbols: with one permutation where a vector has eight lanes, else with two. `low` and `high`
/// are the values from symbols 0 and 4 on.
HWY_INLINE floats values_of(bits symbol, [[maybe_unused]] const symbol_table& symbols, [[maybe_unused]] floats low,
                            [[maybe_unused]] floats high) {
  const float_tag d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, symbols.values[hn::GetLane(symbol)]);
#else
  const bits_tag db;
  if (hn::Lanes(d) >= 8) return hn::TableLookupLanes(low, hn::IndicesFromVec(d, symbol));
  const auto within = hn::IndicesFromVec(d, hn::And(symbol, hn::Set(db, 3)));
  const auto is_high = hn::RebindMask(d, hn::Eq(hn::And(symbol, hn::Set(db, 4)), hn::Set(db, 4)));
  return hn::IfThenElse(is_high, hn::TableLookupLanes(high, within), hn::TableLookupLanes(low, within));
#endif
}

template <int Bits>
struct packing {
  static constexpr int slot = Bits == 2 ? 2 : 4;  // bits of a packed symbol
  static constexpr std::size_t rows = 32 / slot, elements = rows * row;
  static constexpr std::uint32_t last = (1U << Bits) - 1;
};

template <int Bits>
HWY_INLINE void pack_block(const symbol_table& symbols, floats low, floats high, const float* u, const float* a,
                           float* b, std::uint32_t* words) {
  using shape = packing<Bits>;
  const float_tag d;
  const bits_tag db;
  const auto zero = hn::Zero(db), none = hn::Set(db, zero_key);
  for (std::size_t p = 0; p < row; p += hn::Lanes(d)) {
    auto packed = hn::Zero(db);
    for (std::size_t r = 0; r < shape::rows; ++r) {
      const std::size_t i = r * row + p;
      fetch_ahead(u + i);
      fetch_ahead(a + i);
      const auto before = hn::LoadU(d, a + i);
      const auto x = hn::BitCast(db, hn::Sub(hn::LoadU(d, u + i), before));
      const auto key = hn::IfThenElse(hn::Eq(hn::Add(x, x), zero), none, hn::ShiftRight<23>(x));
      const auto symbol = symbols_of<shape::last>(key, symbols, zero);
      hn::StoreU(hn::Add(before, values_of(symbol, symbols, low, high)), d, b + i);
      packed = hn::Or(hn::ShiftRight<shape::slot>(packed), hn::ShiftLeft<32 - shape::slot>(symbol));
    }
    hn::StoreU(packed, db, words + p);
  }
}

template <int Bits>
HWY_INLINE void add_block(const symbol_table& symbols, floats low, floats high, const std::uint32_t* words, float* a) {
  using shape = packing<Bits>;
  const float_tag d;
  const bits_tag db;
  const auto mask = hn::Set(db, shape::last);
  for (std::size_t p = 0; p < row; p += hn::Lanes(d)) {
    auto packed = hn::LoadU(db, words + p);
    for (std::size_t i = p; i < shape::elements; i += row) {
      fetch_ahead(a + i);
      const auto value = values_of(hn::And(packed, mask), symbols, low, high);
      hn::StoreU(hn::Add(hn::LoadU(d, a + i), value), d, a + i);
      packed = hn::ShiftRight<shape::slot>(packed);
    }
  }
}

template <int Bits>
HWY_INLINE void pack(const float* u, const float* a, std::size_t n, const symbol_table& table, float* b,
                     std::byte* packed) {
  constexpr std::size_t block = packing<Bits>::elements;
  const symbol_table symbols = table;
  const auto low = load_values(symbols, 0), high = load_values(symbols, 4);
  auto* words = reinterpret_cast<std::uint32_t*>(packed);
  std::size_t i = 0;
  for (; i + block <= n; i += block, words += row) pack_block<Bits>(symbols, low, high, u + i, a + i, b + i, words);
  if (i == n) return;
  float rest_u[block] = {}, rest_a[block] = {}, rest_b[block];
  copy(u + i, n - i, rest_u);
  copy(a + i, n - i, rest_a);
  pack_block<Bits>(symbols, low, high, rest_u, rest_a, rest_b, words);
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
HWY_INLINE void add(const std::byte* packed, std::size_t n, const symbol_table& table, float* a) {
  constexpr std::size_t block = packing<Bits>::elements;
  const symbol_table symbols = table;
  const auto low = load_values(symbols, 0), high = load_values(symbols, 4);
  const auto* words = reinterpret_cast<const std::uint32_t*>(packed);
  std::size_t i = 0;
  for (; i + block <= n; i += block, words += row) add_block<Bits>(symbols, low, high, words, a + i);
  if (i == n) return;
  float rest[block] = {};
  copy(a + i, n - i, rest);
  add_block<Bits>(symbols, low, high, words, rest);
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
}  // namespace cairn::inline v0_1::detail::simd
HWY_AFTER_NAMESPACE();
