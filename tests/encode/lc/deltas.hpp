// SPDX-License-Identifier: MIT
// Leaves that change from checkpoint to checkpoint, and the lossy codec's step in a few plain loops.
#pragma once

#include "cairn/core/float_types.hpp"
#include "cairn/encode/lc.hpp"
#include "cairn/encode/lossless.hpp"
#include "standard.hpp"

namespace deltas {

using bytes = std::vector<std::byte>;

/// Elements of any of the three types, as floats.
inline float get(const bytes& leaf, cairn::dtype type, std::size_t i) {
  if (type == cairn::dtype::f32) {
    float value;
    std::memcpy(&value, leaf.data() + i * 4, 4);
    return value;
  }
  std::uint16_t half;
  std::memcpy(&half, leaf.data() + i * 2, 2);
  return type == cairn::dtype::f16 ? static_cast<float>(cairn::float16::from_bits(half))
                                   : static_cast<float>(cairn::bfloat16::from_bits(half));
}

inline void put(bytes& leaf, cairn::dtype type, std::size_t i, float value) {
  if (type == cairn::dtype::f32) {
    std::memcpy(leaf.data() + i * 4, &value, 4);
    return;
  }
  const std::uint16_t half = type == cairn::dtype::f16 ? cairn::float16(value).bits : cairn::bfloat16(value).bits;
  std::memcpy(leaf.data() + i * 2, &half, 2);
}

inline std::size_t count_of(const bytes& leaf, cairn::dtype type) { return leaf.size() / cairn::size_of(type); }

/// How wild the values are.
enum class nature { tame, denormal, wild };

/// Moves elements as training does; wild ones also jump to NaN, infinity, the largest numbers, denormals and -0.
inline void move(bytes& leaf, cairn::dtype type, std::mt19937& random, nature how, float step) {
  std::normal_distribution<float> normal;
  const float specials[] = {std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            3.4e38F,
                            -3.4e38F,
                            65504.0F,
                            -65504.0F,
                            1e-42F,
                            -1e-44F,
                            -0.0F,
                            0.0F,
                            6e-8F,
                            1e-38F};
  for (std::size_t i = 0; i < count_of(leaf, type); ++i) {
    float value = get(leaf, type, i);
    if (how == nature::denormal) {
      const auto tiny = static_cast<std::uint32_t>(random() % 5000) | static_cast<std::uint32_t>(random() % 2) << 31;
      value = std::bit_cast<float>(tiny);
    } else {
      if (!std::isfinite(value)) value = 0;
      if (random() % 8 != 0) value += normal(random) * step;
    }
    if (how == nature::wild && random() % 300 == 0) value = specials[random() % std::size(specials)];
    put(leaf, type, i, value);
  }
}

/// Moves positive elements as second moments move: by factors, with some that become zero or not zero.
inline void move_positive(bytes& leaf, cairn::dtype type, std::mt19937& random, float step) {
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < count_of(leaf, type); ++i) {
    const float value = std::abs(get(leaf, type, i));
    const float next = random() % 8 == 0 ? value : value * std::exp(step * normal(random));
    put(leaf, type, i, random() % 500 != 0 ? next : value == 0 ? 0.5F : 0.0F);
  }
}

/// Whether an element of a ratio's leaf may be restored so.
inline bool is_near(float real, float restored) {
  if (std::bit_cast<std::uint32_t>(real) == std::bit_cast<std::uint32_t>(restored)) return true;
  const double quotient = static_cast<double>(restored) / static_cast<double>(real);
  return std::isfinite(real) && std::isfinite(restored) && quotient >= 0.5 && quotient <= 2;
}

