// SPDX-License-Identifier: MIT
#include "cairn/encode/lc.hpp"
#include "cairn/encode/code_table_text.hpp"

#include <cfenv>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "catch.hpp"
#include "cairn/encode/lc/buckets.hpp"
#include "cairn/encode/lc/quantize.hpp"
#include "encode/lc/deltas.hpp"
#include "encode/ranges.hpp"

using namespace cairn;
using namespace deltas;
using codecs::lc;

namespace {

constexpr dtype types[] = {dtype::f32, dtype::bf16, dtype::f16};

/// The payloads of consecutive deltas of `size` bytes of elements merged, the oldest first.
std::optional<bytes> merged_below(std::size_t size, std::span<const bytes> payloads) {
  std::vector<merge_request::delta> deltas;
  for (const auto& payload : payloads) deltas.push_back({"lc3", "file", payload});
  return lc<2>{}.merge({.path = "leaf", .type = dtype::f32, .bytes = size, .deltas = deltas});
}

/// However large that becomes.
bytes merged(std::span<const bytes> payloads) {
  return merged_below(std::numeric_limits<std::size_t>::max(), payloads).value();
}

bytes new_leaf(dtype type, std::size_t n, std::mt19937& random) {
  bytes leaf(n * size_of(type));
  move(leaf, type, random, nature::tame, 0.5F);
  return leaf;
}

/// A codec and the options that it has.
template <int Bits>
lc<Bits> codec_with(const detail::lc::options& o) {
  return {o.priority, o.delta, o.max_error, o.max_delta_l2};
}

std::vector<detail::lc::options> all_options() {
  std::vector<detail::lc::options> all;
  for (const auto priority : {promotion::magnitude, promotion::energy})
    for (const auto delta : {delta_kind::difference, delta_kind::ratio}) {
      detail::lc::options o;
      o.priority = priority;
      o.delta = delta;
      all.push_back(o);
    }
  return all;
}

/// Never less than the true value, but for the rounding of the test's own sums.
bool is_rounded_up(double recorded, double real) {
  return recorded == real || (recorded >= real * (1 - 1e-12) && recorded <= real * (1 + 1e-6));
}

bool are_near(const bytes& real, const bytes& restored, dtype type) {
  for (std::size_t i = 0; i < count_of(real, type); ++i)
    if (!is_near(get(real, type, i), get(restored, type, i))) return false;
  return true;
}

/// Follows a chain of checkpoints and checks every one; the number of quantized payloads.
template <int Bits>
std::size_t follow(dtype type, const detail::lc::options& options, nature how, std::size_t n, int checkpoints,
                   std::uint32_t seed) {
  std::mt19937 random(seed);
  auto real = new_leaf(type, n, random);
  const bool is_ratio = options.delta == delta_kind::ratio;
  if (is_ratio) move_positive(real, type, random, 1);
  chain c(type, real);
  const auto codec = codec_with<Bits>(options);
  std::size_t quantized = 0;
  for (int t = 0; t < checkpoints; ++t) {
    if (is_ratio && how == nature::tame)
      move_positive(real, type, random, t % 7 == 0 ? 0.1F : 0.01F);
    else
      move(real, type, random, how, t % 7 == 0 ? 0.05F : 0.001F);
    const auto parent = c.tracked;
    c.save(codec, real, 1 + static_cast<unsigned>(t % 4));
    c.load(codec, real, 1 + static_cast<unsigned>(t % 3));
    REQUIRE(c.read == c.tracked);
    if (!c.last.lost) continue;
    ++quantized;
    REQUIRE(c.last.relative);
    REQUIRE(c.tracked == reference_step(real, parent, type, options, std::to_integer<unsigned>(c.payload[2])));
    const auto lost = reference_loss(real, c.tracked, type, parent);
    REQUIRE(c.last.lost->max_error == lost.max_error);
    REQUIRE(is_rounded_up(c.last.lost->relative_l2, lost.relative_l2));
    REQUIRE(is_rounded_up(c.last.lost->delta_l2.value(), lost.delta_l2.value()));
    if (is_ratio) REQUIRE(are_near(real, c.tracked, type));
  }
  return quantized;
}

struct rounding {
  explicit rounding(int mode) { std::fesetround(mode); }
  ~rounding() { std::fesetenv(FE_DFL_ENV); }
};

}  // namespace

