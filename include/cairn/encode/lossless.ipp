// Definitions of lossless.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/encode/blocks.hpp"
#include "cairn/encode/lossless.hpp"
#include "cairn/encode/lossless/block.hpp"
#include "cairn/encode/lossless/elements.hpp"
#include "cairn/encode/lossless/plan.hpp"

namespace cairn {
namespace byte_planes {

/// What a payload begins with: version, flags, log2 of the elements of a block, format of the elements.
struct payload_header {
  static constexpr std::size_t bytes = 4;
  static constexpr unsigned version = 1, relative_flag = 1, floating_flag = 0x80;
  static constexpr unsigned least_log2 = 10, usual_log2 = 17, most_log2 = 22;

  bool relative = false;
  unsigned block_log2 = usual_log2;
  element_format format;

  [[nodiscard]] std::size_t block_elements() const noexcept { return std::size_t{1} << block_log2; }
  [[nodiscard]] std::size_t blocks(std::size_t count) const noexcept {
    return (count + block_elements() - 1) / block_elements();
  }

  void write(std::byte* out) const noexcept {
    out[0] = std::byte{version};
    out[1] = static_cast<std::byte>(relative ? relative_flag : 0);
    out[2] = static_cast<std::byte>(block_log2);
    out[3] = static_cast<std::byte>(format.width | (format.floating ? floating_flag : 0));
  }

  /// Reads the header of elements of a format, and says what is wrong with it; null when nothing is.
  [[nodiscard]] const char* read(std::span<const std::byte> in, const element_format& expected) noexcept {
    if (in.size() < bytes) return "it has no header";
    if (std::to_integer<unsigned>(in[0]) != version) return "its version is unknown";
    if (std::to_integer<unsigned>(in[1]) > relative_flag) return "its flags are unknown";
    relative = std::to_integer<unsigned>(in[1]) == relative_flag;
    block_log2 = std::to_integer<unsigned>(in[2]);
    if (block_log2 < least_log2 || block_log2 > most_log2) return "its blocks have an impossible size";
    const auto described = std::to_integer<unsigned>(in[3]);
    format = {described & ~floating_flag, (described & floating_flag) != 0};
    return format == expected ? nullptr : "its elements are of another type";
  }
};

/// Memory for blocks, as much as threads may need at the same time.
class shared_memory {
 public:
  shared_memory(std::size_t blocks, unsigned threads, std::size_t block_elements, std::size_t width) {
    const std::size_t most = std::min<std::size_t>(threads == 0 ? default_threads() : threads, blocks);
    for (std::size_t i = 0; i < most; ++i) free_.push_back(std::make_unique<block_memory>(block_elements, width));
  }

