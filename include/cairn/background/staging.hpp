// Copies the elements of pieces into memory of its own, fast, so that the state may change while they are saved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cairn/core/huge_buffer.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/pages.hpp"
#include "cairn/core/parallel.hpp"
#include "cairn/core/stream_copy.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/piece.hpp"

namespace cairn {

/// Memory for one copy of a state, or of a part of one, used again and again. One thread at a time calls it.
class staging {
 public:
  /// (leaf, bytes of a piece of it) -> bytes that are to be free before the copy of the piece.
  using room_rule = std::function<std::size_t(const leaf&, std::size_t)>;

  explicit staging(room_rule room) : room_(std::move(room)) {}

  /// Bytes that copies of these pieces take.
  [[nodiscard]] std::uint64_t bytes_for(std::span<const leaf> leaves,
                                        std::span<const std::vector<piece>> shards) const {
    std::uint64_t bytes = 0;
    for (const auto& shard : shards)
      for (const auto& each : shard)
        if (is_copied(leaves, each)) bytes += place_of(leaves, each).end();
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

  /// Copies the elements of the pieces and points the pieces at the copies, which are valid until the next call. Leaves that are
  /// copies already, made for their description, are left alone. Afterwards nothing of the pieces is in the state's memory. Returns
  /// the bytes that were copied.
  std::uint64_t copy(std::span<const leaf> leaves, std::span<std::vector<piece>> shards, unsigned threads) {
    reserve(bytes_for(leaves, shards), threads);
    std::byte* at = memory_.bytes().data();
    std::vector<task> tasks;
    std::uint64_t bytes = 0;
    for (auto& shard : shards)
      for (auto& each : shard) {
        if (!is_copied(leaves, each)) continue;
        const auto place = place_of(leaves, each);
        each.staged = at + place.room;
        each.room = place.room;
        at += place.end();
        bytes += place.bytes;
        add_tasks(tasks, leaves[each.leaf], each);
      }
    const auto most = static_cast<unsigned>(std::min<std::uint64_t>(bytes / worth_a_thread + 1, default_threads()));
    parallel_for(tasks.size(), std::min(threads == 0 ? most : threads, most),
                 [&](std::size_t i, unsigned) { tasks[i].run(); });
    return bytes;
  }

  /// Bytes that it holds.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return memory_.bytes().size(); }

 private:
  static constexpr std::size_t line = 64;                               // no two pieces share one
  static constexpr std::uint64_t task_bytes = std::uint64_t{1} << 20U;  // what a thread takes at a time
  static constexpr std::uint64_t worth_a_thread = std::uint64_t{1}
                                                  << 20U;  // starting one takes as long as copying this

  [[nodiscard]] static std::size_t in_lines(std::size_t bytes) noexcept { return (bytes + line - 1) / line * line; }

  struct place {
    std::size_t room, bytes;
    [[nodiscard]] std::size_t end() const noexcept { return room + in_lines(bytes); }
  };

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

  [[nodiscard]] place place_of(std::span<const leaf> leaves, const piece& each) const {
    const auto& whole = leaves[each.leaf];
    const std::size_t bytes = each.count * size_of(whole.type);
    return {in_lines(room_(whole, bytes)), bytes};
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

}  // namespace cairn
