// SPDX-License-Identifier: MIT
// Definitions of store/reader.hpp.
#pragma once

#include <deque>

#include "cairn/core/error.hpp"
#include "cairn/store/reader.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// Reads leaves for requests that have been checked.
inline void read_leaves(const stored_checkpoint& checkpoint, std::span<const read_request> requests,
                        const read_options& options) {
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

read_request request_for(std::string_view origin, std::span<const stored_leaf> leaves, std::size_t index,
                         std::span<std::byte> out) {
  if (index >= leaves.size()) fail(errc::invalid, {"there is no such leaf in ", origin});
  const auto& leaf = leaves[index];
  if (out.size() != leaf.bytes()) fail(errc::invalid, {"the memory for \"", leaf.path, "\" has another size"});
  return {index, {leaf.type, leaf.shape, out.data(), {}}};
}

checkpoint_reader::checkpoint_reader(std::shared_ptr<stored_checkpoint> opened) : opened_(std::move(opened)) {
  set_fetch([from = opened_.get()](std::size_t index, std::span<std::byte> out) {
    const read_request all[] = {request_for(from->contents.origin, from->contents.leaves, index, out)};
    read_leaves(*from, all, {});
  });
}

checkpoint_reader::checkpoint_reader(const any_store& store, std::string_view name, std::shared_ptr<file_pool> files,
                                     index_texts* texts)
    : checkpoint_reader(std::make_shared<stored_checkpoint>(open_checkpoint(store, name, std::move(files), texts))) {}

checkpoint_reader::checkpoint_reader(std::unique_ptr<stores::source> file, std::string origin)
    : checkpoint_reader(std::make_shared<stored_checkpoint>(open_checkpoint(std::move(file), std::move(origin)))) {}

bool checkpoint_reader::is_outdated(const any_store& store, std::string_view name) const {
  try {
    static_cast<void>(opened_->from->open(index_file));  // is removed first
    return read_index(*store.open(name)).shards != opened_->index.shards;
  } catch (const error& cause) {
    return cause.code() == errc::not_found;
  }
}

void checkpoint_reader::verify(unsigned threads) const {
  std::vector<block_run> runs;
  for (std::size_t i = 0; i < opened_->shards.size(); ++i)
    runs.push_back({i, 0, opened_->shards[i].metadata.blocks.size()});
  verify_blocks(*opened_, runs, threads);
}

void checkpoint_reader::verify(std::span<const std::size_t> leaves, unsigned threads) const {
  std::vector<block_run> runs;
  for (const auto leaf : leaves)
    for (const auto& slice : opened_->slices_of(leaf)) {
      const auto& metadata = opened_->shards[slice.shard].metadata;
      if (slice.bytes != 0 && !metadata.blocks.empty())
        runs.push_back({slice.shard, slice.begin / block_bytes, block_count(slice.end())});
    }
  verify_blocks(*opened_, runs, threads);
}

void checkpoint_reader::read(const stored_slice& slice, std::span<std::byte> out, const read_options& options) const {
  read(slice.shard, slice.begin, out.first(slice.bytes), options);
}

void checkpoint_reader::read(std::size_t shard, std::uint64_t begin, std::span<std::byte> out,
                             const read_options& options) const {
  const memory_view whole{dtype::u8, {out.size()}, out.data(), {}};
  read_blocks(*opened_, {{shard, begin, begin + out.size(), &whole, 0}}, options.verify, options.threads);
}

void checkpoint_reader::read(std::span<const read_request> requests, const read_options& options) const {
  check_requests(opened_->contents.origin, opened_->contents.leaves, requests);
  read_leaves(*opened_, requests, options);
}

}  // namespace cairn::inline v0_1::detail
