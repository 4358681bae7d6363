// SPDX-License-Identifier: MIT
// Copies the elements of pieces into its own memory, so that the state may change while they are saved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/plan/record_columns.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/system/sort.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

#if defined(__SSE2__)
inline void stream_line(std::byte* to, const std::byte* from) noexcept {
  const auto* source = reinterpret_cast<const __m128i*>(from);
  auto* target = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
}
#endif

/// memcpy with non-temporal stores for long runs: 1.4 times its rate for memory that is not read soon.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == 0) return;
#if defined(__SSE2__)
  constexpr std::size_t line = 64, page = page_bytes, pages = 4;
  if (bytes >= pages * page) {
    const std::size_t before = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
    std::memcpy(to, from, before);
    to += before, from += before, bytes -= before;
    // Four pages at a time: four streams keep more of the memory's banks busy than one.
    for (; bytes >= pages * page; to += pages * page, from += pages * page, bytes -= pages * page)
      for (std::size_t at = 0; at < page; at += line)
        for (std::size_t p = 0; p < pages; ++p) stream_line(to + p * page + at, from + p * page + at);
    for (; bytes >= line; to += line, from += line, bytes -= line) stream_line(to, from);
    _mm_sfence();
  }
#endif
  std::memcpy(to, from, bytes);
}

/// A piece to copy. It is not copied if its leaf owns its memory.
struct planned_copy : piece {
  std::size_t room = 0;  ///< free bytes before the copy
  std::uint64_t at = 0;  ///< where it is in the memory of its shard

  friend bool operator==(const planned_copy&, const planned_copy&) = default;
};

/// Memory for the copies of shards, which is reused. One thread at a time calls it.
class staging {
 public:
  /// (leaf, bytes of a piece of it) -> free bytes before the copy of the piece.
  using room_rule = std::function<std::size_t(const leaf&, std::size_t)>;

  explicit staging(room_rule room) : room_(std::move(room)) {}

  /// The copies of the pieces of one shard. Those that are stored as they are lie as in the file (comes_before), so
  /// that the writer finds them aligned and adjoining; the others follow, each with the room that the rule gives it.
  [[nodiscard]] std::vector<planned_copy> plan(std::span<const leaf> leaves, std::span<const piece> pieces) const {
    std::vector<planned_copy> planned;
    planned.reserve(pieces.size());
    for (const auto& each : pieces) {
      const bool is_copied = staging::is_copied(leaves, each);
      planned.push_back({each, is_copied ? round_up(room_(leaves[each.leaf], bytes_of(leaves, each)), cache_line) : 0});
    }
    const auto width = [&](const planned_copy& each) { return each.room != 0 ? 0 : size_of(leaves[each.leaf].type); };
    const auto order = sorted_order(planned.size(), [&](std::size_t a, std::size_t b) {
      return comes_before(leaves, planned[a], width(planned[a]), planned[b], width(planned[b]));
    });
    std::uint64_t end = 0, in_file = 0;
    for (const auto i : order) {
      auto& each = planned[i];
      const auto bytes = bytes_of(leaves, each);
      if (is_copied(leaves, each)) {
        if (each.room != 0)
          end = round_up(end, cache_line) + each.room;
        else  // behind what is not copied, the place in a page of the file again, if that is worth a page
          end = bytes < page_bytes ? round_up(end, width(each)) : end + (in_file - end) % page_bytes;
        each.at = end;
        end += bytes;
      }
      in_file += bytes;
    }
    return planned;
  }

  /// Bytes that the copies take, with their room.
  [[nodiscard]] static std::uint64_t bytes_for(std::span<const leaf> leaves, std::span<const planned_copy> pieces) {
    std::uint64_t end = 0;
    for (const auto& each : pieces)
      if (is_copied(leaves, each)) end = std::max(end, each.at + bytes_of(leaves, each));
    return end;
  }

  /// Allocates `bytes` bytes or more and touches their pages, so a later copy does not wait. Discards the contents.
  void reserve(std::uint64_t bytes, unsigned threads) {
    if (bytes <= memory_.bytes().size()) return;
    memory_ = {};  // frees the old memory before it allocates the new
    memory_ = huge_buffer(bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.bytes().data());
    populate_pages({{begin, begin + memory_.bytes().size()}}, threads);
  }

