// SPDX-License-Identifier: MIT
// Bytes for the Huffman coder, and memory of their very size, so that a sanitizer sees what goes beyond it.
#pragma once

#include "standard.hpp"

namespace tests {

using bytes = std::vector<std::byte>;

/// Of few or many kinds, evenly or steeply spread; some change half-way, so that streams differ in length.
inline bytes random_bytes(std::mt19937_64& random, std::size_t n) {
  bytes made(n);
  auto kinds = random() % 256 + 1, shape = random() % 5;
  const auto change = random() % 2 == 0 ? n : random() % (n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (i == change) kinds = random() % kinds + 1, shape = random() % 5;
    auto value = random() % kinds;
    for (std::uint64_t k = 0; k < shape; ++k) value = std::min(value, random() % kinds);
    made[i] = static_cast<std::byte>(value);
  }
  return made;
}

/// Whether `decode` accepts the bytes, which it gives as `out`.
inline bool decodes(const auto& decode, std::span<const std::byte> in, std::span<std::byte> out) {
  const auto from = std::make_unique<std::byte[]>(in.size());
  std::copy(in.begin(), in.end(), from.get());
  const auto to = std::make_unique<std::byte[]>(out.size());
  const bool good = decode(std::span<const std::byte>(from.get(), in.size()), std::span(to.get(), out.size()));
  std::copy(to.get(), to.get() + out.size(), out.begin());
  return good;
}

}  // namespace tests
