// SPDX-License-Identifier: MIT
// LZ4's default, one block per leaf, state reused.
#include <lz4.h>

#include <cstring>

#include "codecs/method.hpp"

namespace bench {
namespace {

int length(std::size_t bytes) { return static_cast<int>(bytes); }

}  // namespace

method lz4_method() {
  const auto state = std::make_shared<LZ4_stream_t>();
  return {.name = "lz4",
          .bound = [](const leaf& in) { return static_cast<std::size_t>(LZ4_compressBound(length(in.values.size()))); },
          .compress =
              [state](const leaf& in, std::span<std::byte> out) {
                const int bytes = LZ4_compress_fast_extState(
                    state.get(), reinterpret_cast<const char*>(in.values.data()), reinterpret_cast<char*>(out.data()),
                    length(in.values.size()), length(out.size()), 1);
                require(bytes > 0, "LZ4_compress_fast");
                return stored{static_cast<std::size_t>(bytes)};
              },
          .decompress =
              [](const leaf&, std::span<const std::byte> in, std::span<std::byte> values) {
                const int bytes = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()),
                                                      reinterpret_cast<char*>(values.data()), length(in.size()),
                                                      length(values.size()));
                require(bytes == length(values.size()), "LZ4_decompress_safe");
              }};
}

}  // namespace bench
