// Definitions of store/reader.hpp.
#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/system/stream_copy.hpp"

namespace cairn::detail {

/// The most bytes that all threads together map at a time: the memory that a load takes beyond the state.
inline constexpr std::uint64_t mapped_bytes = std::uint64_t{32} << 20U;

[[nodiscard]] inline std::uint64_t window_bytes(unsigned threads) noexcept {
  return std::max(mapped_bytes / std::max(threads, 1U) / block_bytes, std::uint64_t{1}) * block_bytes;
}

/// Consecutive blocks [first, last) of a shard.
struct block_run {
  std::size_t shard;
  std::uint64_t first, last;
};

/// The leaf that byte `at` of a shard's data section belongs to.
[[nodiscard]] inline std::string_view leaf_at(const stored_shard& shard, std::uint64_t at) {
  const auto& tensors = shard.header.tensors;
  const auto hit = std::partition_point(tensors.begin(), tensors.end(), [&](const auto& t) { return t.end <= at; });
  return hit == tensors.end() ? std::string_view() : std::string_view(hit->key);
}

/// Checks the blocks of `runs` that have not been checked yet, all of them before it returns.
inline void verify_blocks(const stored_checkpoint& checkpoint, std::span<const block_run> runs, unsigned threads) {
  const std::uint64_t most = window_bytes(threads) / block_bytes;
  std::vector<block_run> windows;
  std::set<std::pair<std::size_t, std::uint64_t>> added;  // by shard and block: runs may share a block
  for (const auto& run : runs) {
    const auto& verified = checkpoint.shards[run.shard].verified;
    for (std::uint64_t block = run.first; block < run.last; ++block) {
      if (verified[block] || !added.emplace(run.shard, block).second) continue;
      const bool joins = !windows.empty() && windows.back().shard == run.shard && windows.back().last == block &&
                         block - windows.back().first < most;
      if (joins)
        ++windows.back().last;
      else
        windows.push_back({run.shard, block, block + 1});
    }
  }
  const std::function<void(std::size_t, unsigned)> check = [&](std::size_t i, unsigned) {
    const auto& shard = checkpoint.shards[windows[i].shard];
    const std::uint64_t begin = windows[i].first * block_bytes;
    const std::uint64_t end = std::min(windows[i].last * block_bytes, shard.header.data_bytes);
    const auto window = shard.file->view(shard.header.data_start + begin, end - begin);
    for (std::uint64_t block = windows[i].first; block < windows[i].last; ++block) {
      const std::uint64_t at = block * block_bytes;
      const auto bytes = window.bytes().subspan(at - begin, std::min(block_bytes, end - at));
      if (checksum(bytes) != shard.metadata.blocks[block])
        fail(errc::corrupt, {shard.where, ": the ", bytes.size(), " bytes from byte ", shard.header.data_start + at,
                             " on do not match their checksum; the damage affects the tensors \"", leaf_at(shard, at),
                             "\" to \"", leaf_at(shard, at + bytes.size() - 1), "\""});
      shard.verified[block] = true;
    }
  };
  parallel_for(windows.size(), threads, check);
}

/// Bytes [begin, end) of a shard's data section, whole elements, that are copied to `into` from `element` on.
struct copy_step {
  std::size_t shard;
  std::uint64_t begin, end;
  const memory_view* into;
  std::uint64_t element;
};

/// Steps cut into windows: those of window i are [starts[i], starts[i + 1]).
struct window_plan {
  std::vector<copy_step> steps;
  std::vector<std::size_t> starts;
};

/// Cuts the steps into windows of at most `most` bytes of one shard.
[[nodiscard]] inline window_plan cut_into_windows(std::span<const copy_step> steps, std::uint64_t most) {
  window_plan plan;
  auto& [cut, starts] = plan;
  std::size_t shard = 0;
  std::uint64_t window_begin = 0;
  for (auto step : steps) {
    const std::uint64_t width = size_of(step.into->type);
    while (step.begin < step.end) {
      if (starts.empty() || step.shard != shard || step.begin + width > window_begin + most) {
        starts.push_back(cut.size());
        shard = step.shard;
        window_begin = step.begin;
      }
      auto now = step;
      now.end = std::min(step.end, step.begin + (window_begin + most - step.begin) / width * width);
      cut.push_back(now);
      step.element += (now.end - now.begin) / width;
      step.begin = now.end;
    }
  }
  starts.push_back(cut.size());
  return plan;
}

/// Copies the bytes of all steps, window by window.
inline void copy_steps(const stored_checkpoint& checkpoint, std::span<const copy_step> steps, unsigned threads) {
  const auto plan = cut_into_windows(steps, window_bytes(threads));
  const std::function<void(std::size_t, unsigned)> copy = [&](std::size_t i, unsigned) {
    const std::span mine(&plan.steps[plan.starts[i]], plan.starts[i + 1] - plan.starts[i]);
    const auto& shard = checkpoint.shards[mine.front().shard];
    const std::uint64_t begin = mine.front().begin;
    const auto window = shard.file->view(shard.header.data_start + begin, mine.back().end - begin);
    for (const auto& step : mine) {
      const auto bytes = window.bytes().subspan(step.begin - begin, step.end - step.begin);
      if (step.into->contiguous())
        stream_copy(step.into->memory + step.element * size_of(step.into->type), bytes.data(), bytes.size());
      else
        scatter(*step.into, step.element, bytes);
    }
  };
  parallel_for(plan.starts.size() - 1, threads, copy);
}

/// Reads whole leaves for requests that have been checked.
inline void read_leaves(const stored_checkpoint& checkpoint, std::span<const read_request> requests,
                        const read_options& options) {
  const unsigned threads = threads_of(options.threads);
  std::vector<copy_step> steps;
  for (const auto& request : requests) {
    for (const auto& slice : checkpoint.slices_of(request.leaf)) {
      if (slice.encoded != nullptr)
        fail(errc::unsupported, {checkpoint.origin, ": \"", checkpoint.leaves[request.leaf].path, "\" is encoded by \"",
                                 slice.encoded->codec, "\" and has to be decoded"});
      if (slice.count != 0) steps.push_back({slice.shard, slice.begin, slice.end(), &request.into, slice.first});
    }
  }
  sort_items(steps,
             [](const auto& a, const auto& b) { return a.shard != b.shard ? a.shard < b.shard : a.begin < b.begin; });
  if (options.verify) {
    std::vector<block_run> runs;
    for (const auto& step : steps) {
      if (checkpoint.shards[step.shard].metadata.blocks.empty()) continue;
      block_run run{step.shard, step.begin / block_bytes, block_count(step.end)};
      if (!runs.empty() && runs.back().shard == run.shard) run.first = std::max(run.first, runs.back().last);
      if (run.first < run.last) runs.push_back(run);
    }
    verify_blocks(checkpoint, runs, threads);
  }
  copy_steps(checkpoint, steps, threads);
}

CAIRN_INLINE void check_requests(std::string_view origin, std::span<const stored_leaf> leaves,
                                 std::span<const read_request> requests) {
  for (const auto& [index, into] : requests) {
    if (index >= leaves.size()) fail(errc::invalid, {"there is no such leaf in ", origin});
    const auto& leaf = leaves[index];
    if (leaf.type != into.type || element_count(leaf.shape) != into.count())
      fail(errc::mismatch, {origin, ": \"", leaf.path, "\" is ", name(leaf.type), to_string(leaf.shape),
                            ", the memory for it ", name(into.type), to_string(into.shape)});
  }
}

CAIRN_INLINE read_request request_for(std::string_view origin, std::span<const stored_leaf> leaves, std::size_t index,
                                      std::span<std::byte> out) {
  if (index >= leaves.size()) fail(errc::invalid, {"there is no such leaf in ", origin});
  const auto& leaf = leaves[index];
  if (out.size() != leaf.bytes()) fail(errc::invalid, {"the memory for \"", leaf.path, "\" has another size"});
  return {index, {leaf.type, leaf.shape, out.data(), {}}};
}

/// The blocks that hold a slice.
[[nodiscard]] inline block_run blocks_of(const stored_slice& slice) noexcept {
  return {slice.shard, slice.begin / block_bytes, block_count(slice.end())};
}

CAIRN_INLINE checkpoint_reader::checkpoint_reader(std::shared_ptr<stored_checkpoint> opened)
    : opened_(std::move(opened)) {
  contents_.origin = opened_->origin;
  contents_.leaves = opened_->leaves;
  contents_.structure = opened_->structure;
  contents_.has_structure = opened_->has_structure;
  contents_.fetch = [from = opened_](std::size_t index, std::span<std::byte> out) {
    const read_request all[] = {request_for(from->origin, from->leaves, index, out)};
    read_leaves(*from, all, {});
  };
}

CAIRN_INLINE checkpoint_reader::checkpoint_reader(const any_store& store, std::string_view name)
    : checkpoint_reader(std::make_shared<stored_checkpoint>(open_checkpoint(store, name))) {}

CAIRN_INLINE checkpoint_reader::checkpoint_reader(std::unique_ptr<stores::source> file, std::string origin)
    : checkpoint_reader(std::make_shared<stored_checkpoint>(open_checkpoint(std::move(file), std::move(origin)))) {}

CAIRN_INLINE std::uint64_t checkpoint_reader::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& shard : opened_->shards) sum += shard.bytes();
  return sum;
}

