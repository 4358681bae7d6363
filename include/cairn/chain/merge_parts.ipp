// SPDX-License-Identifier: MIT
// Definitions of merge.hpp: one piece of the merged checkpoint, of the same piece in the links of the chain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/chain/encoded_piece.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/store/order.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

/// A piece of the merged checkpoint, and that of the newest link which it replaces.
struct merged_part {
  piece made;
  std::size_t leaf = 0;  ///< in the newest link
  placed_piece from{};
  std::uint64_t bytes = 0;  ///< stored, about
};

/// Merges pieces of the newest `deltas` links of a chain. While it merges one, it holds the memory of its payloads.
class part_merger {
 public:
  /// `chain` must outlive it.
  part_merger(const chain_reader& chain, std::size_t deltas, unsigned threads)
      : chain_(chain), deltas_(deltas), threads_(threads) {}

  /// `merged`: the leaf of the merged checkpoint that the part belongs to.
  [[nodiscard]] encoded_piece merge(const leaf& merged, const merged_part& part) const {
    const auto slices = chain_of(part);
    auto payload = slices.empty() ? std::nullopt : merge_payloads(merged, part.made, slices);
    return payload ? std::move(*payload) : whole_piece(merged, part);
  }

 private:
  /// The same piece in the merged links, the newest first, to the first one that is not relative.
  using slice_chain = std::vector<stored_slice>;

  [[nodiscard]] static bool comes_before(const placed_piece& a, const placed_piece& b) {
    if (a.first != b.first || !a.region || !b.region) return a.first < b.first;
    return a.region->first < b.region->first;
  }

  /// The pieces of a leaf of a link, in order. Those of the leaf that was asked for last are kept.
  [[nodiscard]] const std::vector<placed_piece>& pieces_in(std::size_t link, std::size_t leaf) const {
    auto& known = known_pieces_.try_emplace(link, catalog::npos, std::vector<placed_piece>()).first->second;
    if (known.first == leaf) return known.second;
    const auto& from = *chain_.links()[link];
    std::vector<placed_piece> pieces;
    for_each_piece(from.storage_of(leaf).layout, from.contents().leaves[leaf].shape,
                   [&](placed_piece each) { pieces.push_back(std::move(each)); });
    sort_items(pieces, comes_before);
    known = {leaf, std::move(pieces)};
    return known.second;
  }

  /// The slice of a link that is cut as `wanted`, if there is one.
  [[nodiscard]] std::optional<stored_slice> find_same(std::size_t link, std::string_view path,
                                                      const placed_piece& wanted) const {
    const auto leaf = chain_.links()[link]->contents().find(path);
    if (leaf == catalog::npos) return std::nullopt;
    const auto& pieces = pieces_in(link, leaf);
    const auto at = std::lower_bound(pieces.begin(), pieces.end(), wanted, comes_before);
    if (at == pieces.end() || at->first != wanted.first || at->count != wanted.count || at->region != wanted.region)
      return std::nullopt;
    return chain_.links()[link]->slice_of(leaf, *at);
  }

  /// A slice of the newest link and those that it is built on; empty if the links cut the leaf differently.
  [[nodiscard]] slice_chain chain_of(const merged_part& part) const {
    if (part.from.count == 0) return {};
    slice_chain all{chain_.newest().slice_of(part.leaf, part.from)};
    const auto& path = chain_.contents().leaves[part.leaf].path;
    for (std::size_t link = 1; link < deltas_ && all.back().is_relative(); ++link) {
      auto same = find_same(link, path, part.from);
      if (!same) return {};
      all.push_back(std::move(*same));
    }
    return all;
  }

  /// One payload with the effect of all of them; nullopt if the leaf's values must be stored instead.
  [[nodiscard]] std::optional<encoded_piece> merge_payloads(const leaf& merged, const piece& which,
                                                            const slice_chain& slices) const {
    const auto& newest = slices.front();
    if (slices.size() == 1 && !newest.is_relative()) {
      if (newest.encoded == nullptr) return std::nullopt;
      auto made = owned(which, *newest.encoded, payload_of(chain_.newest(), newest));  // as it is
      add_tables(made, 0, newest);
      return made;
    }
    const bool has_parent = slices.size() == deltas_ && deltas_ < chain_.links().size();
    return has_parent && slices.back().is_relative() ? join(merged, which, slices) : std::nullopt;
  }

