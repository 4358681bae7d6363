// Definitions of stored_checkpoint.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <tuple>
#include <optional>
#include <utility>

#include "cairn/core/checksum.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/stored_checkpoint.hpp"

namespace cairn::detail {

CAIRN_INLINE std::span<const stored_slice> stored_checkpoint::slices_of(std::size_t leaf) const noexcept {
  const auto [from, to] = std::equal_range(slices.begin(), slices.end(), stored_slice{.leaf = leaf},
                                           [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
  return {from, to};
}

[[nodiscard]] inline stored_shard open_shard(std::unique_ptr<stores::source> file, std::string where,
                                             std::optional<std::uint64_t> header_checksum = {}) {
  stored_shard shard{std::move(file), std::move(where), {}, {}, {}};
  shard.header = read_safetensors_header(*shard.file, shard.where, header_checksum);
  shard.metadata = read_shard_metadata(shard.header, shard.where);
  shard.verified = std::make_unique<std::atomic<bool>[]>(shard.metadata.blocks.size());
  return shard;
}

/// A tensor, and the slice of a leaf that it holds.
struct found_slice {
  std::string_view path;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  dtype type{};
  const extents* shape = nullptr;  // of the whole leaf
  const tensor_entry* tensor = nullptr;
  std::size_t shard = 0;
};

[[nodiscard]] inline std::vector<found_slice> find_slices(const std::vector<stored_shard>& shards) {
  std::vector<found_slice> found;
  std::size_t tensors = 0;
  for (const auto& shard : shards) tensors += shard.header.tensors.size();
  found.reserve(tensors);
  for (std::size_t i = 0; i < shards.size(); ++i)
    for (const auto& tensor : shards[i].header.tensors) {
      const auto [type, shape] = shards[i].metadata.elements_of(tensor);
      if (const auto slice = shards[i].metadata.slices.find(tensor.key); slice == shards[i].metadata.slices.end())
        found.push_back({tensor.key, 0, element_count(*shape), type, shape, &tensor, i});
      else
        found.push_back(
            {slice->second.leaf, slice->second.first, slice->second.count, type, &slice->second.shape, &tensor, i});
    }
  sort_items(found, [](const auto& a, const auto& b) {
    return std::tie(a.path, a.first, a.count) < std::tie(b.path, b.first, b.count);
  });
  return found;
}

/// Collects the slices of every leaf. They must agree and cover it without hole or overlap.
inline void assemble_leaves(stored_checkpoint& checkpoint) {
  const auto found = find_slices(checkpoint.shards);
  checkpoint.slices.reserve(found.size());
  for (auto at = found.begin(); at != found.end();) {
    const auto& where = checkpoint.shards[at->shard].where;
    stored_leaf leaf{std::string(at->path), at->type, *at->shape};
    const std::uint64_t count = element_count(leaf.shape);
    std::uint64_t covered = 0;
    const auto first = at;
    for (; at != found.end() && at->path == leaf.path; ++at) {
      const auto corrupt = [&](std::string_view why) {
        fail(errc::corrupt, {where, ": the slices of \"", leaf.path, "\" ", why});
      };
      if (at->type != leaf.type || *at->shape != leaf.shape) corrupt("disagree about its dtype or shape");
      if (at != first && at->tensor->key == (at - 1)->tensor->key && at->shard == (at - 1)->shard)
        fail(errc::corrupt, {where, ": the key \"", at->tensor->key, "\" appears twice"});
      if (at != first && (at->first < covered || at->count == 0)) corrupt("overlap");
      if (at->first > covered) corrupt("leave a hole at element " + std::to_string(covered));
      const auto& encoded = checkpoint.shards[at->shard].metadata.encoded;
      const auto how = encoded.find(at->tensor->key);
      checkpoint.slices.push_back({checkpoint.leaves.size(), at->first, at->count, at->shard, at->tensor->begin,
                                   at->tensor->end - at->tensor->begin, how == encoded.end() ? nullptr : &how->second});
      covered += at->count;
    }
    if (covered != count)
      fail(errc::corrupt, {where, ": of the ", count, " elements of \"", leaf.path, "\" only ", covered, " are there"});
    checkpoint.leaves.push_back(std::move(leaf));
  }
}

/// Moves the structure entries of all shards into one map. Shards with the same path must agree.
inline void unite_structures(stored_checkpoint& checkpoint) {
  for (auto& shard : checkpoint.shards) {
    checkpoint.structure.merge(shard.metadata.structure);
    for (const auto& [path, entry] : shard.metadata.structure)  // `merge` leaves the paths that were there already
      if (checkpoint.structure.find(path)->second != entry)
        fail(errc::corrupt, {shard.where, ": the shards disagree about the structure at \"", path, "\""});
    shard.metadata.structure.clear();
  }
}

/// Checks that the index and the shard agree: step, parent, and which tensor is where.
inline void check_against_index(const stored_shard& shard, const checkpoint_index& index, std::size_t number) {
  const auto corrupt = [&](std::string_view why) { fail(errc::corrupt, {shard.where, ": ", why}); };
  if (!shard.metadata.has_structure) corrupt("has no cairn metadata");
  if (shard.metadata.step != index.info.step) corrupt("is of another step than its index");
  if (shard.metadata.chain.parent != index.parent) corrupt("is built on another checkpoint than its index says");
  for (const auto& tensor : shard.header.tensors) {
    const auto at = index.weight_map.find(tensor.key);
    if (at == index.weight_map.end() || at->second != index.shards[number].file)
      corrupt("holds \"" + tensor.key + "\", which the index does not have there");
  }
}

/// Opens the shards of checkpoint `name` and checks them against its index.
[[nodiscard]] inline stored_checkpoint open_shards(const any_store& store, std::string_view name,
                                                   checkpoint_index index) {
  stored_checkpoint opened;
  opened.has_structure = true;
  opened.origin = sentence({store.location(), "/", name});
  opened.index = std::move(index);
  std::uint64_t total = 0;
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < opened.index.shards.size(); ++i) {
    const auto& listed = opened.index.shards[i];
    const auto where = sentence({opened.origin, "/", listed.file});
    std::unique_ptr<stores::source> file;
    try {
      file = store.open(name, listed.file);
    } catch (const error& failure) {
      if (failure.code() != errc::not_found) throw;
      fail(errc::corrupt, {where, ": the index names it, but it is not there"});
    }
    const auto size = file->size();
    if (size != listed.bytes) fail(errc::corrupt, {where, ": has ", size, " bytes, its index says ", listed.bytes});
    opened.shards.push_back(open_shard(std::move(file), where, listed.header_checksum));
    check_against_index(opened.shards.back(), opened.index, i);
    total += opened.shards.back().header.data_bytes;
    tensors += opened.shards.back().header.tensors.size();
  }
  if (tensors != opened.index.weight_map.size() || total != opened.index.total_size)
    fail(errc::corrupt, {opened.origin, "/", index_file, ": names tensors that no shard holds"});
  assemble_leaves(opened);
  unite_structures(opened);
  return opened;
}

CAIRN_INLINE bool is_replaced(const any_store& store, std::string_view name, const std::vector<index_shard>& shards) {
  try {
    return read_index(store, name).shards != shards;
  } catch (const error&) {
    return false;
  }
}

CAIRN_INLINE stored_checkpoint open_checkpoint(const any_store& store, std::string_view name) {
  std::vector<index_shard> shards;
  const auto open = [&] {
    auto index = read_index(store, name);
    shards = index.shards;
    return open_shards(store, name, std::move(index));
  };
  return open_again(open, [&] { return is_replaced(store, name, shards); });
}

CAIRN_INLINE stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin) {
  stored_checkpoint opened;
  opened.origin = std::move(origin);
  opened.shards.push_back(open_shard(std::move(file), opened.origin));
  auto& shard = opened.shards.front();
  opened.has_structure = shard.metadata.has_structure;
  opened.index.info.step = shard.metadata.step;
  opened.index.total_size = shard.header.data_bytes;
  opened.index.parent = shard.metadata.chain.parent;
  assemble_leaves(opened);
  unite_structures(opened);
  return opened;
}

}  // namespace cairn::detail
