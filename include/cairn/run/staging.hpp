// Copies the elements of pieces into its own memory, so that the state may change while they are saved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/stream_copy.hpp"

namespace cairn::detail {

/// A piece to copy. It is not copied if its leaf owns its memory.
struct planned_copy : piece {
  std::size_t room = 0;  ///< free bytes before the copy

  friend bool operator==(const planned_copy&, const planned_copy&) = default;
};

/// Memory for the copies of shards, which is reused. One thread at a time calls it.
class staging {
 public:
  /// (leaf, bytes of a piece of it) -> free bytes before the copy of the piece.
  using room_rule = std::function<std::size_t(const leaf&, std::size_t)>;

  explicit staging(room_rule room) : room_(std::move(room)) {}

  /// The copies of the pieces of one shard, each with the room that the rule gives it.
  [[nodiscard]] std::vector<planned_copy> plan(std::span<const leaf> leaves, std::span<const piece> pieces) const {
    std::vector<planned_copy> planned;
    planned.reserve(pieces.size());
    for (const auto& each : pieces) {
      const bool is_copied = staging::is_copied(leaves, each);
      planned.push_back({each, is_copied ? round_to_lines(room_(leaves[each.leaf], bytes_of(leaves, each))) : 0});
    }
    return planned;
  }

  /// Bytes that the copies take, with their room.
  [[nodiscard]] static std::uint64_t bytes_for(std::span<const leaf> leaves, std::span<const planned_copy> pieces) {
    std::uint64_t bytes = 0;
    for (const auto& each : pieces)
      if (is_copied(leaves, each)) bytes += each.room + round_to_lines(bytes_of(leaves, each));
    return bytes;
  }

  /// Allocates at least `bytes` bytes and touches their pages, so that a later copy does not wait for that. Discards the contents.
  void reserve(std::uint64_t bytes, unsigned threads) {
    if (bytes <= memory_.bytes().size()) return;
    memory_ = {};  // frees the old memory before it allocates the new
    memory_ = huge_buffer(bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.bytes().data());
    populate_pages({{begin, begin + memory_.bytes().size()}}, threads);
  }

  /// Copies the elements of the pieces. The copies are valid until the next call of `copy` or `reserve`. The elements of a leaf that owns
  /// its memory (a copy that its description made) are not copied again. The result refers to no memory of the state.
  [[nodiscard]] shards_of<staged_piece> copy(std::span<const leaf> leaves,
                                             std::span<const std::vector<planned_copy>> shards, unsigned threads) {
    std::uint64_t bytes = 0, copied = 0;
    for (const auto& shard : shards) bytes += bytes_for(leaves, shard);
    reserve(bytes, threads);
    shards_of<staged_piece> staged(shards.size());
    std::byte* at = memory_.bytes().data();
    std::vector<task> tasks;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      staged[i].reserve(shards[i].size());
      for (const auto& each : shards[i]) {
        auto& made = staged[i].emplace_back(staged_piece{each});
        if (!is_copied(leaves, each)) continue;
        made.room = each.room;
        made.copy = at + each.room;
        at = made.copy + round_to_lines(bytes_of(leaves, each));
        copied += bytes_of(leaves, each);
        add_tasks(tasks, leaves[each.leaf], made);
      }
    }
    const auto most =
        static_cast<unsigned>(std::min<std::uint64_t>(copied / min_bytes_per_thread + 1, default_threads()));
    parallel_for(tasks.size(), std::min(threads == 0 ? most : threads, most),
                 [&](std::size_t i, unsigned) { tasks[i].run(); });
    return staged;
  }

  /// Bytes that are allocated.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return memory_.bytes().size(); }

 private:
  static constexpr std::size_t cache_line = 64;  // bytes; no two pieces share one
  /// Bytes that a thread copies at a time.
  static constexpr std::uint64_t task_bytes = std::uint64_t{1} << 20U;
  /// Copying fewer bytes takes less time than starting a thread.
  static constexpr std::uint64_t min_bytes_per_thread = std::uint64_t{1} << 20U;

  [[nodiscard]] static std::size_t round_to_lines(std::size_t bytes) noexcept {
    return (bytes + cache_line - 1) / cache_line * cache_line;
  }

  /// Copies some elements of a piece.
  struct task {
    const leaf* from;
    std::uint64_t first;  // element of the leaf
    std::span<std::byte> to;

    void run() const {
      if (from->contiguous())
        stream_copy(to.data(), from->memory + first * size_of(from->type), to.size());
      else
        gather(*from, first, to);
    }
  };

  [[nodiscard]] static bool is_copied(std::span<const leaf> leaves, const piece& each) noexcept {
    return each.count != 0 && leaves[each.leaf].owner == nullptr;
  }

  [[nodiscard]] static std::size_t bytes_of(std::span<const leaf> leaves, const piece& each) noexcept {
    return each.count * size_of(leaves[each.leaf].type);
  }

  static void add_tasks(std::vector<task>& tasks, const leaf& whole, const staged_piece& each) {
    const std::uint64_t width = size_of(whole.type), step = task_bytes / width;
    for (std::uint64_t done = 0; done < each.count; done += step) {
      const auto count = std::min(step, each.count - done);
      tasks.push_back({&whole, each.first + done, {each.copy + done * width, count * width}});
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
};

/// Cuts the leaves into `shards` shards, see divide_evenly; where their copies exceed `limit` bytes, into as many as it takes until each shard fits.
/// errc::invalid for a state that would need too many.
[[nodiscard]] inline staging_plan plan_staging(const staging& copies, std::span<const leaf> leaves, std::size_t shards,
                                               std::optional<std::uint64_t> limit) {
  constexpr std::size_t most_shards = 99'999;
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
  for (auto count = std::max<std::size_t>(plan.shards.size(), plan.bytes / *limit + 1); count <= most_shards;
       count += count / 8 + 1) {
    cut(count);
    plan.bytes = largest;
    if (plan.bytes <= *limit) return plan;
  }
  fail(errc::invalid, {"the state is too large for copies of ", *limit, " bytes"});
}

}  // namespace cairn::detail
