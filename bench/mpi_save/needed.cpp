// SPDX-License-Identifier: MIT
// Counts needed bytes by the layout of a checkpoint, apart from what a load does.
#include "mpi_save/needed.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/chain/reader.hpp"
#include "cairn/store/reader.hpp"

namespace bench {
namespace {

using cairn::detail::box;
using cairn::detail::stored_checkpoint;
using cairn::detail::stored_slice;

/// Which blocks of checksums of a shard are needed.
class needed_blocks {
 public:
  void end_at(std::uint64_t byte) {
    bytes_ = std::max(bytes_, byte);
    blocks_.resize((bytes_ + block_bytes - 1) / block_bytes);
  }
  void need(std::uint64_t begin, std::uint64_t end) {
    for (auto block = begin / block_bytes; block * block_bytes < end; ++block) blocks_[block] = true;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i]) sum += std::min(block_bytes, bytes_ - i * block_bytes);
    return sum;
  }

 private:
  static constexpr std::uint64_t block_bytes = 65536;
  std::uint64_t bytes_ = 0;
  std::vector<bool> blocks_;
};

/// A payload of the lossless codec (docs/format.md): a header of four bytes, the sizes of its blocks, and these.
class coded_blocks {
 public:
  coded_blocks(const stored_checkpoint& from, const stored_slice& slice) : begin_(slice.begin) {
    std::vector<std::byte> payload(slice.bytes);
    read_stored(from, slice.shard, slice.begin, payload, {.threads = 1});
    shift_ = std::to_integer<unsigned>(payload[2]);
    const auto count = (slice.count + (std::uint64_t{1} << shift_) - 1) >> shift_;
    std::uint64_t at = header_bytes + 4 * count;
    ends_.push_back(at);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint32_t size = 0;
      std::memcpy(&size, payload.data() + header_bytes + 4 * i, sizeof size);
      ends_.push_back(at += size);
    }
    if (at != slice.bytes) throw std::runtime_error("a payload of another form");
  }

  /// The bytes of the shard that decode these elements of the slice.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> range(std::uint64_t first, std::uint64_t count) const {
    return {begin_ + ends_[first >> shift_], begin_ + ends_[((first + count - 1) >> shift_) + 1]};
  }
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> header() const { return {begin_, begin_ + ends_.front()}; }

 private:
  static constexpr std::uint64_t header_bytes = 4;
  std::uint64_t begin_;
  unsigned shift_ = 0;
  std::vector<std::uint64_t> ends_;
};

}  // namespace

needed_bytes count_needed(const cairn::any_store& store, std::string_view name,
                          const std::function<std::optional<box>(std::string_view path)>& box_of) {
  const auto from = cairn::detail::open_checkpoint(store, name);
  std::vector<needed_blocks> shards(from.shards.size());
  const auto& leaves = from.contents.leaves;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    for (const auto& slice : from.slices_of(i)) shards[slice.shard].end_at(slice.end());
  needed_bytes needed;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto& leaf = leaves[i];
    const std::uint64_t width = size_of(leaf.type);
    const auto region = box_of(leaf.path).value_or(box{cairn::extents(leaf.shape.size()), leaf.shape});
    needed.elements += region.count() * width;
    if (region.count() == 0) continue;
    const cairn::detail::leaf_part wanted{.region = region};
    for (const auto& slice : from.slices_of(i, wanted)) {
      auto& shard = shards[slice.shard];
      const std::optional<coded_blocks> coded =
          slice.encoded != nullptr ? std::optional<coded_blocks>(std::in_place, from, slice) : std::nullopt;
      if (coded) shard.need(coded->header().first, coded->header().second);
      for_each_common_run(slice, wanted, leaf.shape, [&](std::uint64_t first, std::uint64_t, std::uint64_t count) {
        const auto bytes = coded ? coded->range(first, count)
                                 : std::pair(slice.begin + first * width, slice.begin + (first + count) * width);
        shard.need(bytes.first, bytes.second);
      });
    }
  }
  for (const auto& shard : shards) needed.blocks += shard.bytes();
  return needed;
}

}  // namespace bench
