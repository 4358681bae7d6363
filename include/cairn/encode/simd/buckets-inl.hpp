// Kernels of buckets.hpp, for one target.
HWY_BEFORE_NAMESPACE();
namespace cairn::simd {
inline namespace CAIRN_SIMD_BASE {
namespace HWY_NAMESPACE {
namespace bucket_code {

namespace hn = hwy::HWY_NAMESPACE;

using float_tag = hn::CappedTag<float, 16>;
using bits_tag = hn::RebindToUnsigned<float_tag>;
using floats = hn::Vec<float_tag>;
using bits = hn::Vec<bits_tag>;

// Layouts go by rows of 16 elements, whatever the lanes.
inline constexpr std::size_t row = 16;

/// Hardware stops fetching ahead at the end of a page; far enough ahead for memory, it doubles the speed of two streams.
HWY_INLINE void fetch_ahead(const float* at) { __builtin_prefetch(reinterpret_cast<const char*>(at) + 4096); }

template <class T>
HWY_INLINE void copy(const T* in, std::size_t n, T* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = in[i];
}

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

/// Least distances of members from both ends of a range: unsigned, what is no member is farther than any member.
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
  const hn::RebindToSigned<bits_tag> compared;  // magnitudes have no highest bit, and AVX2 compares signed numbers
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

/// The symbols of K keys, from S on.
template <std::size_t K, std::uint32_t S = 1>
struct classes {
  bits key;
  classes<K - 1, S + 1> others;

  HWY_INLINE void start(const symbol_table& symbols) {
    key = hn::Set(bits_tag(), symbols.keys[S]);
    others.start(symbols);
  }
  HWY_INLINE bits symbol(bits keys, bits so_far) const {
    const auto now = hn::IfThenElse(hn::Eq(keys, key), hn::Set(bits_tag(), S), so_far);
    return others.symbol(keys, now);
  }
};
template <std::uint32_t S>
struct classes<0, S> {
  HWY_INLINE void start(const symbol_table&) {}
  HWY_INLINE bits symbol(bits, bits so_far) const { return so_far; }
};

/// What symbols add: one permutation where eight values fit into a vector.
struct additions {
#if HWY_TARGET == HWY_SCALAR
  const symbol_table& symbols;
  HWY_INLINE explicit additions(const symbol_table& s) : symbols(s) {}
  HWY_INLINE floats value(bits symbol) const { return hn::Set(float_tag(), symbols.values[hn::GetLane(symbol)]); }
#else
  static constexpr bool permutes = hn::MaxLanes(float_tag()) >= 8;
  floats some, others;
  HWY_INLINE explicit additions(const symbol_table& s) {
    float both[row];
    for (std::size_t i = 0; i < row; ++i) both[i] = s.values[i % 8];
    some = hn::LoadU(float_tag(), both);
    others = some;
    if constexpr (!permutes) others = hn::LoadU(float_tag(), both + 4);
  }
  HWY_INLINE floats value(bits symbol) const {
    const float_tag d;
    const bits_tag db;
    if constexpr (permutes) {
      return hn::TableLookupLanes(some, hn::IndicesFromVec(d, symbol));
    } else {
      const auto within = hn::IndicesFromVec(d, hn::And(symbol, hn::Set(db, 3)));
      const auto high = hn::RebindMask(d, hn::Eq(hn::And(symbol, hn::Set(db, 4)), hn::Set(db, 4)));
      return hn::IfThenElse(high, hn::TableLookupLanes(others, within), hn::TableLookupLanes(some, within));
    }
  }
#endif
};

/// Both sides of the codec add here. Not `Max`, whose result for +0 and -0 is not the same everywhere.
HWY_INLINE floats add_above(floats a, floats value, floats floor) {
  const auto sum = hn::Add(a, value);
  return hn::IfThenElse(hn::Lt(sum, floor), floor, sum);
}

template <int Bits>
struct packing {
  static constexpr int slot = Bits == 2 ? 2 : 4;  // bits that a symbol takes
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

using double_tag = hn::CappedTag<double, 8>;
using half_tag = hn::Rebind<float, double_tag>;  // as many floats
using doubles = hn::Vec<double_tag>;

/// Squares of at most 26 bits have no rounding error: it does not matter whether a compiler fuses their addition.
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

inline constexpr buckets_kernels buckets_table{&bucket_code::deltas, &bucket_code::survey, &bucket_code::pack2,
                                               &bucket_code::pack3,  &bucket_code::add2,   &bucket_code::add3,
                                               &bucket_code::errors};

}  // namespace HWY_NAMESPACE
}  // namespace CAIRN_SIMD_BASE
}  // namespace cairn::simd
HWY_AFTER_NAMESPACE();
