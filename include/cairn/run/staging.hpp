// Copies the elements of pieces into memory of its own, fast, so that the state may change while they are saved.
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
#include "cairn/system/memory.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/stream_copy.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/core/piece.hpp"

namespace cairn {

/// Memory for one copy of a state, or of a part of one, used again and again. One thread at a time calls it.
class staging {
 public:
  /// (leaf, bytes of a piece of it) -> bytes that are to be free before the copy of the piece.
  using room_rule = std::function<std::size_t(const leaf&, std::size_t)>;

  explicit staging(room_rule room) : room_(std::move(room)) {}

  /// Gives the pieces the room that the rule wants for them, and returns the bytes that their copies take with it.
  std::uint64_t make_room(std::span<const leaf> leaves, std::span<std::vector<piece>> shards) const {
    std::uint64_t bytes = 0;
    for (auto& shard : shards)
      for (auto& each : shard) {
        if (!is_copied(leaves, each)) continue;
        each.room = in_lines(room_(leaves[each.leaf], bytes_of(leaves, each)));
        bytes += each.room + in_lines(bytes_of(leaves, each));
      }
    return bytes;
  }

  /// Has room for so many bytes, with its pages in place, so that copying does not wait for them. Keeps no contents.
  void reserve(std::uint64_t bytes, unsigned threads) {
    if (bytes <= memory_.bytes().size()) return;
    memory_ = {};  // first the old, then the new: never both
    memory_ = huge_buffer(bytes);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.bytes().data());
    populate_pages({{begin, begin + memory_.bytes().size()}}, threads);
  }

  /// Copies the elements of the pieces, which have been given their room, and points them at the copies, which are valid until the
  /// next call. Leaves that are copies already, made for their description, are left alone. Afterwards nothing of the pieces is in the
  /// state's memory. Returns the bytes that were copied.
  std::uint64_t copy(std::span<const leaf> leaves, std::span<std::vector<piece>> shards, unsigned threads) {
    std::uint64_t bytes = 0, copied = 0;
    for (auto& shard : shards)
      for (auto& each : shard)
        if (is_copied(leaves, each)) bytes += each.room + in_lines(bytes_of(leaves, each));
    reserve(bytes, threads);
    std::byte* at = memory_.bytes().data();
    std::vector<task> tasks;
    for (auto& shard : shards)
      for (auto& each : shard) {
        if (!is_copied(leaves, each)) continue;
        each.staged = at + each.room;
        at = each.staged + in_lines(bytes_of(leaves, each));
        copied += bytes_of(leaves, each);
        add_tasks(tasks, leaves[each.leaf], each);
      }
    const auto most = static_cast<unsigned>(std::min<std::uint64_t>(copied / worth_a_thread + 1, default_threads()));
    parallel_for(tasks.size(), std::min(threads == 0 ? most : threads, most),
                 [&](std::size_t i, unsigned) { tasks[i].run(); });
    return copied;
  }

  /// Bytes that it holds.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return memory_.bytes().size(); }

 private:
  static constexpr std::size_t line = 64;                               // no two pieces share one
  static constexpr std::uint64_t task_bytes = std::uint64_t{1} << 20U;  // what a thread takes at a time
  static constexpr std::uint64_t worth_a_thread = std::uint64_t{1}
                                                  << 20U;  // starting one takes as long as copying this

  [[nodiscard]] static std::size_t in_lines(std::size_t bytes) noexcept { return (bytes + line - 1) / line * line; }

  /// A part of a piece to be copied.
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

  static void add_tasks(std::vector<task>& tasks, const leaf& whole, const piece& each) {
    const std::uint64_t width = size_of(whole.type), step = task_bytes / width;
    for (std::uint64_t done = 0; done < each.count; done += step) {
      const auto count = std::min(step, each.count - done);
      tasks.push_back({&whole, each.first + done, {each.staged + done * width, count * width}});
    }
  }

  room_rule room_;
  huge_buffer memory_;
};

/// How a state is cut so that copies of its parts fit into a budget.
struct staging_plan {
  division shards;
  std::uint64_t bytes = 0;  ///< of the largest copy
  bool in_parts = false;    ///< the shards have to be copied one by one
};

/// Cuts the leaves into `shards` shards, or into as many as it takes until each fits into `limit` bytes; the pieces have their room.
/// errc::invalid for a state that would need too many.
[[nodiscard]] inline staging_plan plan_staging(const staging& copies, std::span<const leaf> leaves, std::size_t shards,
                                               std::optional<std::uint64_t> limit) {
  constexpr std::size_t most_shards = 99'999;
  staging_plan plan{divide_evenly(leaves, shards)};
  plan.bytes = copies.make_room(leaves, plan.shards);
  if (!limit || plan.bytes <= *limit) return plan;
  const auto budget = *limit;
  plan.in_parts = true;
  for (auto count = std::max<std::size_t>(shards, plan.bytes / budget + 1); count <= most_shards;
       count += count / 8 + 1) {
    plan.shards = divide_evenly(leaves, count);
    plan.bytes = 0;
    for (auto& shard : plan.shards) plan.bytes = std::max(plan.bytes, copies.make_room(leaves, {&shard, 1}));
    if (plan.bytes <= budget) return plan;
  }
  fail(errc::invalid, {"the state is too large for copies of ", std::to_string(budget), " bytes"});
}

}  // namespace cairn