  /// Copies the elements of the pieces. The copies are valid until the next call of `copy` or `reserve`. The elements
  /// of a leaf that owns its memory (a copy that its description made) are not copied again. The result refers to no
  /// memory of the state.
  [[nodiscard]] shards_of<staged_piece> copy(std::span<const leaf> leaves,
                                             std::span<const std::vector<planned_copy>> shards, unsigned threads) {
    std::uint64_t bytes = 0, copied = 0;
    for (const auto& shard : shards) bytes += round_up(bytes_for(leaves, shard), page_bytes);
    reserve(bytes, threads);
    shards_of<staged_piece> staged(shards.size());
    std::byte* memory = memory_.bytes().data();
    std::vector<task> tasks;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      staged[i].reserve(shards[i].size());
      for (const auto& each : shards[i]) {
        auto& made = staged[i].emplace_back(staged_piece{each});
        if (!is_copied(leaves, each)) continue;
        made.room = each.room;
        made.copy = memory + each.at;
        copied += bytes_of(leaves, each);
      }
      memory += round_up(bytes_for(leaves, shards[i]), page_bytes);
      add_tasks(tasks, leaves, staged[i]);
    }
    const auto most = static_cast<unsigned>(std::min<std::uint64_t>(copied / task_bytes + 1, default_threads()));
    parallel_for(tasks.size(), std::min(threads == 0 ? most : threads, most),
                 [&](std::size_t i, unsigned) { tasks[i].run(); });
    return staged;
  }

  /// Bytes that are allocated.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return memory_.bytes().size(); }

 private:
  static constexpr std::size_t cache_line = 64;  // bytes
  /// Bytes that a thread copies at a time. Copying fewer takes less time than starting it.
  static constexpr std::uint64_t task_bytes = std::uint64_t{1} << 20U;
  /// Bytes of records that stay in its cache while it copies all their columns.
  static constexpr std::uint64_t cached_bytes = std::uint64_t{256} << 10U;

  [[nodiscard]] static std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
  }

  /// Copies some elements of a piece, or some records of all pieces with columns of them: each enters the cache once.
  struct task {
    std::span<const leaf> leaves;
    std::span<const staged_piece> pieces;
    std::uint64_t all;           // elements of the piece, or records of the pieces
    std::uint64_t first, count;  // of these

    void run() const {
      for (const auto& each : pieces) {
        const leaf& from = leaves[each.leaf];
        const auto per_record = each.count / all, begin = first * per_record, width = size_of(from.type);
        const std::span to(each.copy + begin * width, count * per_record * width);
        if (from.contiguous())
          stream_copy(to.data(), from.memory + (each.first + begin) * width, to.size());
        else
          gather(from, each.first + begin, to);
      }
    }
  };

  [[nodiscard]] static bool is_copied(std::span<const leaf> leaves, const piece& each) noexcept {
    return each.count != 0 && leaves[each.leaf].owner == nullptr;
  }

  /// Of which records a copied piece has a column: the first, and how many. None if it has parts of records, too.
  [[nodiscard]] static std::pair<std::uint64_t, std::uint64_t> records_of(std::span<const leaf> leaves,
                                                                          const staged_piece& each,
                                                                          const record_columns& of) noexcept {
    const auto width = leaves[each.leaf].count() / of.records;
    if (each.copy == nullptr || each.first % width != 0 || each.count % width != 0) return {};
    return {each.first / width, each.count / width};
  }

  /// How many pieces from the first one on are columns of the same records.
  [[nodiscard]] static std::size_t count_alike(std::span<const leaf> leaves, std::span<const staged_piece> pieces,
                                               const record_columns& of) noexcept {
    const auto records = records_of(leaves, pieces[0], of);
    std::size_t count = 1;
    while (records.second > 0 && count < pieces.size() && pieces[count].leaf < of.first + of.count &&
           records_of(leaves, pieces[count], of) == records)
      ++count;
    return count;
  }

  /// Adds the copies of the pieces of one shard, which are in the order of the leaves.
  static void add_tasks(std::vector<task>& tasks, std::span<const leaf> leaves, std::span<const staged_piece> pieces) {
    if (pieces.empty()) return;
    const auto first_leaf = pieces.front().leaf;
    auto columns = columns_of(leaves.subspan(first_leaf, pieces.back().leaf - first_leaf + 1));
    for (auto& each : columns) each.first += first_leaf;
    auto next = columns.begin();
    for (std::size_t i = 0, count = 1; i < pieces.size(); i += count) {
      const auto& each = pieces[i];
      const leaf& from = leaves[each.leaf];
      while (next != columns.end() && next->first + next->count <= each.leaf) ++next;
      const bool is_column = next != columns.end() && next->first <= each.leaf && !from.contiguous();
      count = is_column ? count_alike(leaves, pieces.subspan(i), *next) : 1;
      if (each.copy == nullptr) continue;
      auto all = each.count, step = task_bytes / size_of(from.type);
      if (count > 1) {
        all = records_of(leaves, each, *next).second;
        const auto bytes = static_cast<std::uint64_t>(std::abs(from.strides[0])) * from.shape[0];  // of all records
        step = std::max<std::uint64_t>(cached_bytes * next->records / bytes, 1);
      }
      for (std::uint64_t first = 0; first < all; first += step)
        tasks.push_back({leaves, pieces.subspan(i, count), all, first, std::min(step, all - first)});
    }
  }

  room_rule room_;
  huge_buffer memory_;
};

/// How a state is cut into shards whose copies fit into a budget.
struct staging_plan {
  shards_of<planned_copy> shards;
  std::uint64_t bytes = 0;  ///< of the largest copy
  bool in_parts = false;    ///< every shard is a part: copied when the previous one is written
  std::string reason{};     ///< why, where that is not the limit of the user
};

/// Cuts the leaves into `shards` shards, see divide_evenly; where their copies exceed `limit` bytes, into as many as it
/// takes until each shard fits. errc::invalid for a state that would need too many.
[[nodiscard]] inline staging_plan plan_staging(const staging& copies, std::span<const leaf> leaves, std::size_t shards,
                                               std::optional<std::uint64_t> limit) {
  staging_plan plan;
  std::uint64_t largest = 0;  // of the shards
  const auto cut = [&](std::size_t count) {
    plan.shards.clear();
    plan.bytes = largest = 0;
    for (const auto& pieces : divide_evenly(leaves, count)) {
      const auto& made = plan.shards.emplace_back(copies.plan(leaves, pieces));
      const auto bytes = staging::bytes_for(leaves, made);
      plan.bytes += bytes;
      largest = std::max(largest, bytes);
    }
  };
  cut(shards);
  if (!limit || plan.bytes <= *limit) return plan;
  plan.in_parts = true;
  for (auto count = std::max<std::size_t>(plan.shards.size(), plan.bytes / *limit + 1); count <= max_shards;
       count += count / 8 + 1) {
    cut(count);
    plan.bytes = largest;
    if (plan.bytes <= *limit) return plan;
  }
  fail(errc::invalid, {"the state is too large for copies of ", *limit, " bytes"});
}

}  // namespace cairn::inline v0_1::detail
