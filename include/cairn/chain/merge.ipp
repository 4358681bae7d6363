// SPDX-License-Identifier: MIT
// Definitions of merge.hpp: checkpoints of one rank and of several.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/encoded_piece.hpp"
#include "cairn/chain/merge_hook.hpp"
#include "cairn/chain/merge_parts.ipp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/error.hpp"
#include "cairn/merge.hpp"
#include "cairn/store/shard_record.hpp"
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

/// What the newest `deltas` links of a chain become: the checkpoint, and its pieces by shard. It is written one shard at a time: that holds the memory of
/// one shard.
class merger {
 public:
  /// Each shard has the pieces of the same shard of the newest link. With `ranks`, there are as many shards; further ones of the newest link are
  /// added to them by turns.
  merger(const chain_reader& chain, std::size_t deltas, const merge_options& options, std::size_t ranks = 0)
      : parts_(chain, deltas, threads_of(options.threads)), check_(options.check), shards_(ranks) {
    for (std::size_t i = 0; i < chain.contents().leaves.size(); ++i) list_parts(chain, i, ranks);
    if (shards_.empty()) shards_.resize(1);  // a state without leaves
    if (ranks == 0 && options.max_bytes) divide_shards(shards_, leaves_, *options.max_bytes);
    if (const auto* parent = chain.links()[deltas - 1]->parent()) base_ = *parent;
    spec_.leaves = leaves_;
    spec_.structure = chain.contents().structure;
    spec_.info = chain.newest().info();
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

  [[nodiscard]] const checkpoint_spec& spec() const noexcept { return spec_; }
  [[nodiscard]] std::size_t shards() const noexcept { return shards_.size(); }
  [[nodiscard]] std::size_t leaves() const noexcept { return leaves_.size(); }
  [[nodiscard]] std::vector<piece> pieces_of(std::size_t shard) const {
    std::vector<piece> pieces;
    for (const auto& each : shards_[shard]) pieces.push_back(each.made);
    return pieces;
  }

  /// Merges the pieces of the shards from `first` to `last`, and writes them.
  void write(checkpoint_writer& writer, std::size_t first, std::size_t last) {
    std::uint64_t bytes_left = 0;
    for (auto shard = first; shard < last; ++shard)
      for (const auto& part : shards_[shard]) bytes_left += part.bytes;
    for (auto shard = first; shard < last; ++shard) {
      std::vector<encoded_piece> pieces;
      for (const auto& part : shards_[shard]) {
        if (check_) check_();
        pieces.push_back(parts_.merge(leaves_[part.made.leaf], part));
        bytes_left -= part.bytes;
        is_delta_ = is_delta_ || (pieces.back().how && pieces.back().how->relative);
      }
      writer.add(for_writer(std::span(&pieces, 1)), bytes_left);
    }
  }

  /// A shard that another rank has written has pieces that are relative.
  void note_delta() noexcept { is_delta_ = true; }

  /// What the merged checkpoint is built on if pieces of it are relative: the parent of the oldest link that is merged.
  [[nodiscard]] const std::optional<checkpoint_ref>& base() const noexcept { return base_; }
  /// What the written checkpoint is built on.
  [[nodiscard]] std::optional<checkpoint_ref> parent() const { return is_delta_ ? base_ : std::nullopt; }

 private:
  /// Lists the pieces of a leaf of the newest link. Each box is a leaf of the merged checkpoint.
  void list_parts(const chain_reader& chain, std::size_t number, std::size_t ranks) {
    const auto& stored = chain.contents().leaves[number];
    const auto& storage = chain.newest().storage_of(number);
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
      const auto shard = ranks != 0 ? from.shard % ranks : from.shard;
      shards_.resize(std::max(shards_.size(), shard + 1));
      const double part = total == 0 ? 0 : static_cast<double>(from.count) / static_cast<double>(total);
      shards_[shard].push_back({.made = {leaves_.size() - 1, from.first, from.count},
                                .leaf = number,
                                .from = std::move(from),
                                .bytes = static_cast<std::uint64_t>(static_cast<double>(bytes) * part)});
    });
    if (storage.restored) spec_.restored.emplace(stored.path, *storage.restored);
  }

  part_merger parts_;
  std::function<void()> check_;
  std::vector<leaf> leaves_;
  std::vector<std::vector<merged_part>> shards_;
  std::optional<checkpoint_ref> base_;
  bool is_delta_ = false;
  checkpoint_spec spec_;
};

