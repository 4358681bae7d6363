// Definitions of merge.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/reader.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"
#include "cairn/chain/encoded_piece.hpp"
#include "cairn/chain/leaf_codecs.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/merge.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::detail {

/// Divides each shard so that the elements of a part have at most `most` bytes, except where a part is one slice.
inline void divide_shards(std::vector<std::vector<stored_slice>>& shards, std::span<const leaf> leaves,
                          std::uint64_t most) {
  std::vector<std::vector<stored_slice>> parts;
  for (auto& shard : shards) {
    std::uint64_t bytes = 0;
    parts.emplace_back();
    for (auto& slice : shard) {
      const auto more = slice.count * size_of(leaves[slice.leaf].type);
      if (bytes + more > most && !parts.back().empty()) {
        parts.emplace_back();
        bytes = 0;
      }
      bytes += more;
      parts.back().push_back(std::move(slice));
    }
  }
  shards = std::move(parts);
}

/// Merges the newest `deltas` links of a chain into one checkpoint, and writes it one shard at a time: it holds the memory of one shard, and
/// while it merges a slice that of its payloads.
class merger {
 public:
  merger(const chain_reader& chain, std::size_t deltas, const merge_options& options)
      : chain_(chain), deltas_(deltas), threads_(threads_of(options.threads)), check_(options.check) {
    const auto& stored = chain.contents().leaves;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      auto& made = leaves_.emplace_back();
      made.path = stored[i].path;
      made.type = stored[i].type;
      made.shape = stored[i].shape;
      for (auto& slice : slices_to_merge(i)) {
        bytes_left_ += slice.bytes;
        slices_.resize(std::max(slices_.size(), slice.shard + 1));
        slices_[slice.shard].push_back(std::move(slice));
      }
    }
    if (slices_.empty()) slices_.resize(1);  // a state without leaves
    if (options.max_bytes) divide_shards(slices_, leaves_, *options.max_bytes);
    spec_.leaves = leaves_;
    spec_.structure = chain.contents().structure;
    spec_.info = chain.newest().info();
    for (std::size_t i = 0; i < chain.contents().leaves.size(); ++i)
      if (const auto& earlier = chain.newest().storage_of(i).restored)
        spec_.restored.emplace(chain.contents().leaves[i].path, *earlier);
    spec_.id = chain.newest().id();
    spec_.threads = options.threads;
    spec_.on_progress = [check = options.check, progress = options.progress](std::uint64_t done, std::uint64_t total) {
      if (check) check();
      if (progress) progress(done, total);
    };
  }
  merger(const merger&) = delete;  // what is written refers to it
  merger& operator=(const merger&) = delete;
  ~merger() = default;

  /// Publishes the merged checkpoint as `name`. Calls `close` before, when the chain is no longer needed.
  template <class Close>
  [[nodiscard]] written_checkpoint write(any_store& store, const std::string& name, const Close& close) {
    checkpoint_writer writer(store, name, spec_, slices_.size());
    for (const auto& shard : slices_) {
      std::vector<encoded_piece> pieces;
      for (const auto& slice : shard) {
        if (check_) check_();
        pieces.push_back(merge_slice(slice));
        bytes_left_ -= slice.bytes;
        if (pieces.back().how && pieces.back().how->relative) parent_ = *chain_.links()[deltas_ - 1]->parent();
      }
      writer.add(for_writer(std::span(&pieces, 1)), bytes_left_);
    }
    close();
    return writer.commit(parent_);
  }

  /// What the written checkpoint is built on.
  [[nodiscard]] const std::optional<checkpoint_ref>& parent() const noexcept { return parent_; }

 private:
  /// The same slice of a leaf in the merged links, the newest first, to the first one that is not relative.
  using slice_chain = std::vector<stored_slice>;

  /// The pieces of a merged leaf: its slices, or the whole leaf where these are boxes or it has no elements.
  [[nodiscard]] std::vector<stored_slice> slices_to_merge(std::size_t leaf) const {
    auto slices = chain_.newest().slices_of(leaf);
    const bool has_boxes =
        std::any_of(slices.begin(), slices.end(), [](const auto& each) { return each.region.has_value(); });
    if (!slices.empty() && !has_boxes) return slices;
    stored_slice whole{.leaf = leaf, .count = element_count(chain_.contents().leaves[leaf].shape)};
    for (const auto& each : slices) whole.bytes += each.bytes;
    return {whole};
  }

  /// The slices of a leaf in a link, runs in ascending order. Those of the leaf that was asked for last are kept.
  [[nodiscard]] const std::vector<stored_slice>& slices_in(std::size_t link, std::size_t leaf) const {
    auto& known = known_slices_.try_emplace(link, catalog::npos, std::vector<stored_slice>()).first->second;
    if (known.first != leaf) known = {leaf, chain_.links()[link]->slices_of(leaf)};
    return known.second;
  }

  /// A slice of the newest link and those that it is built on; empty if the links cut the leaf differently.
  [[nodiscard]] slice_chain chain_of(const stored_slice& newest) const {
    slice_chain all{newest};
    const auto& path = chain_.contents().leaves[newest.leaf].path;
    for (std::size_t link = 1; link < deltas_ && all.back().is_relative(); ++link) {
      const auto& from = *chain_.links()[link];
      const auto leaf = from.contents().find(path);
      if (leaf == catalog::npos) return {};
      const auto& slices = slices_in(link, leaf);
      const auto same =
          std::lower_bound(slices.begin(), slices.end(), newest.first,
                           [](const stored_slice& each, std::uint64_t first) { return each.first < first; });
      if (same == slices.end() || same->region || same->first != newest.first || same->count != newest.count) return {};
      all.push_back(*same);
    }
    return all;
  }

  [[nodiscard]] encoded_piece merge_slice(const stored_slice& newest) const {
    const auto& merged = leaves_[newest.leaf];
    const piece which{newest.leaf, newest.first, newest.count};
    const auto slices = chain_of(newest);
    auto payload = slices.empty() ? std::nullopt : merge_payloads(merged, which, slices);
    return payload ? std::move(*payload) : whole_piece(merged, which, newest);
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
  [[nodiscard]] encoded_piece whole_piece(const leaf& merged, const piece& which, const stored_slice& newest) const {
    page_buffer memory(which.count * size_of(merged.type));
    const auto values = memory.bytes();
    const read_request values_of[] = {
        {which.leaf, {merged.type, {which.count}, values.data(), {}}, std::nullopt, which.first}};
    chain_.read(values_of, {.threads = threads_});
    const auto shape = which.count == merged.count() ? merged.shape : extents{which.count};
    encoded_piece made{which, {}, {}, {}, {}};
    if (values.size() >= least_encoded_bytes) {
      const auto& codec = default_codec();
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
    const auto& all = chain_.newest().storage_of(newest.leaf).encoded;  // of boxes too
    const auto lost = newest.encoded != nullptr                         ? newest.encoded->lost
                      : all != nullptr && which.count == merged.count() ? all->lost
                                                                        : std::nullopt;
    if (!lost) return made;
    if (!is_encoded) made.how = {raw_codec().name(), merged.type, shape, false, {}};  // which has a place for the loss
    made.how->lost = lost;
    return made;
  }

  const chain_reader& chain_;
  std::size_t deltas_;
  unsigned threads_;
  std::function<void()> check_;
  std::vector<leaf> leaves_;
  std::vector<std::vector<stored_slice>> slices_;  // of the newest link, by shard
  std::uint64_t bytes_left_ = 0;                   // of these slices
  mutable std::map<std::size_t, std::pair<std::size_t, std::vector<stored_slice>>>
      known_slices_;  // by link: a leaf and its slices
  std::optional<checkpoint_ref> parent_;
  checkpoint_spec spec_;
};

}  // namespace cairn::detail

namespace cairn {

CAIRN_INLINE merge_report merge_checkpoints(any_store& store, const std::string& name, const merge_options& options) {
  const detail::stopwatch watch;
  auto open = std::make_optional<detail::chain_reader>(store, name, options.codecs);
  const auto& chain = *open;
  const bool to_whole = !options.deltas;
  merge_report report{.checkpoint = chain.contents().origin};
  const std::size_t most = chain.links().size() - 1;  // the last link needs no parent
  report.deltas = std::min(options.deltas.value_or(most), most);
  if (const auto* parent = chain.newest().parent()) report.parent = parent->name;
  if (report.deltas == 0 || (report.deltas == 1 && !to_whole)) return report;
  detail::merger merged(chain, to_whole ? chain.links().size() : report.deltas, options);
  // Closes the files that are replaced: NFS keeps the names of open files that are deleted.
  report.bytes = merged.write(store, name, [&] { open.reset(); }).bytes;
  report.parent = merged.parent() ? merged.parent()->name : std::string();
  report.seconds = watch.seconds();
  return report;
}

}  // namespace cairn