  /// Calls `use` with memory that nobody else has.
  template <class Use>
  auto with_memory(const Use& use) {
    std::unique_ptr<block_memory> own;
    {
      const std::lock_guard lock(mutex_);
      own = std::move(free_.back());
      free_.pop_back();
    }
    const auto result = use(*own);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(own));
    return result;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<block_memory>> free_;
};

/// Is the difference to the reference smaller than the values? Where both are alike, it is the difference, so that what was one
/// stays one.
[[nodiscard]] inline bool difference_pays(const elements& difference) noexcept {
  constexpr std::size_t parts = 8;
  const std::size_t part = std::max<std::size_t>(difference.count / parts, 1);
  std::uint64_t cost = 0, cost_of_difference = 0;
  for (std::size_t i = 0; i < std::min(parts, difference.count); ++i) {
    auto some = difference.part(i * part, part);
    cost_of_difference += plan_block(some).cost;
    some.reference = nullptr;
    cost += plan_block(some).cost;
  }
  return cost_of_difference <= cost;
}

/// Do the values lie where the payload goes?
[[nodiscard]] inline bool is_in_place(std::span<const std::byte> values, std::span<std::byte> out) noexcept {
  const std::less<const std::byte*> before;
  return before(values.data(), out.data() + out.size()) && before(out.data(), values.data() + values.size());
}

/// Gives values that were encoded in place back from their payload, the last block first: what is not decoded yet ends before.
inline void decode_in_place(const payload_header& header, const elements& all, std::span<const std::byte> payload,
                            std::span<std::byte> values) {
  const std::size_t blocks = header.blocks(all.count), width = all.format.width;
  const std::size_t largest = std::min(all.count, header.block_elements());
  std::vector<std::uint32_t> sizes(blocks);
  std::memcpy(sizes.data(), payload.data() + payload_header::bytes, blocks * sizeof sizes[0]);
  const block_memory memory(largest, width);
  const auto block = std::make_unique_for_overwrite<std::byte[]>(largest * width);
  std::size_t end = payload.size();
  for (std::size_t i = blocks; i-- > 0;) {
    const std::size_t first = i * largest, bytes = std::min(largest, all.count - first) * width;
    if (header.relative) std::memcpy(block.get(), all.reference + first * width, bytes);
    static_cast<void>(decode_elements(payload.subspan(end - sizes[i], sizes[i]), width, header.relative, memory,
                                      {block.get(), bytes}));
    std::memcpy(values.data() + first * width, block.get(), bytes);
    end -= sizes[i];
  }
}

}  // namespace byte_planes

namespace codecs {

CAIRN_INLINE std::size_t lossless::bound(dtype type, std::size_t bytes) const noexcept {
  using header = byte_planes::payload_header;
  const std::size_t width = size_of(type), count = bytes / width;
  if (count == 0) return header::bytes;
  const std::size_t largest = std::min(count, header{}.block_elements()), whole = header{}.blocks(count) - 1;
  return header::bytes + blocks_bound(whole, byte_planes::elements_bound(largest, width)) +
         blocks_bound(1, byte_planes::elements_bound(count - whole * largest, width));
}

CAIRN_INLINE encoded lossless::encode(const encode_request& in, std::span<std::byte> out) const {
  using namespace byte_planes;
  payload_header header{.format = format_of(in.type)};
  const std::size_t width = header.format.width, count = in.values.size() / width;
  if (count == 0) return {};
  elements all{header.format, in.values.data(), nullptr, count};
  if (xor_parent && in.reference.size() == in.values.size()) {
    all.reference = in.reference.data();
    header.relative = difference_pays(all);
    if (!header.relative) all.reference = nullptr;
  }

  const bool in_place = is_in_place(in.values, out);
  header.write(out.data());
  const std::size_t largest = std::min(count, header.block_elements());
  shared_memory memory(header.blocks(count), in.threads, largest, width);
  const std::size_t bytes =
      payload_header::bytes +
      encode_blocks(
          header.blocks(count), elements_bound(largest, width), in.threads, out.subspan(payload_header::bytes),
          [&](std::size_t block, std::span<std::byte> room) {
            const std::size_t first = block * largest;
            const auto part = all.part(first, std::min(largest, count - first));
            return memory.with_memory([&](const block_memory& own) { return encode_elements(part, own, room); });
          },
          in_place);
  if (bytes * 100 > in.values.size() * 97) {
    if (in_place) decode_in_place(header, all, out.first(bytes), out.last(in.values.size()));
    return {};
  }
  return {.codec = name(), .bytes = bytes, .relative = header.relative};
}

CAIRN_INLINE void lossless::decode(const decode_request& from) const {
  using namespace byte_planes;
  const auto malformed = [&](const char* what) {
    fail(errc::corrupt, {from.where, ": \"", from.path, "\": the lossless payload is malformed: ", what});
  };
  const auto format = format_of(from.type);
  payload_header header;
  if (const char* const wrong = header.read(from.payload, format)) malformed(wrong);
  const std::size_t width = format.width, count = from.values.size() / width;
  const std::size_t largest = std::min(count, header.block_elements());
  const auto decode_block = [&](std::size_t block, std::span<const std::byte> bytes, const block_memory& own) {
    const std::size_t first = block * largest;
    const auto values = from.values.subspan(first * width, std::min(largest, count - first) * width);
    return decode_elements(bytes, width, header.relative, own, values);
  };
  shared_memory memory(header.blocks(count), from.threads, largest, width);
  const bool good = decode_blocks(
      header.blocks(count), from.payload.subspan(payload_header::bytes), from.threads,
      [&](std::size_t block, std::span<const std::byte> bytes) {
        return memory.with_memory([&](const block_memory& own) { return decode_block(block, bytes, own); });
      });
  if (!good) malformed("its blocks are not what was written");
}

}  // namespace codecs
}  // namespace cairn