/// A chain that is open to be merged, and how.
struct opened_merge {
  /// With `ranks`: of a group.
  opened_merge(any_store& store, const std::string& name, const merge_options& options, std::size_t ranks = 0)
      : chain(std::in_place, store, name, options.codecs), report{.checkpoint = chain->contents().origin} {
    const std::size_t most = chain->links().size() - 1;  // the last link needs no parent
    report.deltas = std::min(options.deltas.value_or(most), most);
    if (const auto* parent = chain->newest().parent()) report.parent = parent->name;
    is_needed = report.deltas > 1 || (report.deltas == 1 && !options.deltas);
    if (is_needed || ranks != 0)
      merged.emplace(*chain, options.deltas ? std::max<std::size_t>(report.deltas, 1) : most + 1, options, ranks);
  }

  stopwatch watch;
  std::optional<chain_reader> chain;
  merge_report report;
  bool is_needed = false;
  std::optional<merger> merged;
};

}  // namespace cairn::inline v0_1::detail

namespace cairn::inline v0_1 {

merge_report merge_checkpoints(any_store& store, const std::string& name, const merge_options& options) {
  detail::opened_merge open(store, name, options);
  auto& report = open.report;
  if (!open.is_needed) return report;
  auto& merged = *open.merged;
  detail::checkpoint_writer writer(store, name, merged.spec(), merged.shards());
  merged.write(writer, 0, merged.shards());
  open.chain.reset();  // closes the files that are replaced: NFS keeps the names of open files that are deleted
  const auto parent = merged.parent();
  report.bytes = writer.commit(parent).bytes;
  report.parent = parent ? parent->name : std::string();
  report.seconds = open.watch.seconds();
  return report;
}

}  // namespace cairn::inline v0_1

namespace cairn::inline v0_1::detail {

/// All ranks open the same checkpoint, and so list the same pieces for each of them.
class rank_merge final : public joint_merge {
 public:
  rank_merge(any_store& store, const joint_merge_job& job)
      : rank_(job.rank),
        open_(store, job.newest.name, job.how, job.ranks),
        writer_(store, job.newest.name, merged().spec(), job.ranks, job.rank) {
    if (open_.chain->newest().id() != job.newest.id)
      fail(errc::corrupt, {open_.report.checkpoint, ": another checkpoint has replaced it"});
  }

  [[nodiscard]] std::string begin() override { return links() + writer_.begin(); }
  void join(std::string_view begun) override {
    const auto own = links();
    if (!begun.starts_with(own))
      fail(errc::mismatch,
           {open_.report.checkpoint, ": this rank sees other checkpoints that it is built on than rank 0"});
    writer_.join(begun.substr(own.size()));
  }

  void write_share() override {
    merged().write(writer_, rank_, rank_ + 1);
    open_.chain.reset();  // before its files are replaced: NFS keeps the names of open files that are deleted
  }

  [[nodiscard]] std::string record() const override {
    return write_shard_record(writer_.record(open_.merged->leaves(), {}));
  }

  [[nodiscard]] merge_report publish(std::span<const std::string> records) override {
    for (std::size_t rank = 1; rank < records.size(); ++rank) {
      const auto written = read_shard_record(records[rank], open_.report.checkpoint + ": the record of a rank");
      for (const auto& [number, how] : written.encoded)
        if (how.relative) merged().note_delta();
      writer_.add_written(written, merged().leaves(), merged().pieces_of(rank));
    }
    const auto parent = merged().parent();
    return published(writer_.commit(parent).bytes, !parent);
  }

  [[nodiscard]] merge_report published(std::uint64_t bytes, bool is_whole) const override {
    auto report = open_.report;
    const auto& base = open_.merged->base();
    report.parent = is_whole || !base ? std::string() : base->name;
    report.bytes = bytes;
    report.seconds = open_.watch.seconds();
    return report;
  }

 private:
  /// The links of the chain: a file system may still show a rank one that another has been merged into, which keeps its name and id.
  [[nodiscard]] std::string links() const {
    std::string text;
    for (const auto& link : open_.chain->links()) text += to_hex(link->id()) + '/';
    return text;
  }
  [[nodiscard]] merger& merged() noexcept { return *open_.merged; }

  std::size_t rank_;
  opened_merge open_;
  checkpoint_writer writer_;
};

std::unique_ptr<joint_merge> open_joint_merge(any_store& store, const joint_merge_job& job) {
  return std::make_unique<rank_merge>(store, job);
}

}  // namespace cairn::inline v0_1::detail