CAIRN_INLINE void checkpoint_reader::verify(unsigned threads) const {
  std::vector<block_run> runs;
  for (std::size_t i = 0; i < opened_->shards.size(); ++i)
    runs.push_back({i, 0, opened_->shards[i].metadata.blocks.size()});
  verify_blocks(*opened_, runs, threads_of(threads));
}

CAIRN_INLINE void checkpoint_reader::verify(std::span<const std::size_t> leaves, unsigned threads) const {
  std::vector<block_run> runs;
  for (const auto leaf : leaves)
    for (const auto& slice : opened_->slices_of(leaf))
      if (slice.bytes != 0 && !opened_->shards[slice.shard].metadata.blocks.empty()) runs.push_back(blocks_of(slice));
  verify_blocks(*opened_, runs, threads_of(threads));
}

CAIRN_INLINE bool checkpoint_reader::is_encoded(std::size_t leaf) const noexcept {
  const auto slices = slices_of(leaf);
  return std::any_of(slices.begin(), slices.end(), [](const auto& s) { return s.encoded != nullptr; });
}

CAIRN_INLINE bool checkpoint_reader::is_relative(std::size_t leaf) const noexcept {
  const auto slices = slices_of(leaf);
  return std::any_of(slices.begin(), slices.end(), [](const auto& s) { return s.is_relative(); });
}

CAIRN_INLINE stores::window checkpoint_reader::stored_bytes(const stored_slice& slice) const {
  const auto& shard = opened_->shards[slice.shard];
  if (!shard.metadata.blocks.empty() && slice.bytes != 0) {
    const block_run all[] = {blocks_of(slice)};
    verify_blocks(*opened_, all, 1);
  }
  return shard.file->view(shard.header.data_start + slice.begin, slice.bytes);
}

CAIRN_INLINE std::map<std::string, std::string, std::less<>> checkpoint_reader::code_tables() const {
  std::map<std::string, std::string, std::less<>> all;
  for (const auto& shard : opened_->shards)
    all.insert(shard.metadata.chain.tables.begin(), shard.metadata.chain.tables.end());
  return all;
}

CAIRN_INLINE void checkpoint_reader::read(std::span<const read_request> requests, const read_options& options) const {
  check_requests(opened_->origin, opened_->leaves, requests);
  read_leaves(*opened_, requests, options);
}

}  // namespace cairn::detail
