// An opened checkpoint: its files, checked against each other, and where in them every leaf lies.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cairn/core/catalog.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/order.hpp"
#include "cairn/store/safetensors.hpp"
#include "cairn/store/shard.hpp"

namespace cairn {

/// A shard, open.
struct stored_shard {
  std::unique_ptr<stores::source> file;
  std::string where;  ///< its path, for messages
  safetensors_header header;
  shard_notes notes;
  /// Per block: found to match its checksum. Checked by any thread, at worst twice.
  std::unique_ptr<std::atomic<bool>[]> verified;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return header.data_start + header.data_bytes; }
};

/// A run of elements of a leaf in one shard.
struct stored_slice {
  std::size_t leaf = 0;  ///< index into `stored_checkpoint::leaves`
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::size_t shard = 0;
  std::uint64_t begin = 0;                 ///< first byte in the shard's data section
  std::uint64_t bytes = 0;                 ///< there
  const encoding_info* encoded = nullptr;  ///< null: stored as it is

  [[nodiscard]] std::uint64_t end() const noexcept { return begin + bytes; }
};

/// All that is known of a checkpoint before its data are read.
struct stored_checkpoint {
  std::string origin;
  checkpoint_index index;
  std::vector<stored_shard> shards;
  std::vector<stored_leaf> leaves;   ///< by path
  std::vector<stored_slice> slices;  ///< by leaf, then by first element; they cover every leaf exactly
  structure facts;
  bool by_cairn = false;

