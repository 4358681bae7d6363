// SPDX-License-Identifier: MIT
// Definitions of store/reader.hpp: steps become tasks of whole calls, which threads take in the order of the files.
#pragma once

#include <deque>

#include "cairn/store/reader.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

void check_requests(std::string_view origin, std::span<const stored_leaf> leaves,
                    std::span<const read_request> requests) {
  for (const auto& [index, into, region, first] : requests) {
    if (index >= leaves.size()) fail(errc::invalid, {"there is no such leaf in ", origin});
    const auto& leaf = leaves[index];
    if (region && !is_inside(*region, leaf.shape))
      fail(errc::mismatch,
           {origin, ": \"", leaf.path, "\" of shape ", to_string(leaf.shape), " does not have the box of shape ",
            to_string(region->shape), " at ", to_string(region->first)});
    if (first && (*first > element_count(leaf.shape) || into.count() > element_count(leaf.shape) - *first))
      fail(errc::mismatch, {origin, ": \"", leaf.path, "\" of shape ", to_string(leaf.shape), " does not have ",
                            into.count(), " elements from ", *first, " on"});
    if (first && leaf.type == into.type) continue;
    if (leaf.type != into.type || (region ? region->count() : element_count(leaf.shape)) != into.count())
      fail(errc::mismatch, {origin, ": \"", leaf.path, "\" is ", name(leaf.type), to_string(leaf.shape),
                            ", the memory for it ", name(into.type), to_string(into.shape)});
  }
}

/// Bytes of a shard that are read by one call and then hashed. Calls end at multiples of it.
[[nodiscard]] inline std::uint64_t read_bytes(const stored_shard& shard) noexcept {
  return std::max<std::uint64_t>(block_count(shard.file->preferred_read()), 1) * block_bytes;
}

/// Most bytes that a thread takes at a time.
[[nodiscard]] inline std::uint64_t task_bytes(const stored_shard& shard) noexcept {
  return std::max(read_bytes(shard), std::uint64_t{1} << 20U);
}

/// In the order of the files.
inline constexpr auto is_before = [](const auto& a, const auto& b) {
  return a.shard != b.shard ? a.shard < b.shard : a.begin < b.begin;
};

/// The leaf that byte `at` of a shard's data section belongs to.
[[nodiscard]] inline std::string_view leaf_at(const stored_shard& shard, std::uint64_t at) {
  const auto& tensors = shard.header.tensors;
  const auto hit = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= at; });
  return hit == tensors.end() ? std::string_view() : std::string_view(hit->key);
}

void compare_block(const stored_shard& shard, std::uint64_t block, std::uint64_t found) {
  const auto begin = block * block_bytes, end = std::min(begin + block_bytes, shard.header.data_bytes);
  if (found == shard.metadata.blocks[block]) {
    shard.verified[block] = true;
    return;
  }
  const auto first = leaf_at(shard, begin), last = leaf_at(shard, end - 1);
  fail(errc::corrupt, {shard.where, ": the ", end - begin, " bytes from byte ", shard.header.data_start + begin,
                       " on do not match their checksum; the damage affects \"", first,
                       first == last ? "\"" : sentence({"\" to \"", last, "\""})});
}

/// Reads the tasks of one thread.
class task_reader {
 public:
  task_reader(const stored_checkpoint& checkpoint, std::span<const read_step> steps)
      : checkpoint_(checkpoint), steps_(steps) {}

  void read(const read_task& task) {
    const auto& shard = checkpoint_.shards[task.shard];
    block_sum_ = {};
    auto steps = steps_.subspan(task.first, task.last - task.first);
    for (auto begin = task.begin; begin < task.end;) {
      const auto most = read_bytes(shard), end = std::min(task.end, (begin / most + 1) * most);
      const auto later = std::find_if(steps.begin(), steps.end(), [&](const auto& step) { return step.begin >= end; });
      const auto now = steps.first(static_cast<std::size_t>(later - steps.begin()));
      fill(shard, begin, end, now);
      if (task.checks) check(shard, begin);
      steps = steps.subspan(now.size());
      begin = end;
    }
  }

