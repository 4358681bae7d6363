// SPDX-License-Identifier: MIT
// Byte planes and zstd -1: what one writes by hand for floating-point arrays. Compiled for this machine, so that
// splitting and merging go at the speed of memory.
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "codecs/method.hpp"

namespace bench {
namespace {

using byte = std::uint8_t;

/// Byte `b` of all `count` values goes to `planes + b * count`.
void split(const std::uint32_t* __restrict values, std::size_t count, byte* __restrict planes) {
  byte* __restrict const p1 = planes + count;
  byte* __restrict const p2 = p1 + count;
  byte* __restrict const p3 = p2 + count;
  for (std::size_t i = 0; i < count; ++i) {
    planes[i] = static_cast<byte>(values[i]);
    p1[i] = static_cast<byte>(values[i] >> 8);
    p2[i] = static_cast<byte>(values[i] >> 16);
    p3[i] = static_cast<byte>(values[i] >> 24);
  }
}

void split(const std::uint16_t* __restrict values, std::size_t count, byte* __restrict planes) {
  byte* __restrict const p1 = planes + count;
  for (std::size_t i = 0; i < count; ++i) {
    planes[i] = static_cast<byte>(values[i]);
    p1[i] = static_cast<byte>(values[i] >> 8);
  }
}

void merge(const byte* __restrict planes, std::size_t count, std::uint32_t* __restrict values) {
  const byte* __restrict const p1 = planes + count;
  const byte* __restrict const p2 = p1 + count;
  const byte* __restrict const p3 = p2 + count;
  for (std::size_t i = 0; i < count; ++i)
    values[i] =
        std::uint32_t{planes[i]} | std::uint32_t{p1[i]} << 8 | std::uint32_t{p2[i]} << 16 | std::uint32_t{p3[i]} << 24;
}

void merge(const byte* __restrict planes, std::size_t count, std::uint16_t* __restrict values) {
  const byte* __restrict const p1 = planes + count;
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint16_t>(planes[i] | p1[i] << 8);
}

/// Contexts and scratch memory, reused from leaf to leaf. Every plane of a leaf is one frame, its size before it: that
/// compresses faster than pieces of a cache's size, and as well.
class planes_coder {
 public:
  template <class Word>
  std::size_t compress(std::span<const std::byte> values, std::span<std::byte> out) {
    const std::size_t count = values.size() / sizeof(Word);
    scratch_.resize(std::max(scratch_.size(), values.size()));
    split(reinterpret_cast<const Word*>(values.data()), count, scratch_.data());
    std::byte* at = out.data();
    for (std::size_t plane = 0; plane < sizeof(Word); ++plane) {
      std::byte* const frame = at + sizeof(std::uint32_t);
      const auto room = static_cast<std::size_t>(out.data() + out.size() - frame);
      const auto bytes = ZSTD_compressCCtx(packer_.get(), frame, room, scratch_.data() + plane * count, count, 1);
      require(ZSTD_isError(bytes) == 0, "ZSTD_compressCCtx");
      const auto size = static_cast<std::uint32_t>(bytes);
      std::memcpy(at, &size, sizeof size);
      at = frame + bytes;
    }
    return static_cast<std::size_t>(at - out.data());
  }

  template <class Word>
  void decompress(std::span<const std::byte> in, std::span<std::byte> values) {
    const std::size_t count = values.size() / sizeof(Word);
    scratch_.resize(std::max(scratch_.size(), values.size()));
    const std::byte* at = in.data();
    for (std::size_t plane = 0; plane < sizeof(Word); ++plane) {
      std::uint32_t size = 0;
      std::memcpy(&size, at, sizeof size);
      at += sizeof size;
      const auto bytes = ZSTD_decompressDCtx(unpacker_.get(), scratch_.data() + plane * count, count, at, size);
      require(bytes == count, "ZSTD_decompressDCtx");
      at += size;
    }
    merge(scratch_.data(), count, reinterpret_cast<Word*>(values.data()));
  }

  static std::size_t bound(const leaf& in) {
    const auto planes = cairn::size_of(in.type);
    return planes * (sizeof(std::uint32_t) + ZSTD_compressBound(in.values.size() / planes));
  }

 private:
  std::shared_ptr<ZSTD_CCtx> packer_{ZSTD_createCCtx(), ZSTD_freeCCtx};
  std::shared_ptr<ZSTD_DCtx> unpacker_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::vector<byte> scratch_;
};

}  // namespace

method planes_method() {
  const auto coder = std::make_shared<planes_coder>();
  const auto wide = [](const leaf& l) { return cairn::size_of(l.type) == sizeof(std::uint32_t); };
  return {.name = "planes + zstd -1",
          .bound = planes_coder::bound,
          .compress =
              [=](const leaf& in, std::span<std::byte> out) {
                return stored{wide(in) ? coder->compress<std::uint32_t>(in.values, out)
                                       : coder->compress<std::uint16_t>(in.values, out)};
              },
          .decompress =
              [=](const leaf& like, std::span<const std::byte> in, std::span<std::byte> values) {
                if (wide(like))
                  coder->decompress<std::uint32_t>(in, values);
                else
                  coder->decompress<std::uint16_t>(in, values);
              }};
}

}  // namespace bench
