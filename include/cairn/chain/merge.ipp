// SPDX-License-Identifier: MIT
// Definitions of merge.hpp: the newest links of a chain are made into one, piece by piece.
#pragma once

#include <algorithm>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/encode/code_table_text.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/layout.hpp"
#include "cairn/system/sort.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/memory.hpp"
#include "cairn/system/parallel.hpp"

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
    for_each_piece(from.index.storage[leaf].layout, from.contents.leaves[leaf].shape,
                   [&](placed_piece each) { pieces.push_back(std::move(each)); });
    sort_items(pieces, comes_before);
    known = {leaf, std::move(pieces)};
    return known.second;
  }

  /// The slice of a link that is cut as `wanted`, if there is one.
  [[nodiscard]] std::optional<stored_slice> find_same(std::size_t link, std::string_view path,
                                                      const placed_piece& wanted) const {
    const auto leaf = chain_.links()[link]->contents.find(path);
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
      const auto tables = chain_.tables_of(0, newest.shard);
      return owned(which, *newest.encoded, payload_of(chain_.newest(), newest), *tables);  // as it is
    }
    const bool has_parent = slices.size() == deltas_ && deltas_ < chain_.links().size();
    return has_parent && slices.back().is_relative() ? join(merged, which, slices) : std::nullopt;
  }

  [[nodiscard]] page_buffer payload_of(const stored_checkpoint& from, const stored_slice& slice) const {
    page_buffer payload(slice.bytes);
    read_stored(from, slice.shard, slice.begin, payload.bytes(), {.threads = threads_});
    return payload;
  }

  /// `named`: the tables that the payload may name.
  [[nodiscard]] static encoded_piece owned(const piece& which, encoding_info how, page_buffer payload,
                                           const code_tables& named) {
    const auto bytes = payload.bytes().size();
    encoded_piece made{which};
    made.own(std::move(how), std::move(payload), bytes);
    for (const auto& table : named.all()) made.tables.insert(write_code_table(table));
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
      deltas.push_back({slices[link].encoded->codec, from.shards[slices[link].shard].where, payloads.back().bytes()});
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
    return owned(which, how, std::move(memory), known);
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
    encoded_piece made{which};
    if (values.size() >= least_encoded_bytes) {
      const auto& codec = lossless_codec();
      page_buffer packed(codec.bound(merged.type, values.size()));
      const auto result = codec.encode({merged.path, merged.type, values, {}, threads_, nullptr}, packed.bytes());
      if (!result.codec.empty())
        made.own({result.codec, merged.type, shape, result.relative, {}}, std::move(packed), result.bytes);
    }
    if (!made.how) {
      made.memory = std::move(memory);
      made.bytes = made.memory.bytes();
    }
    if (part.from.count == 0) return made;
    const auto newest = chain_.newest().slice_of(part.leaf, part.from);
    if (newest.encoded == nullptr || !newest.encoded->lost) return made;
    if (!made.how) made.how = {raw_codec().name(), merged.type, shape, false, {}};  // which has a place for the loss
    made.how->lost = newest.encoded->lost;
    return made;
  }

  const chain_reader& chain_;
  std::size_t deltas_;
  unsigned threads_;
  mutable std::map<std::size_t, std::pair<std::size_t, std::vector<placed_piece>>>
      known_pieces_;  // by link: a leaf and its pieces
};

/// Divides each shard so that the elements of a part have at most `most` bytes, except where a part is one piece.
inline void divide_shards(std::vector<std::vector<merged_part>>& shards, std::span<const leaf> leaves,
                          std::uint64_t most) {
  std::vector<std::vector<merged_part>> parts;
  for (auto& shard : shards) {
    std::uint64_t bytes = 0;
    parts.emplace_back();
    for (auto& each : shard) {
      const auto more = each.made.count * size_of(leaves[each.made.leaf].type);
      if (bytes + more > most && !parts.back().empty()) {
        parts.emplace_back();
        bytes = 0;
      }
      bytes += more;
      parts.back().push_back(std::move(each));
    }
  }
  shards = std::move(parts);
}