  [[nodiscard]] page_buffer payload_of(const checkpoint_reader& from, const stored_slice& slice) const {
    page_buffer payload(slice.bytes);
    from.read(slice, payload.bytes(), {.threads = threads_});
    return payload;
  }

  /// Adds the tables that a slice of a link may name to those of a piece that is made of it.
  void add_tables(encoded_piece& made, std::size_t link, const stored_slice& slice) const {
    for (const auto& table : chain_.tables_of(link, slice.shard)->all()) made.tables.insert(write_code_table(table));
  }

  [[nodiscard]] static encoded_piece owned(const piece& which, encoding_info how, page_buffer payload) {
    const auto bytes = payload.bytes().size();
    encoded_piece made{which, {}, {}, {}, {}};
    made.own(std::move(how), std::move(payload), bytes);
    return made;
  }

  /// The payload that the codec of the newest delta makes of all of them.
  [[nodiscard]] std::optional<encoded_piece> join(const leaf& merged, const piece& which,
                                                  const slice_chain& slices) const {
    std::vector<page_buffer> payloads;
    std::vector<merge_request::delta> deltas;
    code_tables known;
    for (std::size_t link = slices.size(); link-- > 0;) {
      const auto& from = *chain_.links()[link];
      payloads.push_back(payload_of(from, slices[link]));
      deltas.push_back({slices[link].encoded->codec, from.file_of(slices[link]), payloads.back().bytes()});
      for (const auto& table : chain_.tables_of(link, slices[link].shard)->all()) known.add(table);
    }
    const auto& how = *slices.front().encoded;
    const auto payload = codec_named(how.codec, chain_.rules(), deltas.back().where)
                             .merge({.path = merged.path,
                                     .type = merged.type,
                                     .bytes = which.count * size_of(merged.type),
                                     .deltas = deltas,
                                     .threads = threads_,
                                     .known_tables = &known});
    if (!payload) return std::nullopt;
    page_buffer memory(payload->size());
    std::copy(payload->begin(), payload->end(), memory.bytes().begin());
    auto made = owned(which, how, std::move(memory));
    for (const auto& table : known.all()) made.tables.insert(write_code_table(table));
    return made;
  }

  /// The values that the chain restores, without further loss; the loss of the newest link is recorded.
  [[nodiscard]] encoded_piece whole_piece(const leaf& merged, const merged_part& part) const {
    const auto& which = part.made;
    page_buffer memory(which.count * size_of(merged.type));
    const auto values = memory.bytes();
    const auto& region = part.from.region;
    const memory_view into{merged.type, region ? region->shape : extents{which.count}, values.data(), {}};
    const read_request request[] = {{part.leaf, into, region, region ? std::nullopt : std::optional(part.from.first)}};
    chain_.read(request, {.threads = threads_});
    const auto shape = which.count == merged.count() ? merged.shape : extents{which.count};
    encoded_piece made{which, {}, {}, {}, {}};
    if (values.size() >= least_encoded_bytes) {
      const auto& codec = lossless_codec();
      page_buffer packed(codec.bound(merged.type, values.size()));
      const auto result = codec.encode({merged.path, merged.type, values, {}, threads_, nullptr}, packed.bytes());
      if (!result.codec.empty())
        made.own({result.codec, merged.type, shape, result.relative, {}}, std::move(packed), result.bytes);
    }
    const bool is_encoded = made.how.has_value();
    if (!is_encoded) {
      made.memory = std::move(memory);
      made.bytes = made.memory.bytes();
    }
    const auto lost = loss_of(part);
    if (!lost) return made;
    if (!is_encoded) made.how = {raw_codec().name(), merged.type, shape, false, {}};  // which has a place for the loss
    made.how->lost = lost;
    return made;
  }

  [[nodiscard]] std::optional<loss> loss_of(const merged_part& part) const {
    if (part.from.count == 0) return std::nullopt;
    const auto newest = chain_.newest().slice_of(part.leaf, part.from);
    return newest.encoded != nullptr ? newest.encoded->lost : std::nullopt;
  }

  const chain_reader& chain_;
  std::size_t deltas_;
  unsigned threads_;
  mutable std::map<std::size_t, std::pair<std::size_t, std::vector<placed_piece>>>
      known_pieces_;  // by link: a leaf and its pieces
};

}  // namespace cairn::inline v0_1::detail
