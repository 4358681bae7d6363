// SPDX-License-Identifier: MIT
#include "cairn/encode/lc/buckets.hpp"

#include <limits>
#include <map>
#include <random>
#include <string>

#include "catch.hpp"
#include "cairn/encode/lc/elements.hpp"

using namespace cairn;
using namespace cairn::detail::lc;

namespace {

const std::vector<float> example = {0.76F, -0.48F, 0.2F, 0.07F, 0.18F, 0.49F, 0.14F, 0.39F, 0.82F, 0.09F};

std::vector<bucket> buckets_of(const std::vector<float>& delta) {
  bucket_table table;
  table.add(delta);
  return table.buckets();
}

/// Lengths of Huffman's code of symbols, most frequent first, by merging the two rarest again and again.
std::vector<std::size_t> huffman_lengths(std::vector<std::size_t> counts) {
  std::vector<std::size_t> lengths(counts.size());
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> nodes;
  for (std::size_t s = 0; s < counts.size(); ++s) nodes.push_back({counts[s], {s}});
  while (nodes.size() > 1) {
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    auto rarest = nodes.back();
    nodes.pop_back();
    nodes.back().first += rarest.first;
    nodes.back().second.insert(nodes.back().second.end(), rarest.second.begin(), rarest.second.end());
    for (const auto s : nodes.back().second) ++lengths[s];
  }
  return lengths;
}

}  // namespace

TEST_CASE("lc/buckets: the published example") {
  const auto buckets = buckets_of(example);
  REQUIRE(buckets.size() == 5);
  std::map<float, std::uint64_t> values;
  for (const auto& b : buckets) values[midpoint_of(b)] = b.count;
  const std::vector<std::pair<double, std::uint64_t>> expected = {
      {-0.48, 1}, {0.08, 2}, {0.17, 3}, {0.44, 2}, {0.79, 2}};
  REQUIRE(values.size() == expected.size());
  auto at = values.begin();
  for (const auto& [value, count] : expected) {
    CHECK(at->first == Catch::Approx(value).epsilon(1e-6));
    CHECK(at->second == count);
    ++at;
  }

  const auto chosen = promote(buckets, promotion::magnitude, 3);
  REQUIRE(chosen.size() == 3);
  CHECK(chosen[0].value == Catch::Approx(0.79));
  CHECK(chosen[1].value == Catch::Approx(-0.48));
  CHECK(chosen[2].value == Catch::Approx(0.44));

  std::map<bucket_key, std::size_t> symbols;
  for (std::size_t s = 0; s < 3; ++s) symbols[chosen[s].key] = s + 1;
  std::vector<std::size_t> counts(4);
  for (const float d : example) ++counts[symbols[key_of(d)]];
  CHECK(counts == std::vector<std::size_t>{5, 2, 1, 2});
  const auto lengths = huffman_lengths({5, 2, 2, 1});
  CHECK(lengths == std::vector<std::size_t>{1, 2, 3, 3});
  CHECK(5 * lengths[0] + 2 * lengths[1] + 2 * lengths[2] + 1 * lengths[3] == 18);
}

TEST_CASE("lc/buckets: energy counts members") {
  const std::vector<float> delta = {1.0F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.7F, -0.25F};
  const auto buckets = buckets_of(delta);
  CHECK(promote(buckets, promotion::magnitude, 1)[0].key == 127);
  const auto chosen = promote(buckets, promotion::energy, 2);
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].key == 126);
  CHECK(chosen[0].value == 0.6F);
  CHECK(chosen[1].key == 127);
}

TEST_CASE("lc/buckets: zero, denormals, and what is no number") {
  const float least = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  const float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  bucket_table table;
  table.add(std::vector<float>{0.0F, -0.0F, least, 3 * least, -5 * least, most, most, infinity, -infinity, none});
  CHECK(table.zeros() == 2);
  CHECK(table.exceptions() == 3);
  const auto buckets = table.buckets();
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].key == 0);
  CHECK(buckets[0].count == 2);
  CHECK(buckets[0].min == least);
  CHECK(midpoint_of(buckets[0]) == 2 * least);
  CHECK(midpoint_of(buckets[1]) == most);  // the sum of both ends is no float
  CHECK(buckets[2].key == 256);
  CHECK(buckets[2].max == -5 * least);
}

TEST_CASE("lc/buckets: tables of parts add up") {
  std::mt19937 random(1);
  std::vector<float> delta(5000);
  for (auto& d : delta) d = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  bucket_table whole, first, second;
  whole.add(delta);
  first.add(std::span(delta).first(1234));
  second.add(std::span(delta).subspan(1234));
  second.add(first);
  const auto a = whole.buckets(), b = second.buckets();
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].key == b[i].key);
    CHECK(a[i].count == b[i].count);
    CHECK(a[i].min == b[i].min);
    CHECK(a[i].max == b[i].max);
    CHECK(key_of(a[i].min) == a[i].key);
    CHECK(key_of(a[i].max) == a[i].key);
  }
  CHECK(whole.exceptions() == second.exceptions());
  for (const auto priority : {promotion::magnitude, promotion::energy}) {
    auto seven = promote(a, priority, 7);
    const auto three = promote(a, priority, 3);
    seven.resize(3);
    CHECK(seven == three);
  }
}

TEST_CASE("lc/buckets: symbols go by exponent, the positive one first") {
  std::vector<promoted> chosen = {{256 + 120, -1}, {119, 1}, {120, 1}, {256 + 119, -1}};
  sort_by_exponent(chosen);
  CHECK(chosen == std::vector<promoted>{{120, 1}, {256 + 120, -1}, {119, 1}, {256 + 119, -1}});
}