/// Makes one shard of each shard of the newest link, or more where memory is short. In a group each rank makes one:
/// shard i of the newest link goes to rank i mod ranks. Written shard by shard, so that one shard is in memory.
class chain_merge final : public merge_source {
 public:
  chain_merge(const any_store& store, merge_job job) : store_(store), job_(std::move(job)) {}

  /// Compares the ids of all links: a rank may still see a checkpoint as it was before it was merged, which has the
  /// same name and id, but other ancestors.
  [[nodiscard]] std::string open(const std::string_view* of_leader) override {
    if (!chain_) open_chain();
    std::string links;
    for (const auto& link : chain_->links()) links += to_hex(checkpoint_id(link->index)) + ',';
    if (of_leader != nullptr && links != *of_leader)
      fail(errc::mismatch, {report_.checkpoint, ": this rank sees other checkpoints that it is built on than rank 0"});
    return links;
  }
  /// Is there anything to merge?
  [[nodiscard]] bool is_needed() const noexcept { return is_needed_; }
  [[nodiscard]] const merge_report& report() const noexcept { return report_; }

  [[nodiscard]] const checkpoint_spec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t shards() const override { return shards_.size(); }
  [[nodiscard]] std::size_t common_leaves() const override { return leaves_.size(); }

  void write(checkpoint_writer& to, std::span<const std::vector<staged_piece>> /*next*/) override {
    const auto own = in_group() ? std::span(shards_).subspan(job_.rank, 1) : std::span(shards_);
    std::uint64_t bytes_left = 0;
    for (const auto& shard : own)
      for (const auto& part : shard) bytes_left += part.bytes;
    for (const auto& shard : own) {
      std::vector<encoded_piece> pieces;
      for (const auto& part : shard) {
        if (job_.how.check) job_.how.check();
        pieces.push_back(parts_->merge(leaves_[part.made.leaf], part));
        bytes_left -= part.bytes;
        is_delta_ = is_delta_ || (pieces.back().how && pieces.back().how->relative);
      }
      to.add(for_writer(std::span(&pieces, 1)), bytes_left);
    }
    parts_.reset();
    chain_.reset();  // before its files are removed: NFS keeps the names of open files that are deleted
  }
  [[nodiscard]] shard_record record(const checkpoint_writer& to) const override {
    return to.record(leaves_.size(), {});
  }
  std::uint64_t unite(checkpoint_writer& to, std::size_t rank, shard_record written) override {
    for (const auto& [number, how] : written.encoded) is_delta_ = is_delta_ || how.relative;
    std::vector<piece> pieces;
    for (const auto& part : shards_[rank]) pieces.push_back(part.made);
    return to.add_written(written, leaves_.size(), pieces);
  }
  [[nodiscard]] std::optional<checkpoint_ref> finish(published_checkpoint& made, std::uint64_t /*bytes*/) override {
    made.is_delta = is_delta_ && base_;
    return made.is_delta ? base_ : std::nullopt;
  }

  [[nodiscard]] merge_report published(const published_checkpoint& made) const override {
    auto report = report_;
    report.parent = made.is_delta && base_ ? base_->name : std::string();
    report.bytes = made.bytes;
    report.seconds = watch_.seconds();
    return report;
  }

 private:
  [[nodiscard]] bool in_group() const noexcept { return job_.ranks > 1; }

