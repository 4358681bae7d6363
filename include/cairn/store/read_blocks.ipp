// Definitions of read_blocks.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/read_blocks.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::detail {

/// Bytes that are read by one call and then hashed: they stay in the cache of a core. Blocks are whole numbers of them.
inline constexpr std::uint64_t read_bytes = std::uint64_t{256} << 10U;

/// Bytes [begin, end) of a shard's data section, within one block, and the steps [first, last) that lie in them.
struct block_task {
  std::size_t shard;
  std::uint64_t begin, end;
  std::size_t first = 0, last = 0;
  bool checks = false;  ///< they are a whole block whose checksum is to be compared
};

/// Reads the tasks of one thread.
class block_reader {
 public:
  block_reader(const stored_checkpoint& checkpoint, std::span<const read_step> steps)
      : checkpoint_(checkpoint), steps_(steps) {}

  void read(const block_task& task) {
    const auto& shard = checkpoint_.shards[task.shard];
    running_checksum sum;
    auto steps = steps_.subspan(task.first, task.last - task.first);
    for (auto begin = task.begin; begin < task.end;) {
      const auto end = std::min(task.end, (begin / read_bytes + 1) * read_bytes);
      const auto later = std::find_if(steps.begin(), steps.end(), [&](const auto& step) { return step.begin >= end; });
      const auto now = steps.first(static_cast<std::size_t>(later - steps.begin()));
      fill(shard, begin, end, now);
      if (task.checks)
        for (const auto& each : buffers_) sum.add(each);
      steps = steps.subspan(now.size());
      begin = end;
    }
    if (task.checks) compare(shard, task, sum.value());
  }

 private:
  /// Smaller parts are copied: one more buffer for the system takes longer.
  [[nodiscard]] static bool is_direct(const read_step& step) {
    constexpr std::uint64_t least_bytes = 4096;
    return step.into->contiguous() && step.end - step.begin >= least_bytes;
  }

  /// Reads [begin, end) into the memory of the steps, and into scratch memory where that is not possible.
  void fill(const stored_shard& shard, std::uint64_t begin, std::uint64_t end, std::span<const read_step> steps) {
    const auto overlap = [](const auto& a, const auto& b) { return b.begin < a.end; };
    const bool all_copied = std::adjacent_find(steps.begin(), steps.end(), overlap) != steps.end();
    const auto scratch = scratch_.first(end - begin);
    buffers_.clear();
    std::uint64_t filled = begin;
    const auto fill_scratch = [&](std::uint64_t to) {
      if (to > filled) buffers_.push_back(scratch.subspan(filled - begin, to - filled));
    };
    for (const auto& step : steps) {
      if (all_copied || !is_direct(step)) continue;
      fill_scratch(step.begin);
      buffers_.push_back({step.into->memory + step.at, step.end - step.begin});
      filled = step.end;
    }
    fill_scratch(end);
    shard.file->read(shard.header.data_start + begin, buffers_);
    for (const auto& step : steps)
      if (all_copied || !is_direct(step))
        scatter_bytes(*step.into, step.at, scratch.subspan(step.begin - begin, step.end - step.begin));
  }

  /// The leaf that byte `at` of a shard's data section belongs to.
  [[nodiscard]] static std::string_view leaf_at(const stored_shard& shard, std::uint64_t at) {
    const auto& tensors = shard.header.tensors;
    const auto hit = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= at; });
    return hit == tensors.end() ? std::string_view() : std::string_view(hit->key);
  }

  static void compare(const stored_shard& shard, const block_task& task, std::uint64_t found) {
    const auto block = task.begin / block_bytes;
    if (found != shard.metadata.blocks[block])
      fail(errc::corrupt,
           {shard.where, ": the ", task.end - task.begin, " bytes from byte ", shard.header.data_start + task.begin,
            " on do not match their checksum; the damage affects the tensors \"", leaf_at(shard, task.begin),
            "\" to \"", leaf_at(shard, task.end - 1), "\""});
    shard.verified[block] = true;
  }

  const stored_checkpoint& checkpoint_;
  std::span<const read_step> steps_;
  page_buffer scratch_;
  std::vector<std::span<std::byte>> buffers_;
};