  /// The slices of one leaf. O(log n).
  [[nodiscard]] std::span<const stored_slice> slices_of(std::size_t leaf) const noexcept {
    const auto [from, to] = std::equal_range(slices.begin(), slices.end(), stored_slice{.leaf = leaf},
                                             [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
    return {from, to};
  }
};

namespace detail {

[[nodiscard]] inline stored_shard open_shard(std::unique_ptr<stores::source> file, std::string where) {
  stored_shard shard{std::move(file), std::move(where), {}, {}, {}};
  shard.header = read_safetensors_header(*shard.file, shard.where);
  shard.notes = read_shard_notes(shard.header, shard.where);
  shard.verified = std::make_unique<std::atomic<bool>[]>(shard.notes.blocks.size());
  return shard;
}

/// A tensor as the part of a leaf that it is.
struct found_part {
  std::string_view path;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  dtype type{};
  const extents* shape = nullptr;  // of the whole leaf
  const tensor_entry* tensor = nullptr;
  std::size_t shard = 0;
};

[[nodiscard]] inline std::vector<found_part> find_parts(const std::vector<stored_shard>& shards) {
  std::vector<found_part> parts;
  std::size_t tensors = 0;
  for (const auto& shard : shards) tensors += shard.header.tensors.size();
  parts.reserve(tensors);
  for (std::size_t i = 0; i < shards.size(); ++i)
    for (const auto& tensor : shards[i].header.tensors) {
      const auto [type, shape] = shards[i].notes.elements_of(tensor);
      if (const auto note = shards[i].notes.slices.find(tensor.key); note == shards[i].notes.slices.end())
        parts.push_back({tensor.key, 0, element_count(*shape), type, shape, &tensor, i});
      else
        parts.push_back(
            {note->second.leaf, note->second.first, note->second.count, type, &note->second.shape, &tensor, i});
    }
  sort_items(parts, [](const auto& a, const auto& b) {
    return std::tie(a.path, a.first, a.count) < std::tie(b.path, b.first, b.count);
  });
  return parts;
}

/// Puts the parts of every leaf together; they must agree and cover it without hole or overlap.
inline void assemble_leaves(stored_checkpoint& checkpoint) {
  const auto parts = find_parts(checkpoint.shards);
  checkpoint.slices.reserve(parts.size());
  for (auto at = parts.begin(); at != parts.end();) {
    const auto& where = checkpoint.shards[at->shard].where;
    stored_leaf leaf{std::string(at->path), at->type, *at->shape};
    const std::uint64_t count = element_count(leaf.shape);
    std::uint64_t covered = 0;
    const auto first = at;
    for (; at != parts.end() && at->path == leaf.path; ++at) {
      const auto refuse = [&](std::string_view why) {
        fail(errc::corrupt, {where, ": the slices of \"", leaf.path, "\" ", why});
      };
      if (at->type != leaf.type || *at->shape != leaf.shape) refuse("disagree about its dtype or shape");
      if (at != first && (at->first < covered || at->count == 0)) refuse("overlap");
      if (at->first > covered) refuse("leave a hole at element " + std::to_string(covered));
      const auto& encoded = checkpoint.shards[at->shard].notes.encoded;
      const auto how = encoded.find(at->tensor->key);
      checkpoint.slices.push_back({checkpoint.leaves.size(), at->first, at->count, at->shard, at->tensor->begin,
                                   at->tensor->end - at->tensor->begin, how == encoded.end() ? nullptr : &how->second});
      covered += at->count;
    }
    if (covered != count)
      fail(errc::corrupt, {where, ": of the ", std::to_string(count), " elements of \"", leaf.path, "\" only ",
                           std::to_string(covered), " are there"});
    checkpoint.leaves.push_back(std::move(leaf));
  }
}

inline void unite_facts(stored_checkpoint& checkpoint) {
  for (auto& shard : checkpoint.shards) {
    checkpoint.facts.merge(shard.notes.facts);
    for (const auto& [path, about] : shard.notes.facts)  // what is left was there already
      if (checkpoint.facts.find(path)->second != about)
        fail(errc::corrupt, {shard.where, ": the shards disagree about the structure at \"", path, "\""});
    shard.notes.facts.clear();
  }
}

/// The index says what the shards say: sizes, header checksums, step, and which tensor is where.
inline void check_against_index(const stored_shard& shard, const checkpoint_index& index, std::size_t number) {
  const auto refuse = [&](std::string_view why) { fail(errc::corrupt, {shard.where, ": ", why}); };
  if (!shard.notes.by_cairn) refuse("has no cairn metadata");
  if (shard.notes.step != index.step) refuse("is of another step than its index");
  if (shard.notes.ties.parent != index.parent) refuse("is built on another checkpoint than its index says");
  for (const auto& tensor : shard.header.tensors) {
    const auto at = index.weight_map.find(tensor.key);
    if (at == index.weight_map.end() || at->second != index.shards[number].file)
      refuse("holds \"" + tensor.key + "\", which the index does not have there");
  }
}

/// Opens the shards of checkpoint `name`, and checks them against an index.
[[nodiscard]] inline stored_checkpoint open_shards(const any_store& store, std::string_view name,
                                                   checkpoint_index index) {
  stored_checkpoint opened;
  opened.by_cairn = true;
  opened.origin = sentence({store.location(), "/", name});
  opened.index = std::move(index);
  std::uint64_t total = 0;
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < opened.index.shards.size(); ++i) {
    const auto& told = opened.index.shards[i];
    const auto where = sentence({opened.origin, "/", told.file});
    std::unique_ptr<stores::source> file;
    try {
      file = store.open(name, told.file);
    } catch (const error& failure) {
      if (failure.code() != errc::not_found) throw;
      fail(errc::corrupt, {where, ": the index names it, but it is not there"});
    }
    const auto size = file->size();
    if (size != told.bytes)
      fail(errc::corrupt,
           {where, ": has ", std::to_string(size), " bytes, its index says ", std::to_string(told.bytes)});
    std::uint64_t length = 0;
    if (size >= 8) std::memcpy(&length, file->view(0, 8).bytes().data(), 8);
    if (size < 8 || length > size - 8 || length > max_header_bytes ||
        checksum(file->view(0, 8 + length).bytes()) != told.header_checksum)
      fail(errc::corrupt, {where, ": the header does not match its checksum"});
    opened.shards.push_back(open_shard(std::move(file), where));
    check_against_index(opened.shards.back(), opened.index, i);
    total += opened.shards.back().header.data_bytes;
    tensors += opened.shards.back().header.tensors.size();
  }
  if (tensors != opened.index.weight_map.size() || total != opened.index.total_size)
    fail(errc::corrupt, {opened.origin, "/", index_file, ": names tensors that no shard holds"});
  assemble_leaves(opened);
  unite_facts(opened);
  return opened;
}

/// Has another one taken the place of the checkpoint whose index told of these shards?
[[nodiscard]] inline bool is_replaced(const any_store& store, std::string_view name,
                                      const std::vector<index_shard>& shards) {
  try {
    return read_index(store, name).shards != shards;
  } catch (const error&) {
    return false;
  }
}

/// Calls `open`, and again where it fails because another checkpoint has taken the place of the one that it opens: `replaced` says so.
template <class Open, class Replaced>
auto open_again(const Open& open, const Replaced& replaced) {
  constexpr int most = 20;
  for (int attempt = 1;; ++attempt) {
    try {
      return open();
    } catch (const error&) {
      if (attempt == most || !replaced()) throw;
    }
  }
}

}  // namespace detail

/// Opens checkpoint `name` and checks its index and headers. One that is replaced meanwhile, as by merging, is opened as it was or as it
/// is then. errc::not_found, corrupt, unsupported, io.
[[nodiscard]] inline stored_checkpoint open_checkpoint(const any_store& store, std::string_view name) {
  std::vector<index_shard> shards;
  const auto open = [&] {
    auto index = read_index(store, name);
    shards = index.shards;
    return detail::open_shards(store, name, std::move(index));
  };
  return detail::open_again(open, [&] { return detail::is_replaced(store, name, shards); });
}

/// Opens a single safetensors file, Cairn's or any other's, as a checkpoint of one shard.
[[nodiscard]] inline stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin) {
  stored_checkpoint opened;
  opened.origin = std::move(origin);
  opened.shards.push_back(detail::open_shard(std::move(file), opened.origin));
  auto& shard = opened.shards.front();
  opened.by_cairn = shard.notes.by_cairn;
  opened.index.step = shard.notes.step;
  opened.index.total_size = shard.header.data_bytes;
  opened.index.parent = shard.notes.ties.parent;
  detail::assemble_leaves(opened);
  detail::unite_facts(opened);
  return opened;
}

}  // namespace cairn
