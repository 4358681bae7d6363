// SPDX-License-Identifier: MIT
// Definitions of merge.hpp: checkpoints of one rank and of several.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/encoded_piece.hpp"
#include "cairn/chain/attempt.hpp"
#include "cairn/chain/merge_parts.ipp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/error.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/parallel.hpp"

namespace cairn::inline v0_1::detail {

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

/// Makes one shard of each shard of the newest link; in a group, one for each rank, and further ones of the newest link
/// are added to them by turns. It is written one shard at a time: that holds the memory of one shard.
class chain_merge final : public merge_source {
 public:
  chain_merge(const any_store& store, merge_job job) : store_(store), job_(std::move(job)) {}

  /// The links' ids: a file system may still show a rank one that another was merged into, which keeps its name and id.
  [[nodiscard]] std::string open(const std::string_view* of_leader) override {
    if (!chain_) open_chain();
    std::string links;
    for (const auto& link : chain_->links()) links += to_hex(link->id()) + ',';
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
    if (job_.id && chain.newest().id() != *job_.id)
      fail(errc::corrupt, {report_.checkpoint, ": another checkpoint has replaced it"});
    const std::size_t most = chain.links().size() - 1;  // the last link needs no parent
    report_.deltas = std::min(how.deltas.value_or(most), most);
    if (const auto* parent = chain.newest().parent()) report_.parent = parent->name;
    is_needed_ = report_.deltas > 1 || (report_.deltas == 1 && !how.deltas);
    const auto merged = how.deltas ? std::max<std::size_t>(report_.deltas, 1) : most + 1;
    parts_.emplace(chain, merged, threads_of(how.threads));
    if (in_group()) shards_.resize(job_.ranks);
    for (std::size_t i = 0; i < chain.contents().leaves.size(); ++i) list_parts(i);
    if (shards_.empty()) shards_.resize(1);  // a state without leaves
    if (!in_group() && how.max_bytes) divide_shards(shards_, leaves_, *how.max_bytes);
    if (const auto* parent = chain.links()[merged - 1]->parent()) base_ = *parent;
    spec_.leaves = leaves_;
    spec_.structure = chain.contents().structure;
    spec_.info = chain.newest().info();
    spec_.id = chain.newest().id();
    spec_.threads = how.threads;
    spec_.on_progress = [&how](std::uint64_t done, std::uint64_t total) {
      if (how.check) how.check();
      if (how.progress) how.progress(done, total);
    };
  }

  /// Lists the pieces of a leaf of the newest link. Each box is a leaf of the merged checkpoint.
  void list_parts(std::size_t number) {
    const auto& stored = chain_->contents().leaves[number];
    const auto& storage = chain_->newest().storage_of(number);
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
