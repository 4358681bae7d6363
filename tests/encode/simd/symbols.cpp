// SPDX-License-Identifier: MIT
#include "cairn/encode/simd/lc_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "encode/simd/float_pairs.hpp"

using namespace cairn::detail::simd;
using namespace float_pairs;

namespace {

symbol_table table_for(std::uint32_t top, std::uint32_t symbols) {
  symbol_table table;
  for (std::uint32_t s = 1; s <= symbols; ++s) {
    table.keys[s] = (s % 2 << 8) | (top - s / 2);
    table.values[s] = std::bit_cast<float>(table.keys[s] << 23 | 0x34'5678);
  }
  return table;
}

std::uint32_t symbol_of(float d, const symbol_table& table) {
  if (is_zero(bits_of(d))) return 0;
  for (std::uint32_t s = 1; s < 8; ++s)
    if (table.keys[s] == bits_of(d) >> 23) return s;
  return 0;
}

/// Symbols packed as buckets.hpp says.
std::vector<std::byte> reference_pack(const std::vector<std::uint32_t>& symbols, int bits) {
  const std::uint32_t slot = bits == 2 ? 2 : 4;
  const std::size_t block = 16U * 32 / slot;
  std::vector<std::uint32_t> words((symbols.size() + block - 1) / block * 16);
  for (std::size_t i = 0; i < symbols.size(); ++i)
    words[i / block * 16 + i % 16] |= symbols[i] << (i % block / 16 * slot);
  std::vector<std::byte> bytes(words.size() * 4);
  if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("symbols: packing classifies and adds, adding packed symbols does the same") {
  const pair x(4300, 3, true);
  on_all_targets(all_symbols(), [&](const symbols_kernels& kernels, std::size_t n, std::size_t offset) {
    for (const int bits : {2, 3}) {
      const auto most = (1U << static_cast<unsigned>(bits)) - 1;
      const auto used = 1 + static_cast<std::uint32_t>(n) % most;  // the others are unused: no delta has their symbols
      const auto table = table_for(n % 5 == 0 ? 3 : 120, used);
      std::vector<std::uint32_t> symbols(n);
      std::vector<float> expected(x.a.begin() + static_cast<std::ptrdiff_t>(offset),
                                  x.a.begin() + static_cast<std::ptrdiff_t>(offset + n));
      for (std::size_t i = 0; i < n; ++i) {
        symbols[i] = symbol_of(x.u[offset + i] - x.a[offset + i], table);
        expected[i] += table.values[symbols[i]];
      }
      const auto packed_right = reference_pack(symbols, bits);

      std::vector<std::byte> packed(packed_right.size() + 64, std::byte{0xA5});
      std::vector<float> b(n + 32, 7.0F);
      const auto pack = bits == 2 ? kernels.pack2 : kernels.pack3;
      pack(x.u.data() + offset, x.a.data() + offset, n, table, b.data() + offset, packed.data());
      bool good = std::equal(packed_right.begin(), packed_right.end(), packed.begin()) &&
                  same(b.data() + offset, expected.data(), n);
      for (std::size_t i = packed_right.size(); i < packed.size(); ++i) good = good && packed[i] == std::byte{0xA5};
      for (std::size_t i = 0; i < b.size(); ++i) good = good && (b[i] == 7.0F || (i >= offset && i < offset + n));

      auto in_place = x.a;
      pack(x.u.data() + offset, in_place.data() + offset, n, table, in_place.data() + offset, packed.data());
      good = good && same(in_place.data() + offset, expected.data(), n);
      auto added = x.a;
      (bits == 2 ? kernels.add2 : kernels.add3)(packed.data(), n, table, added.data() + offset);
      good = good && same(added.data(), in_place.data(), added.size());
      if (!good) FAIL("length " << n << ", " << bits << " bits");
    }
  });
}