  void open_chain() {
    chain_.emplace(store_, job_.name, job_.how.codecs);
    const auto& chain = *chain_;
    const auto& how = job_.how;
    report_.checkpoint = chain.contents().origin;
    const auto id = checkpoint_id(chain.newest().index);
    if (job_.id && id != *job_.id) fail(errc::corrupt, {report_.checkpoint, ": another checkpoint has replaced it"});
    const std::size_t most = chain.links().size() - 1;  // the last link needs no parent
    report_.deltas = std::min(how.deltas.value_or(most), most);
    if (const auto& parent = chain.newest().index.parent) report_.parent = parent->name;
    is_needed_ = report_.deltas > 1 || (report_.deltas == 1 && !how.deltas);
    const auto merged = how.deltas ? std::max<std::size_t>(report_.deltas, 1) : most + 1;
    parts_.emplace(chain, merged, threads_of(how.threads));
    if (in_group()) shards_.resize(job_.ranks);
    for (std::size_t i = 0; i < chain.contents().leaves.size(); ++i) list_parts(i);
    if (shards_.empty()) shards_.resize(1);  // a state without leaves
    if (!in_group()) {
      const auto most_bytes = memory_to_merge();
      divide_shards(shards_, leaves_, std::min(how.max_bytes.value_or(most_bytes), most_bytes));
    }
    base_ = chain.links()[merged - 1]->index.parent;
    spec_.leaves = leaves_;
    spec_.structure = chain.contents().structure;
    spec_.info = chain.info();
    spec_.id = id;
    spec_.threads = how.threads;
    spec_.on_progress = [&how](std::uint64_t done, std::uint64_t total) {
      if (how.check) how.check();
      if (how.progress) how.progress(done, total);
    };
  }

  /// Lists the pieces of a leaf of the newest link. Each box is a leaf of the merged checkpoint.
  void list_parts(std::size_t number) {
    const auto& stored = chain_->contents().leaves[number];
    const auto& storage = chain_->newest().index.storage[number];
    const auto total = element_count(stored.shape);
    const auto bytes = storage.encoded ? storage.encoded->stored : stored.bytes();
    const auto add_leaf = [&](const extents& shape) -> leaf& {
      auto& made = leaves_.emplace_back();
      made.path = stored.path;
      made.type = stored.type;
      made.shape = shape;
      return made;
    };
    bool has_leaf = false;
    for_each_piece(storage.layout, stored.shape, [&](placed_piece from) {
      if (from.region)
        add_leaf(from.region->shape).place = std::make_shared<box_place>(stored.shape, from.region->first);
      else if (!std::exchange(has_leaf, true))
        add_leaf(stored.shape);
      const auto shard = in_group() ? from.shard % job_.ranks : from.shard;
      shards_.resize(std::max(shards_.size(), shard + 1));
      const double part = total == 0 ? 0 : static_cast<double>(from.count) / static_cast<double>(total);
      shards_[shard].push_back({.made = {leaves_.size() - 1, from.first, from.count},
                                .leaf = number,
                                .from = std::move(from),
                                .bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * part)});
    });
    if (storage.restored) spec_.restored.emplace(stored.path, *storage.restored);
  }

  const any_store& store_;
  merge_job job_;
  stopwatch watch_;
  std::optional<chain_reader> chain_;
  std::optional<part_merger> parts_;
  merge_report report_;
  bool is_needed_ = false;
  std::vector<leaf> leaves_;
  std::vector<std::vector<merged_part>> shards_;
  std::optional<checkpoint_ref> base_;  // the parent of the oldest link that is merged: pieces may be relative to it
  bool is_delta_ = false;               // a piece is
  checkpoint_spec spec_;
};

std::unique_ptr<merge_source> open_merge(const any_store& store, const merge_job& job) {
  return std::make_unique<chain_merge>(store, job);
}

}  // namespace cairn::inline v0_1::detail

namespace cairn::inline v0_1 {

merge_report merge_checkpoints(any_store& store, const std::string& name, const merge_options& options) {
  const auto lock = store.lock();
  detail::chain_merge source(store, {.name = name, .how = options});
  static_cast<void>(source.open(nullptr));
  if (!source.is_needed()) return source.report();
  detail::attempt making(store, name, source);
  static_cast<void>(making.begin());
  making.write();
  return source.published(making.publish());
}

}  // namespace cairn::inline v0_1