inline void run_tasks(const stored_checkpoint& checkpoint, std::span<const block_task> tasks,
                      std::span<const read_step> steps, unsigned threads) {
  std::vector<block_reader> readers;
  const auto workers = std::min<std::size_t>(threads_of(threads), tasks.size());
  for (std::size_t i = 0; i < workers; ++i) readers.emplace_back(checkpoint, steps);
  parallel_for(tasks.size(), threads, [&](std::size_t i, unsigned worker) { readers[worker].read(tasks[i]); });
}

/// The task for a whole block.
[[nodiscard]] inline block_task whole_block(const stored_shard& shard, std::size_t number, std::uint64_t block) {
  const auto begin = block * block_bytes;
  return {
      .shard = number, .begin = begin, .end = std::min(begin + block_bytes, shard.header.data_bytes), .checks = true};
}

/// Cuts the steps where one call of the system ends, in the order of the file.
[[nodiscard]] inline std::vector<read_step> cut_steps(std::vector<read_step> steps) {
  sort_items(steps,
             [](const auto& a, const auto& b) { return a.shard != b.shard ? a.shard < b.shard : a.begin < b.begin; });
  std::vector<read_step> cut;
  bool is_sorted = true;
  for (auto step : steps)
    while (step.begin < step.end) {
      auto now = step;
      now.end = std::min(step.end, (step.begin / read_bytes + 1) * read_bytes);
      is_sorted = is_sorted && (cut.empty() || cut.back().shard != now.shard || cut.back().begin <= now.begin);
      cut.push_back(now);
      step.at += now.end - now.begin;
      step.begin = now.end;
    }
  return is_sorted ? cut : cut_steps(std::move(cut));  // a step overlaps another one
}

/// One task for each block with steps. Without a check, parts of it that are far from each other are read alone.
[[nodiscard]] inline std::vector<block_task> tasks_of(const stored_checkpoint& checkpoint,
                                                      std::span<const read_step> steps, bool verify) {
  constexpr std::uint64_t least_gap = 64 << 10;
  std::vector<block_task> tasks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    const auto& shard = checkpoint.shards[step.shard];
    const auto block = step.begin / block_bytes;
    const bool is_same_block =
        !tasks.empty() && tasks.back().shard == step.shard && tasks.back().begin / block_bytes == block;
    if (is_same_block && (tasks.back().checks || step.begin < tasks.back().end + least_gap)) {
      tasks.back().end = std::max(tasks.back().end, step.end);
      tasks.back().last = i + 1;
      continue;
    }
    const bool checks = verify && !shard.metadata.blocks.empty() && !shard.verified[block];
    auto task = checks ? whole_block(shard, step.shard, block)
                       : block_task{.shard = step.shard, .begin = step.begin, .end = step.end};
    task.first = i;
    task.last = i + 1;
    tasks.push_back(task);
  }
  return tasks;
}

CAIRN_INLINE void read_blocks(const stored_checkpoint& checkpoint, std::vector<read_step> steps, bool verify,
                              unsigned threads) {
  steps = cut_steps(std::move(steps));
  run_tasks(checkpoint, tasks_of(checkpoint, steps, verify), steps, threads);
}

CAIRN_INLINE void verify_blocks(const stored_checkpoint& checkpoint, std::span<const block_run> runs,
                                unsigned threads) {
  std::vector<block_task> tasks;
  for (const auto& run : runs) {
    const auto& shard = checkpoint.shards[run.shard];
    for (auto block = run.first; block < run.last; ++block)
      if (!shard.verified[block]) tasks.push_back(whole_block(shard, run.shard, block));
  }
  const auto place = [](const auto& task) { return std::pair(task.shard, task.begin); };
  sort_items(tasks, [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto again =
      std::unique(tasks.begin(), tasks.end(), [&](const auto& a, const auto& b) { return place(a) == place(b); });
  tasks.erase(again, tasks.end());  // runs may share blocks
  run_tasks(checkpoint, tasks, {}, threads);
}

}  // namespace cairn::detail
