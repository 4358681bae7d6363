// SPDX-License-Identifier: MIT
// Makes the shards of a save of the state that they are made of: encodes its pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/delta_base.hpp"
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/save_job.hpp"
#include "cairn/report.hpp"
#include "cairn/system/clock.hpp"

namespace cairn::inline v0_1::detail {

/// The share of one rank in a save of a group: it becomes one shard.
struct rank_share {
  std::vector<piece> pieces{};  ///< of this rank: of the leaves that all ranks have, and those that it alone has
  division common{};            ///< of all ranks: of the leaves that all ranks have; at the leader
};

/// The pieces that `write` is given may be copies, which it may overwrite, and which are not used after it. Their
/// memory, the state's own or that of copies, is used by nothing else.
class encode_source final : public shard_source {
 public:
  /// The save of `job` in `shards` shards. With a `base`, the checkpoint is a delta if its codecs use the parent and
  /// the chain can be extended; `published` makes it the new base. If that is not called, the references of the base
  /// are dropped: they may differ from what a reader has. `store`, `job` and `base` must outlive the source.
  /// With a `share`, it is that of one rank in a save by `shards` ranks; the base keeps the values of the share alone.
  encode_source(const any_store& store, const save_job& job, std::size_t shards, delta_base* base = nullptr,
                std::optional<rank_share> share = {});
  ~encode_source() override;

  [[nodiscard]] std::string open(const std::string_view* of_leader) override;
  [[nodiscard]] const checkpoint_spec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t shards() const override { return shards_; }
  [[nodiscard]] std::size_t common_leaves() const override { return job_.common_leaves; }
  void write(checkpoint_writer& to, std::span<const std::vector<staged_piece>> next) override;
  [[nodiscard]] shard_record record(const checkpoint_writer& to) const override;
  std::uint64_t unite(checkpoint_writer& to, std::size_t rank, shard_record written) override;
  [[nodiscard]] std::optional<checkpoint_ref> finish(published_checkpoint& made, std::uint64_t bytes) override;

  /// At the leader, after `unite`: the sample hashes of all ranks, see save_job.
  [[nodiscard]] std::span<const std::vector<std::uint64_t>> samples() const noexcept { return samples_; }
  /// At the leader as soon as it has published, and then at the others: the checkpoint becomes the base. Returns the
  /// report of this rank.
  [[nodiscard]] save_report published(const published_checkpoint& made);

 private:
  [[nodiscard]] bool can_be_delta(bool is_leader) const;
  [[nodiscard]] std::string read_references() const;
  [[nodiscard]] shards_of<encoded_piece> encode(std::span<const std::vector<staged_piece>> next);

  stopwatch watch_;
  std::optional<stopwatch> committing_;  // at the leader
  const any_store& store_;
  const save_job& job_;
  delta_base* base_;
  std::optional<rank_share> share_;
  leaf_codecs codecs_;
  checkpoint_spec spec_;
  std::size_t shards_, added_ = 0;
  std::uint64_t pending_bytes_, encoded_bytes_ = 0;
  std::optional<leaf_encoder> encoder_;
  std::vector<std::vector<std::uint64_t>> samples_;
  save_report report_{};
  bool is_published_ = false;
};

/// Saves a job from the state's own memory, in `shards` shards; in more, one by one, where memory is short.
save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards = 1, delta_base* base = nullptr);

}  // namespace cairn::inline v0_1::detail
