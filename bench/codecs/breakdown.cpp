// SPDX-License-Identifier: MIT
// Exponent buckets, promotion and Huffman, counted one after the other.
#include "codecs/breakdown.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/encode/huffman/code.hpp"
#include "cairn/encode/lc/buckets.hpp"
#include "codecs/data_sets.hpp"
#include "codecs/method.hpp"

namespace bench {
namespace {

namespace lc = cairn::detail::lc;

/// Bytes that arrays take, step by step.
struct sizes {
  double values = 0, e = 0, ep = 0, eph = 0;
};

/// Bits of the deltas as symbols of a Huffman code of their own: the promoted buckets, and all others as one.
std::uint64_t coded_bits(std::uint64_t elements, std::span<const lc::bucket> buckets,
                         std::span<const lc::promoted> promoted) {
  cairn::detail::huffman::byte_counts counts{elements};
  for (const auto& b : buckets) {
    const auto at = std::find_if(promoted.begin(), promoted.end(), [&](const auto& p) { return p.key == b.key; });
    if (at == promoted.end()) continue;
    counts[static_cast<std::size_t>(at - promoted.begin()) + 1] = b.count;
    counts[0] -= b.count;
  }
  return cairn::detail::huffman::coded_bits(counts, cairn::detail::huffman::find_code_lengths(counts));
}

/// The size of a delta with all buckets, as published (E): a bucket number per element, 4 bytes per bucket; zero counts
/// as a bucket.
std::uint64_t bucketed_bytes(std::uint64_t elements, std::size_t buckets_with_zero) {
  const auto bits = static_cast<std::uint64_t>(buckets_with_zero < 2 ? 0 : std::bit_width(buckets_with_zero - 1));
  return (elements * bits + 7) / 8 + 4 * buckets_with_zero;
}

/// The size of a delta with buckets promoted to symbols of `bits` bits, as published (E + P).
std::uint64_t promoted_bytes(std::uint64_t elements, unsigned bits) {
  return (elements * bits + 7) / 8 + 4 * ((std::uint64_t{1} << bits) - 1);
}

void add_sizes(std::span<const float> newer, std::span<const float> older, unsigned bits, sizes& sum) {
  std::vector<float> deltas(newer.size());
  std::transform(newer.begin(), newer.end(), older.begin(), deltas.begin(), std::minus<>{});
  lc::bucket_table table;
  table.add(deltas);
  const auto buckets = table.buckets();
  const auto symbols = std::size_t{1} << bits;
  const auto promoted = lc::promote(buckets, cairn::promotion::magnitude, symbols - 1);
  const std::uint64_t n = newer.size();
  const auto values_and_lengths = 4 * promoted.size() + symbols;
  sum.values += static_cast<double>(n * sizeof(float));
  sum.e += static_cast<double>(bucketed_bytes(n, buckets.size() + 1));
  sum.ep += static_cast<double>(promoted_bytes(n, bits));
  sum.eph += static_cast<double>((coded_bits(n, buckets, promoted) + 7) / 8 + values_and_lengths);
}

saved_percent break_down(std::span<const parameter> parameters, const weight_chain& chain, unsigned bits) {
  const auto codec = cairn_lc_method(bits);
  auto reference = chain.snapshots.front();
  sizes sum;
  double stored_bytes = 0;
  codec.restart();
  for (const auto& snapshot : std::span(chain.snapshots).subspan(1)) {
    auto leaves = as_fp32("model", parameters, snapshot).leaves;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].reference = std::as_writable_bytes(std::span(reference[i]));
      add_sizes(snapshot[i], reference[i], bits, sum);
    }
    for (const auto& l : leaves) {
      std::vector<std::byte> out(codec.bound(l));
      const auto made = codec.compress(l, out);
      stored_bytes += static_cast<double>(made.bytes + made.beside);
    }
  }
  const auto percent = [&](double used) { return 100 * (1 - used / sum.values); };
  return {percent(sum.e), percent(sum.ep), percent(sum.eph), percent(stored_bytes)};
}

}  // namespace

saved_percent print_breakdown(std::span<const parameter> parameters, const weight_chain& chain, const std::string& key,
                              report& numbers) {
  const auto two = break_down(parameters, chain, 2), three = break_down(parameters, chain, 3);
  std::printf("%% of the bytes saved by exponent buckets (E), promotion (P), Huffman (H)\n\n");
  table rows({"", "2 bits", "published", "3 bits", "published"});
  rows.row({"E", text_of(two.e), "85.47", text_of(three.e), "85.47"});
  rows.row({"E+P", text_of(two.ep), "93.73", text_of(three.ep), "-"});
  rows.row({"E+P+H, single symbols", text_of(two.eph), "95.87", text_of(three.eph), "-"});
  rows.row({"E+P+H, packed symbols (cairn)", text_of(two.cairn), "-", text_of(three.cairn), "-"});
  rows.row({"P beyond E, points", text_of(two.ep - two.e), "9.26", text_of(three.ep - three.e), "6.23"});
  rows.row({"H beyond P, points", text_of(two.eph - two.ep), "2", text_of(three.eph - three.ep), "1.6"});
  rows.row({"H beyond P, points (cairn)", text_of(two.cairn - two.ep), "-", text_of(three.cairn - three.ep), "-"});
  rows.print();
  for (const auto& [name, s] : {std::pair("lc2", two), std::pair("lc3", three)}) {
    const std::string of_bits = key + '.' + name;
    numbers.number(of_bits + ".e", s.e);
    numbers.number(of_bits + ".ep", s.ep);
    numbers.number(of_bits + ".eph", s.eph);
    numbers.number(of_bits + ".cairn", s.cairn);
  }
  return two;
}

}  // namespace bench
