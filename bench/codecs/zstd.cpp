// SPDX-License-Identifier: MIT
// Zstandard, one frame per leaf, contexts reused.
#include <zstd.h>

#include <string>

#include "codecs/method.hpp"

namespace bench {

method zstd_method(int level) {
  const std::shared_ptr<ZSTD_CCtx> packer(ZSTD_createCCtx(), ZSTD_freeCCtx);
  const std::shared_ptr<ZSTD_DCtx> unpacker(ZSTD_createDCtx(), ZSTD_freeDCtx);
  return {.name = "zstd -" + std::to_string(level),
          .bound = [](const leaf& in) { return ZSTD_compressBound(in.values.size()); },
          .compress =
              [packer, level](const leaf& in, std::span<std::byte> out) {
                const auto bytes =
                    ZSTD_compressCCtx(packer.get(), out.data(), out.size(), in.values.data(), in.values.size(), level);
                require(ZSTD_isError(bytes) == 0, "ZSTD_compressCCtx");
                return stored{bytes};
              },
          .decompress =
              [unpacker](const leaf&, std::span<const std::byte> in, std::span<std::byte> values) {
                const auto bytes =
                    ZSTD_decompressDCtx(unpacker.get(), values.data(), values.size(), in.data(), in.size());
                require(bytes == values.size(), "ZSTD_decompressDCtx");
              }};
}

}  // namespace bench