 private:
  /// Hashes what was read from byte `at` of the data section on, and compares the checksum of each block ending in it.
  void check(const stored_shard& shard, std::uint64_t at) {
    for (std::span<const std::byte> bytes : buffers_)
      while (!bytes.empty()) {
        const auto block_end = std::min((at / block_bytes + 1) * block_bytes, shard.header.data_bytes);
        const auto now = bytes.first(std::min<std::uint64_t>(bytes.size(), block_end - at));
        const bool is_whole = at % block_bytes == 0 && at + now.size() == block_end;
        if (!is_whole) block_sum_.add(now);
        bytes = bytes.subspan(now.size());
        at += now.size();
        if (at == block_end)
          compare_block(shard, (at - 1) / block_bytes,
                        is_whole ? checksum(now) : std::exchange(block_sum_, {}).value());
      }
  }

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

  const stored_checkpoint& checkpoint_;
  std::span<const read_step> steps_;
  page_buffer scratch_;
  std::vector<std::span<std::byte>> buffers_;
  running_checksum block_sum_;
};

inline void run_tasks(const stored_checkpoint& checkpoint, std::span<const read_task> tasks,
                      std::span<const read_step> steps, unsigned threads) {
  constexpr unsigned for_disk = 8;  // which takes several requests at a time
  if (threads == 0) threads = for_disk;
  std::vector<task_reader> readers;
  const auto workers = std::min<std::size_t>(threads, tasks.size());
  for (std::size_t i = 0; i < workers; ++i) readers.emplace_back(checkpoint, steps);
  parallel_for(tasks.size(), threads, [&](std::size_t i, unsigned worker) { readers[worker].read(tasks[i]); });
}

/// Cuts the steps where one call of the system ends, in the order of the file.
[[nodiscard]] inline std::vector<read_step> cut_steps(const stored_checkpoint& checkpoint,
                                                      std::vector<read_step> steps) {
  sort_items(steps, is_before);
  std::vector<read_step> cut;
  bool is_sorted = true;
  for (auto step : steps)
    while (step.begin < step.end) {
      auto now = step;
      const auto most = read_bytes(checkpoint.shards[step.shard]);
      now.end = std::min(step.end, (step.begin / most + 1) * most);
      is_sorted = is_sorted && (cut.empty() || cut.back().shard != now.shard || cut.back().begin <= now.begin);
      cut.push_back(now);
      step.at += now.end - now.begin;
      step.begin = now.end;
    }
  return is_sorted ? cut : cut_steps(checkpoint, std::move(cut));  // a step overlaps another one
}

/// Adds bytes [begin, end) of a shard to the tasks, in the file's order: to the last one if they come next there, and
/// both are of the same `most` bytes, which a thread takes at a time.
inline void add_bytes(std::vector<read_task>& tasks, const read_task& added, std::uint64_t gap, std::uint64_t most) {
  if (!tasks.empty()) {
    auto& last = tasks.back();
    const bool is_near = last.shard == added.shard && last.checks == added.checks && added.begin <= last.end + gap &&
                         added.begin / most == last.begin / most;
    if (is_near) {
      last.end = std::max(last.end, added.end);
      last.last = added.last;
      return;
    }
  }
  tasks.push_back(added);
}

/// The tasks for the steps. With `verify`, a step takes the whole blocks that it lies in, unless all are checked.
[[nodiscard]] inline std::vector<read_task> tasks_of(const stored_checkpoint& checkpoint,
                                                     std::span<const read_step> steps, bool verify) {
  constexpr std::uint64_t gap = 64 << 10;  // a shorter one is read too
  std::vector<read_task> tasks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& step = steps[i];
    const auto& shard = checkpoint.shards[step.shard];
    read_task task{.shard = step.shard, .begin = step.begin, .end = step.end, .first = i, .last = i + 1};
    for (auto block = step.begin / block_bytes;
         verify && !shard.metadata.blocks.empty() && block * block_bytes < step.end; ++block)
      task.checks = task.checks || !shard.verified[block];
    if (task.checks) {
      task.begin = step.begin / block_bytes * block_bytes;
      task.end = std::min(block_count(step.end) * block_bytes, shard.header.data_bytes);
    }
    add_bytes(tasks, task, task.checks ? 0 : gap, task_bytes(shard));
  }
  return tasks;
}

void read_blocks(const stored_checkpoint& checkpoint, std::vector<read_step> steps, bool verify, unsigned threads) {
  steps = cut_steps(checkpoint, std::move(steps));
  run_tasks(checkpoint, tasks_of(checkpoint, steps, verify), steps, threads);
}

