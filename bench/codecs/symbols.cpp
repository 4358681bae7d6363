// SPDX-License-Identifier: MIT
// Packs random symbols, codes them and gets them back.
#include "codecs/symbols.hpp"

#include <array>
#include <cmath>
#include <random>
#include <stdexcept>

#include "cairn/encode/huffman/block.hpp"

namespace bench {
namespace {

constexpr std::array<double, 4> shares{.90, .05, .03, .02};

std::vector<std::byte> pack_symbols(std::size_t bytes) {
  std::mt19937_64 rng(90);
  std::discrete_distribution<unsigned> symbol(shares.begin(), shares.end());
  std::vector<std::byte> packed(bytes);
  for (auto& byte : packed) {
    unsigned four = 0;
    for (int i = 0; i < 4; ++i) four = four << 2 | symbol(rng);
    byte = static_cast<std::byte>(four);
  }
  return packed;
}

}  // namespace

symbols_result measure_symbols(const patience& how) {
  const auto packed = pack_symbols(std::size_t{16} << 20);
  std::vector<std::byte> coded(cairn::detail::huffman::block_bound(packed.size())), back(packed.size());
  std::size_t used = 0;
  bool good = true;
  const auto run = [&](result& r) {
    r.compress.push_back(cpu_seconds_of([&] { used = cairn::detail::huffman::encode_block(packed, coded); }));
    std::fill(back.begin(), back.end(), std::byte{});
    r.decompress.push_back(
        cpu_seconds_of([&] { good = cairn::detail::huffman::decode_block(std::span(coded).first(used), back); }));
    if (!good || back != packed) throw std::runtime_error("the Huffman coder gave other symbols");
  };
  const auto measured = hold({{{.method = "huffman", .bytes = packed.size()}, run}}, how).front();

  symbols_result result;
  for (const double share : shares) result.entropy -= share * std::log2(share);
  result.bits = 2 * static_cast<double>(used) / static_cast<double>(packed.size());
  result.encode = measured.rate(measured.compress);
  result.decode = measured.rate(measured.decompress);
  return result;
}

}  // namespace bench
