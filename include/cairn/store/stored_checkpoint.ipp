// SPDX-License-Identifier: MIT
// Definitions of store/stored_checkpoint.hpp.
#pragma once

#include "cairn/core/checksum.hpp"
#include "cairn/store/naming.hpp"
#include "cairn/store/stored_checkpoint.hpp"

namespace cairn::inline v0_1::detail {

stored_slice stored_checkpoint::slice_of(std::size_t leaf, placed_piece piece) const {
  const auto& [path, type, shape] = contents.leaves[leaf];
  const auto& storage = index.storage[leaf];
  const auto& shard = shards[piece.shard];
  const auto corrupt = [&](std::string_view why) {
    fail(errc::corrupt, {shard.where, ": ", why, " of \"", contents.leaves[leaf].path, "\""});
  };
  const bool is_whole = storage.layout.cuts == nullptr;
  const auto key = is_whole ? path : slice_key(path, piece);
  const auto* tensor = shard.find(key);
  if (tensor == nullptr) fail(errc::corrupt, {shard.where, ": has no tensor \"", key, "\", which the index has there"});
  const auto [stored_type, stored_shape] = shard.metadata.elements_of(*tensor);
  const auto piece_shape = is_whole ? shape : piece.region ? piece.region->shape : extents{piece.count};
  if (stored_type != type || *stored_shape != piece_shape) corrupt("has another dtype or shape than the index");
  const auto* encoded = shard.metadata.encoding_of(*tensor);
  if (encoded != nullptr && (storage.encoded == nullptr || (encoded->relative && !storage.encoded->relative)))
    corrupt("has another encoding than the index");
  return {std::move(piece), leaf, tensor->begin, tensor->end - tensor->begin, encoded};
}

std::vector<stored_slice> stored_checkpoint::slices_of(std::size_t leaf, const leaf_part& part) const {
  const auto& shape = contents.leaves[leaf].shape;
  const auto& region = part.region;
  std::vector<stored_slice> slices;
  if (element_count(shape) == 0 || (region ? region->count() : part.count) == 0) return slices;
  const auto most = (std::numeric_limits<std::uint64_t>::max)() - part.first;
  auto first = part.first, end = part.first + std::min(part.count, most);
  if (region) {  // by the first and the last element of the box: a run between two of its rows is opened in vain
    const box whole{extents(shape.size()), shape};
    auto last = region->first;
    for (std::size_t d = 0; d < shape.size(); ++d) last[d] += region->shape[d] - 1;
    first = number_in(whole, region->first);
    end = number_in(whole, last) + 1;
  }
  for_each_piece(index.storage[leaf].layout, shape, [&](placed_piece piece) {
    const bool is_wanted = piece.region ? !region || common_part(*piece.region, *region).count() > 0
                                        : piece.first < end && piece.first + piece.count > first;
    if (is_wanted) slices.push_back(slice_of(leaf, std::move(piece)));
  });
  return slices;
}

[[nodiscard]] inline stored_shard open_shard(std::unique_ptr<stores::source> file, std::string where,
                                             std::optional<std::uint64_t> header_checksum = {}) {
  stored_shard shard{std::move(file), std::move(where), {}, {}, {}, {}};
  shard.header = read_safetensors_header(*shard.file, shard.where, header_checksum);
  shard.metadata = read_shard_metadata(shard.header, shard.where);
  const auto& tensors = shard.header.tensors;
  const auto key_of = [&](std::size_t i) -> const std::string& { return tensors[i].key; };
  shard.by_key = sorted_order(tensors.size(), [&](std::size_t a, std::size_t b) { return key_of(a) < key_of(b); });
  const auto twice = std::ranges::adjacent_find(shard.by_key, {}, key_of);
  if (twice != shard.by_key.end())
    fail(errc::corrupt, {shard.where, ": the key \"", tensors[*twice].key, "\" appears twice"});
  shard.verified = std::make_unique<std::atomic<bool>[]>(shard.metadata.blocks.size());
  return shard;
}

/// Opens the file of a shard and compares its size with the index.
[[nodiscard]] inline std::unique_ptr<stores::source> open_file(const stores::publication& from,
                                                               const index_shard& listed) {
  const auto where = sentence({from.location(), "/", listed.file});
  std::unique_ptr<stores::source> file;
  for (int tries = 1; !file; ++tries) {
    try {
      file = from.open(listed.file);
    } catch (const error& failure) {
      if (failure.code() != errc::not_found) throw;
      static_cast<void>(from.open(index_file));  // not_found where the whole publication has been removed
      if (tries == 2) fail(errc::corrupt, {where, ": the index names it, but it is not there"});  // not for the moment
    }
  }
  const auto size = file->size();
  if (size != listed.bytes) fail(errc::corrupt, {where, ": has ", size, " bytes, its index says ", listed.bytes});
  return file;
}

/// What the header of a file says of one leaf.
struct found_leaf : leaf_pieces {
  dtype type{};
  extents shape{};
};

/// Finds the leaves in the header of a single file, which no index has.
inline void collect_leaves(stored_checkpoint& checkpoint) {
  std::map<std::string, found_leaf, std::less<>> found;
  const auto& shard = checkpoint.shards[0];
  for (const auto& tensor : shard.header.tensors) {
    const auto [type, shape] = shard.metadata.elements_of(tensor);
    const auto slice = shard.metadata.slices.find(tensor.key);
    const bool is_whole = slice == shard.metadata.slices.end();
    auto piece = is_whole ? placed_piece{0, 0, element_count(*shape), {}}
                          : placed_piece{0, slice->second.first, slice->second.count, slice->second.region};
    const auto& path = is_whole ? tensor.key : slice->second.leaf;
    if (!is_whole && slice_key(path, piece) != tensor.key)
      fail(errc::corrupt, {shard.where, ": \"", tensor.key, "\" is not the key of the slice that it is said to be"});
    const auto [at, is_first] = found.try_emplace(path);
    auto& leaf = at->second;
    const auto& leaf_shape = is_whole ? *shape : slice->second.shape;
    if (is_first) {
      leaf.type = type;
      leaf.shape = leaf_shape;
    }
    if (leaf.type != type || leaf.shape != leaf_shape)
      fail(errc::corrupt, {shard.where, ": the slices of \"", path, "\" disagree about its dtype or shape"});
    leaf.where.push_back(std::move(piece));
    leaf.add(tensor.end - tensor.begin, shard.metadata.encoding_of(tensor));
  }
  for (auto& [path, leaf] : found) {
    auto& storage = checkpoint.index.storage.emplace_back();
    if (const auto fault = make_layout(std::move(leaf.where), leaf.shape, storage.layout); !fault.empty())
      fail(errc::corrupt, {shard.where, ": \"", path, "\" ", fault});
    if (leaf.encoded) storage.encoded = std::make_shared<const leaf_encoding>(std::move(*leaf.encoded));
    checkpoint.contents.leaves.push_back({path, leaf.type, std::move(leaf.shape)});
  }
}

std::string write_index_texts(const index_texts& all) {
  std::string text;
  for (const auto& [name, index] : all)
    for (const auto* each : {&name, &index}) text += std::to_string(each->size()) + '\n' + *each;
  return text;
}

index_texts read_index_texts(std::string_view text) {
  const auto take = [&] {  // after its number of bytes and a new line
    const auto end = text.find('\n');
    std::string taken(text.substr(end + 1, std::stoull(std::string(text.substr(0, end)))));
    text.remove_prefix(end + 1 + taken.size());
    return taken;
  };
  index_texts all;
  while (!text.empty()) {
    auto name = take();
    all.insert_or_assign(std::move(name), take());
  }
  return all;
}

stored_checkpoint open_checkpoint(const any_store& store, std::string_view name, std::shared_ptr<file_pool> files,
                                  index_texts* texts) {
  if (!files) files = std::make_shared<file_pool>();
  stored_checkpoint opened;
  const bool is_known = texts != nullptr && texts->contains(name);
  const auto from = with_newest(store, name, [&](const auto& newest) {
    opened.index = is_known ? parse_index(texts->find(name)->second, sentence({newest->location(), "/", index_file}))
                            : read_index(*newest);
    return newest;
  });
  opened.from = from;
  if (texts != nullptr && !is_known) {
    const auto index = from->open(index_file);
    texts->emplace(name, stores::read_text(*index, 0, index->size()));
  }
  opened.contents = {sentence({store.location(), "/", name}),
                     std::move(opened.index.leaves),
                     std::move(opened.index.structure),
                     true,
                     {}};
  opened.shards = shard_list(opened.index.shards.size(), [from, files, all = opened.index.shards,
                                                          step = opened.index.info.step](std::size_t number) {
    const auto& listed = all[number];
    auto file = std::make_unique<pooled_file>(files, [from, listed] { return open_file(*from, listed); });
    auto shard = open_shard(std::move(file), sentence({from->location(), "/", listed.file}), listed.header_checksum);
    if (!shard.metadata.is_of_cairn) fail(errc::corrupt, {shard.where, ": has no cairn metadata"});
    if (shard.metadata.step != step) fail(errc::corrupt, {shard.where, ": is of another step than its index"});
    return shard;
  });
  return opened;
}

stored_checkpoint open_checkpoint(std::unique_ptr<stores::source> file, std::string origin) {
  stored_checkpoint opened;
  opened.contents.origin = origin;
  const auto only = std::make_shared<std::unique_ptr<stores::source>>(std::move(file));
  opened.shards =
      shard_list(1, [only, origin = std::move(origin)](std::size_t) { return open_shard(std::move(*only), origin); });
  const auto& metadata = opened.shards[0].metadata;
  opened.index.info.step = metadata.step;
  opened.index.total_size = opened.shards[0].header.data_bytes;
  collect_leaves(opened);
  return opened;
}

}  // namespace cairn::inline v0_1::detail
