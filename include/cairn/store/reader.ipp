// Definitions of store/reader.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/store/read_blocks.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::detail {

/// Reads whole leaves for requests that have been checked.
inline void read_leaves(const stored_checkpoint& checkpoint, std::span<const read_request> requests,
                        const read_options& options) {
  std::vector<read_step> steps;
  for (const auto& request : requests) {
    const auto width = size_of(request.into.type);
    for (const auto& slice : checkpoint.slices_of(request.leaf)) {
      if (slice.encoded != nullptr)
        fail(errc::unsupported, {checkpoint.origin, ": \"", checkpoint.leaves[request.leaf].path, "\" is encoded by \"",
                                 slice.encoded->codec, "\" and has to be decoded"});
      steps.push_back({slice.shard, slice.begin, slice.end(), &request.into, slice.first * width});
    }
  }
  read_blocks(checkpoint, std::move(steps), options.verify, threads_of(options.threads));
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

CAIRN_INLINE checkpoint_reader::checkpoint_reader(std::shared_ptr<stored_checkpoint> opened) : opened_(opened) {
  contents_.origin = opened_->origin;
  contents_.leaves = opened_->leaves;
  contents_.structure = std::move(opened->structure);
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

CAIRN_INLINE void checkpoint_reader::read(const stored_slice& slice, std::span<std::byte> out,
                                          const read_options& options) const {
  const memory_view whole{dtype::u8, {slice.bytes}, out.data(), {}};
  read_blocks(*opened_, {{slice.shard, slice.begin, slice.end(), &whole, 0}}, options.verify,
              threads_of(options.threads));
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