TEST_CASE("lc: decoding gives what the writer tracks, over chains of 100 checkpoints") {
  for (const auto type : types)
    for (const auto how : {nature::tame, nature::denormal, nature::wild}) {
      INFO(name(type) << ' ' << static_cast<int>(how));
      std::uint32_t seed = 1;
      for (const auto& options : all_options()) {
        const auto least = how == nature::tame ? 90U : options.delta == delta_kind::ratio ? 0U : 10U;  // signs change
        CHECK(follow<2>(type, options, how, 1500, 100, seed) >= least);
        CHECK(follow<3>(type, options, how, 1100, 100, seed) >= least);
        ++seed;
      }
    }
}

TEST_CASE("lc: big leaves, which are quantized in place, and any number of threads") {
  std::mt19937 random(11);
  for (const auto type : types)
    for (const std::size_t n : {std::size_t{40'000}, std::size_t{2'300'001}}) {
      auto real = new_leaf(type, n, random);
      chain c(type, real);
      for (int t = 0; t < (n > 100'000 ? 2 : 10); ++t) {
        move(real, type, random, t == 5 ? nature::wild : nature::tame, 0.01F);
        const bool two = t % 2 == 0;
        detail::lc::options options;
        const auto parent = c.tracked;
        const auto expected = reference_step(real, c.tracked, type, options, two ? 2 : 3);
        const auto save = [&](chain& to, unsigned threads) {
          two ? to.save(codec_with<2>(options), real, threads) : to.save(codec_with<3>(options), real, threads);
        };
        for (const unsigned threads : {2U, 3U, 4U}) {
          auto other = c;
          auto first = c;
          save(first, 1);
          save(other, threads);
          CHECK(other.payload == first.payload);
          CHECK(other.tracked == first.tracked);
          CHECK(other.last.lost == first.last.lost);
          CHECK(other.last.tables == first.last.tables);
        }
        save(c, 1);
        REQUIRE(c.last.codec == (two ? "lc2" : "lc3"));
        CHECK(c.tracked == expected);
        CHECK(c.last.bytes < real.size() / (two ? 3 : 2));
        const auto lost = reference_loss(real, c.tracked, type, parent);
        CHECK(c.last.lost->max_error == lost.max_error);
        CHECK(is_rounded_up(c.last.lost->delta_l2.value(), lost.delta_l2.value()));
        c.load(lc<2>{}, real, static_cast<unsigned>(t % 5));
        CHECK(c.read == c.tracked);
      }
    }
}

TEST_CASE("lc: the caller's floating-point modes do not matter") {
  for (const auto type : types)
    for (const auto how : {nature::tame, nature::denormal, nature::wild})
      for (const std::size_t n : {std::size_t{700}, std::size_t{70'000}}) {
        std::mt19937 random(12);
        const auto anchor = new_leaf(type, n, random);
        auto real = anchor;
        move(real, type, random, how, 0.01F);
        for (const auto priority : {promotion::magnitude, promotion::energy}) {
          const lc<3> codec{.priority = priority};
          chain plain(type, anchor);
          plain.save(codec, real);
          const auto check = [&] {
            chain other(type, anchor);
            other.save(codec, real, 2);
            other.load(codec, real, 2);
            return other.payload == plain.payload && other.tracked == plain.tracked && other.read == plain.tracked &&
                   other.last.lost == plain.last.lost;
          };
          for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
            bool same = false;
            {
              const rounding other(mode);
              same = check() && std::fegetround() == mode;
            }
            CHECK(same);
          }
#if defined(__SSE2__)
          const unsigned before = _mm_getcsr();
          _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
          const bool same = check() && (_mm_getcsr() & 0x8040) == 0x8040;
          _mm_setcsr(before);
          CHECK(same);
#endif
        }
      }
}

TEST_CASE("lc: what it is not for goes without loss") {
  std::mt19937 random(13);
  const auto check = [&](const encode_request& in) {
    bytes out(lc<2>{}.bound(in.type, in.values.size()));
    const bytes before(in.reference.begin(), in.reference.end());
    const auto made = lc<2>{}.encode(in, out);
    CHECK((made.codec == "lossless" || made.codec.empty()));
    CHECK(!made.lost);
    CHECK(!made.relative);
    CHECK(std::equal(before.begin(), before.end(), in.reference.begin(), in.reference.end()));
  };
  auto real = new_leaf(dtype::f32, 1000, random), other = new_leaf(dtype::f32, 1000, random);
  check({"no parent", dtype::f32, real});
  check({"other parent", dtype::f32, real, std::span(other).first(400)});
  check({"integers", dtype::i32, real, other});
  check({"doubles", dtype::f64, real, other});
  check({"small", dtype::f32, std::span(real).first(12), std::span(other).first(12)});
  check({"nothing", dtype::f32, {}, {}});
  for (std::size_t i = 0; i < 1000; i += 10) put(real, dtype::f32, i, std::numeric_limits<float>::quiet_NaN());
  check({"many exceptions", dtype::f32, real, other});
}

TEST_CASE("lc: what a bucket's value would carry beyond the largest number is kept exactly") {
  std::mt19937 random(21);
  for (const auto type : types) {
    const bool half = type == dtype::f16;
    const float largest = half ? 65504.0F : 3.38e38F;
    const float little = half ? 2112.0F : 2.2e37F, much = half ? 4000.0F : 4.2e37F;  // of one exponent
    for (const std::size_t n : {std::size_t{500}, std::size_t{50'000}}) {
      auto anchor = new_leaf(type, n, random);
      auto real = anchor;
      put(anchor, type, 70, largest - little);
      put(real, type, 70, largest);
      put(anchor, type, 71, 0);
      put(real, type, 71, much);
      const auto expected = reference_step(real, anchor, type, {}, 2);
      chain c(type, anchor);
      c.save(lc<2>{}, real, 2);
      REQUIRE(c.last.codec == "lc2");
      CHECK(get(c.tracked, type, 70) == get(real, type, 70));
      CHECK(get(c.tracked, type, 71) != get(real, type, 71));
      CHECK(c.tracked == expected);
      CHECK(c.last.lost->max_error == reference_loss(real, c.tracked, type, anchor).max_error);
      c.load(lc<2>{}, real, 2);
      CHECK(c.read == c.tracked);
    }
  }
}

TEST_CASE("lc: buckets save, promotion saves more, and coding more again") {
  std::mt19937 random(22);
  const std::size_t n = 200'000;
  const auto anchor = new_leaf(dtype::f32, n, random);
  auto real = anchor;
  move(real, dtype::f32, random, nature::tame, 0.01F);
  detail::lc::bucket_table table;
  for (std::size_t i = 0; i < n; ++i) table.add(std::vector{get(real, dtype::f32, i) - get(anchor, dtype::f32, i)});
  // As published: the number of a bucket or a symbol for each element, and 4 bytes for each bucket; one is for 0.
  const auto buckets = table.buckets().size() + 1;
  const auto bucketed = (n * static_cast<std::size_t>(std::bit_width(buckets - 1)) + 7) / 8 + 4 * buckets;
  CHECK(bucketed < real.size() / 4);
  const auto check = [&](const auto& codec, unsigned bits) {
    chain c(dtype::f32, anchor);
    c.save(codec, real);
    const std::size_t tables = c.new_tables * sizeof(code_table);
    const auto promoted = (n * bits + 7) / 8 + 4 * ((std::size_t{1} << bits) - 1);
    CHECK(promoted < bucketed);
    CHECK(c.last.bytes + tables < promoted);
  };
  check(lc<2>{}, 2);
  check(lc<3>{}, 3);
}

TEST_CASE("lc: equal elements, and a constant delta, take next to nothing") {
  std::mt19937 random(14);
  const auto anchor = new_leaf(dtype::f32, 3'000'000, random);
  chain c(dtype::f32, anchor);
  c.save(lc<2>{}, anchor);
  CHECK(c.last.bytes < 64);
  CHECK(c.last.lost == loss{0, 0, 0});
  c.load(lc<2>{}, anchor);
  CHECK(c.read == c.tracked);
}

TEST_CASE("lc: bounds are kept, with more bits or without loss") {
  std::mt19937 random(15);
  for (const auto type : types)
    for (const auto bounded : {&lc<2>::max_error, &lc<2>::max_delta_l2}) {
      std::set<std::string> seen;
      for (const double bound : {1.0, 0.98, 0.8, 0.6, 0.4, 0.2, 0.1, 0.02, 0.008, 0.004, 0.002, 0.0009, 1e-5, 0.0}) {
        const auto anchor = new_leaf(type, 5000, random);
        auto real = anchor;
        move(real, type, random, nature::tame, 0.01F);
        chain c(type, anchor);
        lc<2> codec;
        codec.*bounded = bound;
        c.save(codec, real);
        c.load(codec, real);
        CHECK(c.read == c.tracked);
        const auto lost = reference_loss(real, c.tracked, type, anchor);
        CHECK((bounded == &lc<2>::max_error ? lost.max_error : lost.delta_l2.value()) <= bound);
        seen.insert(c.last.lost ? std::string(1, static_cast<char>('0' + std::to_integer<int>(c.payload[2])))
                                : "lossless");
      }
      CHECK(seen == std::set<std::string>{"2", "3", "lossless"});
    }
}

TEST_CASE("lc: a leaf that exceeds a bound with the largest buckets is quantized with those of most energy") {
  std::mt19937 random(18);
  std::uniform_real_distribution<float> most(0x1p-10F, 0x1p-9F);
  const auto anchor = new_leaf(dtype::f32, 5000, random);
  auto real = anchor;
  for (std::size_t i = 0; i < 5000; ++i) {
    const float few = std::ldexp(i % 2 == 0 ? 1.0F : -1.0F, -5 - static_cast<int>(i / 2 % 4));  // the largest buckets
    put(real, dtype::f32, i, get(anchor, dtype::f32, i) + (i < 8 ? few : most(random)));
  }
  const auto saved = [&](const auto& codec) {
    chain c(dtype::f32, anchor);
    c.save(codec, real);
    c.load(codec, real);
    CHECK(c.read == c.tracked);
    return std::pair(c.last, c.payload);
  };
  CHECK(saved(lc<3>{}).first.lost->delta_l2 > 0.5);
  const auto two = saved(lc<2>{.max_delta_l2 = 0.5}), three = saved(lc<3>{.max_delta_l2 = 0.5});
  CHECK(two.second == saved(lc<2>{.priority = promotion::energy, .max_delta_l2 = 0.5}).second);
  CHECK(three.second == saved(lc<3>{.priority = promotion::energy, .max_delta_l2 = 0.5}).second);
  for (const auto& each : {two, three}) {
    REQUIRE(each.first.lost);
    CHECK(each.first.lost->delta_l2 <= 0.5);
    CHECK(each.first.bytes < 5000);
  }
}

TEST_CASE("lc: a bound that is negative or NaN is refused") {
  std::mt19937 random(19);
  const auto anchor = new_leaf(dtype::f32, 5000, random);
  for (const auto bounded : {&lc<2>::max_error, &lc<2>::max_delta_l2})
    for (const double bound : {-1.0, -0x1p-1074, std::numeric_limits<double>::quiet_NaN()}) {
      chain c(dtype::f32, anchor);
      lc<2> codec;
      codec.*bounded = bound;
      CHECK_THROWS_WITH(c.save(codec, anchor), Catch::Contains("a bound of codec lc2 is negative or NaN"));
      std::vector<std::byte> out(codec.bound(dtype::f32, anchor.size()));
      CHECK_THROWS_WITH(codec.encode({"leaf", dtype::f32, anchor}, out), Catch::Contains("leaf: a bound of codec lc2"));
    }
}

TEST_CASE("lc: few elements beyond max_error are stored exactly, and the leaf is still quantized") {
  std::mt19937 random(16);
  for (const auto type : types) {
    const auto anchor = new_leaf(type, 6400, random);
    auto real = anchor;
    move(real, type, random, nature::tame, 0.001F);
    for (std::size_t i = 0; i < 6400; i += 100)
      put(real, type, i, get(anchor, type, i) + 1 + 0.1F * static_cast<float>(i % 9));
    chain c(type, anchor);
    c.save(lc<2>{.max_error = 0.05}, real);
    REQUIRE(c.last.codec == "lc2");
    CHECK(c.payload[2] == std::byte{2});
    CHECK(c.last.lost->max_error <= 0.05);
    CHECK(c.last.lost->max_error > 0);
    for (std::size_t i = 0; i < 6400; i += 100) CHECK(std::abs(get(c.tracked, type, i) - get(real, type, i)) <= 0.05F);
    c.load(lc<2>{}, real);
    CHECK(c.read == c.tracked);
  }
}

TEST_CASE("lc: infinities that stay, as in masks, are no exceptions") {
  std::mt19937 random(17);
  for (const auto type : types) {
    auto anchor = new_leaf(type, 5000, random);
    for (std::size_t i = 0; i < 5000; i += 2)
      put(anchor, type, i, (i % 4 == 0 ? -1 : 1) * std::numeric_limits<float>::infinity());
    auto real = anchor;
    for (std::size_t i = 1; i < 5000; i += 2) put(real, type, i, get(real, type, i) + 0.01F);
    for (const auto delta : {delta_kind::difference, delta_kind::ratio}) {
      chain c(type, anchor);
      c.save(lc<3>{.delta = delta}, real);
      if (delta == delta_kind::difference) REQUIRE(c.last.codec == "lc3");
      c.load(lc<3>{}, real);
      CHECK(c.read == c.tracked);
      for (std::size_t i = 0; i < 5000; i += 2) REQUIRE(get(c.tracked, type, i) == get(real, type, i));
    }
  }
}

TEST_CASE("lc: code tables are used again, and rebuilt when they do not fit any more") {
  std::mt19937 random(17);
  auto real = new_leaf(dtype::f32, 400'000, random);
  chain c(dtype::f32, real);
  const auto next = [&](float step, double share) {
    for (std::size_t i = 0; i < 400'000; ++i) {
      const float jump = static_cast<double>(random() % 1000) < share * 1000 ? step : step / 64;
      put(real, dtype::f32, i, get(c.tracked, dtype::f32, i) + (random() % 2 == 0 ? jump : -jump));
    }
    c.save(lc<2>{}, real);
    REQUIRE(c.last.codec == "lc2");
    REQUIRE(c.load(lc<2>{}, real));
    REQUIRE(c.read == c.tracked);
    return c.new_tables;
  };
  CHECK(next(0.7F, 0.05) == 1);
  CHECK(next(0.7F, 0.05) == 0);
  CHECK(next(3.0F, 0.05) == 0);  // other buckets, the same frequencies
  CHECK(next(3.0F, 0.4) == 1);   // stale
  CHECK(next(3.0F, 0.05) == 0);  // the first one is known still
  CHECK(c.tables.all().size() == 2);

  SECTION("a payload whose table is not there is refused") {
    c.tables.clear();
    CHECK_THROWS_WITH(c.load(lc<2>{}, real), ContainsSubstring("file: leaf: ") && ContainsSubstring("code table"));
  }
  SECTION("a table that lacks what is frequent is not used") {
    code_lengths few{};
    few[0] = few[1] = 1;
    c.tables.clear();
    c.tables.add(detail::make_code_table(few));
    CHECK(next(3.0F, 0.05) == 1);
  }
  SECTION("nor is one that cannot be decoded") {
    code_lengths all_short{};
    all_short.fill(1);
    c.tables.add(detail::make_code_table(all_short));
    CHECK(next(3.0F, 0.05) == 0);
  }
}

TEST_CASE("lc: whichever of two signs is a little larger, symbols and their code stay") {
  std::mt19937 random(23);
  const std::size_t n = 400'000;
  for (const float turn : {1.0F, -1.0F}) {
    chain c(dtype::f32, bytes(n * 4));
    for (const float more : {turn, -turn}) {
      auto real = c.tracked = c.read = bytes(n * 4);
      for (std::size_t i = 0; i < n; ++i) {
        const auto die = random() % 100;
        put(real, dtype::f32, i, die < 20 ? 0.7F + more * 0.01F : die < 23 ? -0.7F : 0.0F);
      }
      c.save(lc<2>{}, real);
      REQUIRE(c.last.codec == "lc2");
      CHECK(c.new_tables == (more == turn ? 1 : 0));
    }
  }
}

TEST_CASE("lc: merged payloads give what they give in turn") {
  std::mt19937 random(18);
  for (const auto type : types) {
    auto real = new_leaf(type, 5000, random);
    for (std::size_t i = 0; i < 5000; ++i)
      put(real, type, i, 1 + 0.1F * get(real, type, i));  // nearly all keep their sign
    const auto anchor = real;
    chain c(type, real);
    std::vector<bytes> payloads;
    for (int t = 0; t < 12; ++t) {
      move(real, type, random, t % 5 == 2 ? nature::wild : nature::tame, 0.01F);
      const auto delta = t % 4 == 1 ? delta_kind::ratio : delta_kind::difference;
      if (t % 2 == 0)
        c.save(lc<2>{.delta = delta}, real);
      else
        c.save(lc<3>{.delta = delta}, real);
      REQUIRE(c.last.relative);
      payloads.push_back(c.payload);
    }
    const std::span all(payloads);
    const bytes halves[] = {merged(all.first(5)), merged(all.subspan(5))};
    CHECK(merged(halves) == merged(all));
    CHECK(merged(all.first(1)) == payloads[0]);
    const auto joined = merged(halves);
    for (const unsigned threads : {1U, 3U}) {
      auto values = anchor;
      lc<2>{}.decode({"file", "leaf", type, joined, values, threads, &c.tables, true});
      CHECK(values == c.tracked);
    }
    CHECK_FALSE(lc<2>{}.merge({.path = "leaf", .type = type}));
    const merge_request::delta foreign[] = {{"lc2", "file", payloads[0]}, {"lossless", "file", payloads[1]}};
    CHECK_FALSE(lc<2>{}.merge({.path = "leaf", .type = type, .deltas = foreign}));
    const bytes broken[] = {payloads[0], bytes(3)};
    CHECK_THROWS_AS(merged(broken), error);
  }
}

TEST_CASE("lc: deltas are merged only while that is smaller than the elements") {
  for (const auto type : {dtype::bf16, dtype::f32})
    for (const auto priority : {promotion::magnitude, promotion::energy}) {
      std::mt19937 random(19);
      auto real = new_leaf(type, 100'000, random);
      chain c(type, real);
      std::vector<bytes> payloads;
      for (int t = 0; t < 20; ++t) {
        move(real, type, random, nature::tame, 0.001F);
        c.save(lc<3>{.priority = priority}, real);
        REQUIRE(c.last.relative);
        payloads.push_back(c.payload);
      }
      const std::span all(payloads);
      CHECK(merged_below(real.size(), all.first(2)) == merged(all.first(2)));
      CHECK_FALSE(merged_below(real.size(), all));
      const auto size = merged(all).size();
      CHECK(merged_below(size + 1, all));
      CHECK_FALSE(merged_below(size, all));
    }
}

TEST_CASE("lc: any elements are decoded from the bytes that are asked for, of merged payloads too") {
  std::mt19937 random(43);
  for (const auto type : types)
    for (const std::size_t n : {std::size_t{64}, std::size_t{5000}, (std::size_t{1} << 21) + 77}) {
      auto real = new_leaf(type, n, random);
      const auto anchor = real;
      chain c(type, real);
      std::vector<bytes> payloads, tracked;
      for (int t = 0; t < 3; ++t) {
        move(real, type, random, nature::tame, 0.01F);
        c.save(lc<3>{}, real);
        if (!c.last.relative) break;  // too small to be quantized
        payloads.push_back(c.payload);
        tracked.push_back(c.tracked);
      }
      if (payloads.size() < 3) continue;
      const auto check = [&](const bytes& payload, const bytes& before, const bytes& after) {
        tests::check_ranges(lc<2>{},
                            {.where = "f",
                             .path = "p",
                             .type = type,
                             .payload = payload,
                             .values = {},
                             .known_tables = &c.tables,
                             .relative = true},
                            before, after, random);
      };
      check(payloads[2], tracked[1], tracked[2]);
      check(merged(payloads), anchor, tracked[2]);
    }
}

TEST_CASE("lc: any bytes are refused or decoded, and nothing else is written") {
  std::mt19937 random(20);
  for (const auto type : types) {
    const auto anchor = new_leaf(type, 300, random);
    auto real = anchor;
    move(real, type, random, nature::wild, 0.01F);
    put(real, type, 77, std::numeric_limits<float>::infinity());
    chain c(type, anchor);
    c.save(lc<3>{}, real);
    REQUIRE(c.last.codec == "lc3");
    const bytes twice[] = {c.payload, c.payload};
    for (const auto& whole : {c.payload, merged(twice)}) {
      std::size_t refused = 0;
      const auto decode = [&](const bytes& payload) {
        const bytes exact(payload);  // a heap block of just this size: a sanitizer sees what is read after it
        auto values = anchor;
        try {
          lc<3>{}.decode({"file", "leaf", type, exact, values, 1, nullptr, true});
        } catch (const error& e) {
          CHECK(e.code() == errc::corrupt);
          ++refused;
        }
      };
      for (std::size_t length = 0; length < whole.size(); ++length)
        decode({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
      CHECK(refused == whole.size());
      for (int more = 1; more < 20; ++more) {
        auto longer = whole;
        longer.resize(whole.size() + static_cast<std::size_t>(more), static_cast<std::byte>(random()));
        decode(longer);
      }
      CHECK(refused == whole.size() + 19);
      for (std::size_t i = 0; i < whole.size(); ++i)
        for (unsigned value = 1; value < 256; value += i < 40 ? 1 : 37) {
          auto flipped = whole;
          flipped[i] ^= static_cast<std::byte>(value);
          decode(flipped);
        }
    }
  }
  bytes values(12);
  CHECK_THROWS_AS(lc<2>{}.decode({"file", "leaf", dtype::i32, {}, values, 1, nullptr, true}), error);
}

TEST_CASE("lc: with most_exceptions a leaf is quantized, with one more it is encoded without loss") {
  constexpr std::size_t n = 64 * 320;
  std::mt19937 random(21);
  const auto anchor = new_leaf(dtype::f32, n, random);
  for (const std::size_t more : {0U, 1U}) {
    auto real = anchor;
    move(real, dtype::f32, random, nature::tame, 0.01F);
    for (std::size_t i = 0; i < detail::lc::most_exceptions(n) + more; ++i)
      put(real, dtype::f32, i * 17, std::numeric_limits<float>::infinity());
    chain c(dtype::f32, anchor);
    c.save(lc<2>{}, real);
    CHECK((c.last.codec == "lc2") == (more == 0));
    c.load(lc<2>{}, real);
    CHECK(c.read == c.tracked);
  }
}

TEST_CASE("lc: a payload that the file does not call relative is refused") {
  std::mt19937 random(27);
  const auto anchor = new_leaf(dtype::f32, 20'000, random);
  auto real = anchor;
  move(real, dtype::f32, random, nature::tame, 0.01F);
  chain c(dtype::f32, anchor);
  c.save(lc<2>{}, real);
  REQUIRE(c.last.codec == "lc2");
  bytes values(real.size());
  CHECK_THROWS_AS(lc<2>{}.decode({"file", "leaf", dtype::f32, c.payload, values, 1, &c.tables}), error);
}