/// One step as it is described, element by element: the tracked elements that follow from `real` and `tracked`.
inline bytes reference_step(const bytes& real, const bytes& tracked, cairn::dtype type,
                            const cairn::detail::lc::options& options, unsigned bits) {
  struct members {
    std::vector<float> all;
    [[nodiscard]] float midpoint() const {
      const auto [low, high] = std::minmax_element(all.begin(), all.end());
      return static_cast<float>((static_cast<double>(*low) + static_cast<double>(*high)) / 2);
    }
  };
  std::map<std::uint32_t, members> buckets;
  const std::size_t n = count_of(real, type);
  const bool is_ratio = options.delta == cairn::delta_kind::ratio;
  const auto delta = [&](std::size_t i) {
    const float u = get(real, type, i), a = get(tracked, type, i);
    if (!is_ratio) return u - a;
    if (std::signbit(u) != std::signbit(a) || (u == 0) != (a == 0) || !std::isfinite(u) || !std::isfinite(a))
      return 0.0F;
    return static_cast<float>(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(u)) -
                              static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(a)));
  };
  for (std::size_t i = 0; i < n; ++i)
    if (const float d = delta(i); std::isfinite(d) && d != 0)
      buckets[std::bit_cast<std::uint32_t>(d) >> 23].all.push_back(d);
  struct entry {
    std::uint32_t key;
    float value;
    double weight;
  };
  std::vector<entry> line;
  for (const auto& [key, b] : buckets) {
    const float value = b.midpoint();
    const double size = std::abs(static_cast<double>(value));
    line.push_back(
        {key, value,
         options.priority == cairn::promotion::magnitude ? size : size * size * static_cast<double>(b.all.size())});
  }
  std::sort(line.begin(), line.end(),
            [](const auto& a, const auto& b) { return a.weight != b.weight ? a.weight > b.weight : a.key < b.key; });
  line.resize(std::min<std::size_t>(line.size(), (1U << bits) - 1));

  bytes result = tracked;
  for (std::size_t i = 0; i < n; ++i) {
    const float d = delta(i);
    float q = 0;
    for (const auto& e : line)
      if (d != 0 && std::bit_cast<std::uint32_t>(d) >> 23 == e.key) q = e.value;
    const float a = get(tracked, type, i), u = get(real, type, i);
    const auto moved = std::bit_cast<std::uint32_t>(a) +
                       static_cast<std::uint32_t>(static_cast<std::int64_t>(is_ratio ? std::nearbyint(q) : 0));
    put(result, type, i, is_ratio ? std::bit_cast<float>(moved) : a + q);
    const float b = get(result, type, i);
    if (is_ratio ? !is_near(u, b) : (!std::isfinite(d) || !std::isfinite(b)) && u != b)
      std::memcpy(result.data() + i * cairn::size_of(type), real.data() + i * cairn::size_of(type),
                  cairn::size_of(type));
  }
  return result;
}

/// Largest |decoded - real| and the L2 errors over finite elements, plainly.
inline cairn::loss reference_loss(const bytes& real, const bytes& decoded, cairn::dtype type, const bytes& parent) {
  double largest = 0, squares = 0, real_squares = 0, delta_squares = 0;
  for (std::size_t i = 0; i < count_of(real, type); ++i) {
    const auto u = static_cast<double>(get(real, type, i));
    if (!std::isfinite(u)) continue;
    const double e = static_cast<double>(get(decoded, type, i)) - u;
    largest = std::max(largest, std::abs(e));
    squares += e * e;
    real_squares += u * u;
    const float a = get(parent, type, i), d = get(real, type, i) - a;
    if (std::isfinite(d)) delta_squares += (u - static_cast<double>(a)) * (u - static_cast<double>(a));
  }
  const auto part = [&](double of) { return squares == 0 ? 0 : std::sqrt(squares / of); };
  return {largest, part(real_squares), part(delta_squares)};
}

/// One checkpoint after another: what the writer tracks and what a reader has.
struct chain {
  cairn::dtype type;
  bytes tracked, read;
  cairn::code_tables tables{};
  cairn::encode_result last{};
  std::size_t new_tables = 0;  ///< of the last save
  bytes payload{};

  chain(cairn::dtype of, const bytes& anchor) : type(of), tracked(anchor), read(anchor) {}

  template <class Codec>
  void save(const Codec& codec, const bytes& real, unsigned threads = 1) {
    payload.assign(codec.bound(type, real.size()), std::byte{0xA5});
    last = codec.encode({"leaf", type, real, tracked, threads, &tables}, payload);
    payload.resize(last.bytes);
    new_tables = 0;
    for (const auto& table : last.tables) {
      if (tables.find(table.id) == nullptr) ++new_tables;
      tables.add(table);
    }
    if (!last.lost) tracked = real;
  }

  /// False where the codec wants the elements to be stored as they are.
  template <class Codec>
  bool load(const Codec& codec, const bytes& real, unsigned threads = 1) {
    if (last.codec.empty()) return read = real, false;
    if (!last.relative) std::fill(read.begin(), read.end(), std::byte{0x5A});
    const cairn::decode_request from{"file", "leaf", type, payload, read, threads, &tables, last.relative};
    if (last.codec == "lc2" || last.codec == "lc3")
      codec.decode(from);
    else
      cairn::codecs::lossless{}.decode(from);
    return true;
  }
};

}  // namespace deltas