void verify_blocks(const stored_checkpoint& checkpoint, std::span<const read_task> wanted, unsigned threads) {
  std::vector<read_task> blocks;
  for (const auto& each : wanted) {
    const auto& shard = checkpoint.shards[each.shard];
    if (each.begin == each.end || shard.metadata.blocks.empty()) continue;
    for (auto block = each.begin / block_bytes; block < block_count(each.end); ++block)
      if (!shard.verified[block])
        blocks.push_back({.shard = each.shard,
                          .begin = block * block_bytes,
                          .end = std::min((block + 1) * block_bytes, shard.header.data_bytes),
                          .checks = true});
  }
  sort_items(blocks, is_before);
  std::vector<read_task> tasks;
  for (const auto& each : blocks)  // several may be of one block
    add_bytes(tasks, each, 0, task_bytes(checkpoint.shards[each.shard]));
  run_tasks(checkpoint, tasks, {}, threads);
}

void read_leaves(const stored_checkpoint& checkpoint, std::span<const read_request> requests,
                 const read_options& options) {
  check_requests(checkpoint.contents.origin, checkpoint.contents.leaves, requests);
  std::vector<read_step> steps;
  std::deque<memory_view> views;  // the steps refer to them
  std::deque<std::pair<const memory_view*, page_buffer>> copies;
  for (const auto& request : requests) {
    const auto& leaf = checkpoint.contents.leaves[request.leaf];
    const auto width = size_of(leaf.type);
    const memory_view* whole = nullptr;  // of the leaf's shape, where it has boxes
    for (const auto& slice : checkpoint.slices_of(request.leaf, request.part())) {
      if (slice.encoded != nullptr)
        fail(errc::unsupported, {checkpoint.contents.origin, ": \"", leaf.path, "\" is encoded by \"",
                                 slice.encoded->codec, "\" and has to be decoded"});
      if (!request.is_whole()) {
        for_each_common_run(
            slice, request.part(), leaf.shape, [&](std::uint64_t in_slice, std::uint64_t in_part, std::uint64_t count) {
              const auto begin = slice.begin + in_slice * width;
              steps.push_back({slice.shard, begin, begin + count * width, &request.into, in_part * width});
            });
        continue;
      }
      if (!slice.region) {
        steps.push_back({slice.shard, slice.begin, slice.end(), &request.into, slice.first * width});
        continue;
      }
      if (whole == nullptr) {
        auto view = request.into;
        if (!view.contiguous() && view.shape != leaf.shape) {
          const auto& [to, memory] = copies.emplace_back(&request.into, page_buffer(leaf.bytes()));
          view = {leaf.type, {}, memory.bytes().data(), {}};
        }
        view.shape = leaf.shape;
        whole = &views.emplace_back(std::move(view));
      }
      steps.push_back({slice.shard, slice.begin, slice.end(), &views.emplace_back(view_of(*whole, *slice.region)), 0});
    }
  }
  read_blocks(checkpoint, std::move(steps), options.verify, options.threads);
  for (const auto& [to, memory] : copies) scatter(*to, 0, memory.bytes());
}

void read_stored(const stored_checkpoint& checkpoint, std::size_t shard, std::uint64_t begin, std::span<std::byte> out,
                 const read_options& options) {
  const memory_view whole{dtype::u8, {out.size()}, out.data(), {}};
  read_blocks(checkpoint, {{shard, begin, begin + out.size(), &whole, 0}}, options.verify, options.threads);
}

void verify(const stored_checkpoint& checkpoint, unsigned threads) {
  std::vector<read_task> wanted;
  for (std::size_t i = 0; i < checkpoint.shards.size(); ++i)
    wanted.push_back({i, 0, checkpoint.shards[i].header.data_bytes});
  verify_blocks(checkpoint, wanted, threads);
}

void verify(const stored_checkpoint& checkpoint, std::span<const std::size_t> leaves, unsigned threads) {
  std::vector<read_task> wanted;
  for (const auto leaf : leaves)
    for (const auto& slice : checkpoint.slices_of(leaf)) wanted.push_back({slice.shard, slice.begin, slice.end()});
  verify_blocks(checkpoint, wanted, threads);
}

}  // namespace cairn::inline v0_1::detail
