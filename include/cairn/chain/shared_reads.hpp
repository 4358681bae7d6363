// SPDX-License-Identifier: MIT
// The reads of ranks that load the same arrays: each reads and decodes a part of them, and sends it to the others,
// where that takes less time than if each rank reads all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/options.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/group/team.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// Whether a leaf belongs to one rank of those that saved it.
[[nodiscard]] inline bool is_rank_state(const catalog& contents, std::string_view path) {
  for (std::size_t end = 0; end != std::string_view::npos; end = path.find('.', end + 1)) {
    const auto at = contents.structure.find(path.substr(0, end));
    if (at != contents.structure.end() && at->second.what == structure_entry::kind::ranks) return true;
  }
  return false;
}

/// The same at all ranks that have the same requests.
[[nodiscard]] inline std::uint64_t hash_of(std::span<const read_request> requests, read_sharing how) {
  running_checksum sum;
  const auto add = [&](std::uint64_t number) { sum.add(std::as_bytes(std::span(&number, 1))); };
  add(static_cast<std::uint64_t>(how));
  for (const auto& each : requests) {
    add(each.leaf);
    add(each.into.bytes());
  }
  return sum.value();
}

/// Reads whole arrays into contiguous memory, in portions.
class sharing_readers {
 public:
  sharing_readers(const chain_reader& from, std::vector<read_request> requests, const read_options& options,
                  team& ranks)
      : from_(from), requests_(std::move(requests)), left_(bytes_of(requests_)), options_(options), ranks_(ranks) {}

  /// The bytes that are left.
  [[nodiscard]] std::uint64_t left() const noexcept { return left_; }

  /// Each rank reads the next `bytes`. Returns the seconds until all have.
  double read_all(std::uint64_t bytes) {
    const stopwatch watch;
    ranks_.all([&] { from_.read(take(bytes), options_); });
    return watch.seconds();
  }

  /// Each rank reads a part of the next `bytes`, and sends it to the others. Returns the seconds until all have them.
  double read_parts(std::uint64_t bytes) {
    constexpr std::uint64_t min_part = std::uint64_t{1} << 20U, max_part = std::uint64_t{8} << 20U;
    const stopwatch watch;
    const auto stop = left_ - std::min(bytes, left_);
    while (left_ > stop) {
      std::vector<std::vector<read_request>> parts;
      ranks_.all([&] {
        const auto part = std::clamp((left_ - stop) / ranks_.size(), min_part, max_part);
        for (unsigned rank = 0; rank < ranks_.size(); ++rank) {
          parts.push_back(take(std::min(part, left_ - std::min(stop, left_))));
          static_cast<void>(packed_.first(bytes_of(parts.back())));  // what fails, fails here
        }
        from_.read(parts[ranks_.rank()], options_);
      });
      for (unsigned rank = 0; rank < ranks_.size(); ++rank) send(parts[rank], rank);
    }
    return watch.seconds();
  }

 private:
  [[nodiscard]] static std::uint64_t bytes_of(std::span<const read_request> part) {
    std::uint64_t bytes = 0;
    for (const auto& each : part) bytes += each.into.bytes();
    return bytes;
  }

  /// The next requests, of at least `bytes` bytes where there are as many, and at most one unit more. Large arrays are
  /// cut between two units, so that no block of an encoded one is decoded twice.
  [[nodiscard]] std::vector<read_request> take(std::uint64_t bytes) {
    constexpr std::uint64_t unit = std::uint64_t{1} << 17U;  // elements of a block of codecs::lossless
    std::vector<read_request> taken;
    for (std::uint64_t sum = 0; next_ < requests_.size() && sum < bytes;) {
      auto now = requests_[next_];
      const auto width = size_of(now.into.type), all = now.into.count();
      const auto unit_bytes = unit * width, units = (bytes - sum + unit_bytes - 1) / unit_bytes;
      const auto count = units * unit < all - first_ ? units * unit : all - first_;
      if (count < all) {
        now.into = {now.into.type, {count}, now.into.memory + first_ * width, {}};
        now.first = first_;
      }
      first_ += count;
      if (first_ == all) {
        first_ = 0;
        ++next_;
      }
      sum += count * width;
      left_ -= count * width;
      taken.push_back(std::move(now));
    }
    return taken;
  }

  /// Gives all ranks what `root` has read.
  void send(std::span<const read_request> part, unsigned root) {
    if (part.size() == 1) return ranks_.broadcast({part[0].into.memory, part[0].into.bytes()}, root);
    const auto bytes = bytes_of(part);
    const auto packed = packed_.first(bytes);
    const auto for_each = [&](const auto& act) {
      auto* at = packed.data();
      for (const auto& each : part) {
        act(each.into.memory, at, each.into.bytes());
        at += each.into.bytes();
      }
    };
    if (ranks_.rank() == root)
      for_each([](const std::byte* own, std::byte* to, std::size_t count) { std::memcpy(to, own, count); });
    if (bytes > 0) ranks_.broadcast(packed, root);
    if (ranks_.rank() != root)
      for_each([](std::byte* own, const std::byte* sent, std::size_t count) { std::memcpy(own, sent, count); });
  }

  const chain_reader& from_;
  std::vector<read_request> requests_;
  std::size_t next_ = 0;     // of the requests
  std::uint64_t first_ = 0;  // of its elements
  std::uint64_t left_;
  read_options options_;
  team& ranks_;
  page_buffer packed_;
};

/// Does the requests of this rank; all ranks call it together, each with its own. Those for whole arrays in contiguous
/// memory, whose codecs decode ranges, are shared if they are the same at all ranks. With `read_sharing::measured`,
/// samples are read in both ways, and the rest in the faster one; fewer than `least_measured` bytes are read by every
/// rank. What one rank throws, all throw. A rank holds two buffers of about 8 MiB, one of them in the group.
inline void read_together(const chain_reader& from, std::span<const read_request> requests, const read_options& options,
                          read_sharing how, team& ranks, std::uint64_t least_measured = std::uint64_t{256} << 20U) {
  std::vector<read_request> own, common;
  ranks.all([&] {
    for (const auto& each : requests) {
      const bool is_common =
          each.is_whole() && each.into.contiguous() && how != read_sharing::never && !ranks.is_alone() &&
          !is_rank_state(from.contents(), from.contents().leaves[each.leaf].path) && from.decodes_ranges(each.leaf);
      (is_common ? common : own).push_back(each);
    }
    own.reserve(requests.size());
  });
  if (!ranks.is_same(hash_of(common, how))) {
    own.assign(requests.begin(), requests.end());
    common.clear();
    how = read_sharing::never;
  }
  ranks.all([&] { from.read(own, options); });
  sharing_readers readers(from, std::move(common), options, ranks);
  const auto total = readers.left();
  bool sends = how == read_sharing::always || (how == read_sharing::measured && total >= least_measured);
  if (how == read_sharing::measured) {
    // A sample may be slow by chance, so that sending has to be faster three times, by more than the noise. The samples
    // that are sent are a quarter as large, since sending may be much slower.
    const auto sample = std::clamp(total / 64, std::uint64_t{4} << 20U, std::uint64_t{64} << 20U);
    for (int i = 0; i < 3 && sends; ++i) {
      const auto all = readers.read_all(sample), parts = 4 * readers.read_parts(sample / 4);
      sends = ranks.from_leader([&] { return parts < all * 0.9; });
    }
  }
  if (sends)
    readers.read_parts(readers.left());
  else
    readers.read_all(readers.left());
}

}  // namespace cairn::inline v0_1::detail
