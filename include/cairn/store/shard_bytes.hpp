// The bytes of a shard's data section, wherever in memory they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cairn/core/leaf.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/shard.hpp"

namespace cairn::detail {

/// The bytes of a shard's data section, wherever in the state's memory they are.
class shard_bytes {
 public:
  shard_bytes(std::span<const leaf> leaves, const shard_layout& layout) : leaves_(leaves), layout_(layout) {}

  /// Calls `use(leaf, first byte of the leaf, bytes, offset from begin)` for what lies in [begin, end), in
  /// order. A leaf that is not contiguous is one of the state's and stays.
  template <class Use>
  void for_each(std::uint64_t begin, std::uint64_t end, const Use& use) const {
    const auto& tensors = layout_.header.tensors;
    auto at = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= begin; });
    for (; at != tensors.end() && at->begin < end; ++at) {
      const auto from = std::max(begin, at->begin), to = std::min(end, at->end);
      if (from == to) continue;
      const auto& p = layout_.pieces[static_cast<std::size_t>(at - tensors.begin())];
      if (!p.encoded && p.staged != nullptr) {
        leaf packed;
        packed.type = leaves_[p.leaf].type;
        packed.shape = {p.count};
        packed.memory = p.staged;
        use(packed, from - at->begin, to - from, from - begin);
        continue;
      }
      const leaf& source = p.encoded ? p.encoded->payload : leaves_[p.leaf];
      const std::uint64_t first = p.encoded ? 0 : p.first * size_of(source.type);
      use(source, first + (from - at->begin), to - from, from - begin);
    }
  }

  /// Copies the bytes [begin, begin + out.size()).
  void copy(std::uint64_t begin, std::span<std::byte> out) const {
    for_each(begin, begin + out.size(),
             [&](const leaf& source, std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t at) {
               gather(source, first_byte / size_of(source.type), out.subspan(at, bytes));
             });
  }

  /// Appends the parts that make up [begin, end); what is strided in memory is gathered into `bounce`.
  void parts(std::uint64_t begin, std::uint64_t end, page_buffer& bounce, std::vector<stores::part>& out) const {
    for_each(begin, end, [&](const leaf& source, std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t at) {
      if (source.contiguous()) return out.emplace_back(source.memory + first_byte, bytes), void();
      const auto packed = bounce.first(end - begin).subspan(at, bytes);
      gather(source, first_byte / size_of(source.type), packed);
      out.emplace_back(packed);
    });
  }

 private:
  std::span<const leaf> leaves_;
  const shard_layout& layout_;
};

}  // namespace cairn::detail
