// SPDX-License-Identifier: MIT
// One attempt to make a checkpoint: the part of one process in it, from its beginning to its publication.
//
// The leader begins it, all other ranks of a group join it, each writes its shards, and the leader unites their records
// and publishes. A process without a group is the leader of nobody. An attempt does not communicate: run/session does.
// What it writes comes from a shard_source: of the state of a save_job (encode_state), or of a chain (merge_source).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/event.hpp"
#include "cairn/report.hpp"
#include "cairn/state/base.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// What a running save calls. Each may be empty. What they throw cancels the save.
struct save_hooks {
  /// Before each piece and before publishing; from any thread.
  std::function<void()> check{};
  /// After each block; from any thread.
  std::function<void(std::uint64_t bytes, std::uint64_t total)> progress{};
  /// A delta is due, but becomes whole (`anchored`), before any encoding: `message` says why. The last shard is
  /// `encoded`, or all are `written` and not published.
  std::function<void(event::kind what, std::uint64_t bytes, double seconds, const std::string& message)> report{};
};

struct save_job {
  std::string name;  ///< of the checkpoint in its store
  description what;
  /// In a group of ranks, `what.leaves` from this number on are those that this rank alone has.
  std::size_t common_leaves = 0;
  std::uint64_t common_hash = 0;        ///< of what all ranks must have in common: paths, types, shapes and structure
  std::uint64_t share_bytes = 0;        ///< in a group: of the state, that this rank writes
  structure own_structure{};            ///< the part of `what.structure` that this rank alone has
  std::vector<std::uint64_t> sample{};  ///< hashes of pieces that all ranks should have in common: sample_pieces
  checkpoint_info info{};
  restored_losses restored{};  ///< what earlier restores have lost
  codec_rules codecs{};
  chain_options chain{};
  unsigned threads = 0;  ///< see save_options
  save_hooks hooks{};
};

/// A published checkpoint, as all ranks know it: rank 0 sends it to the others as JSON text.
struct published_checkpoint {
  std::uint64_t bytes = 0;  ///< of all files
  std::uint64_t id = 0;     ///< see checkpoint_id
  bool is_delta = false;
  std::map<std::string, loss> lost{};  ///< by path, see save_report
  /// Stored bytes of each leaf that all ranks have; then, for each rank, of the leaves that it alone has.
  std::vector<std::uint64_t> stored{};
  std::string index{};  ///< its text, where all ranks publish: see host_set
};

template <class Io>
void describe(Io& io, described<Io, published_checkpoint>& made) {
  io.object([&] {
    io.field("bytes", made.bytes);
    io.field("id", made.id);
    io.optional("delta", made.is_delta);
    io.optional("lost", made.lost);
    io.field("stored", made.stored);
    io.optional("index", made.index);
  });
}

/// What the shards of a checkpoint are made of: a state (save_source), or the deltas of a chain (merge_source). The
/// functions are called in this order, and at last `published` at all ranks.
class shard_source {
 public:
  shard_source() = default;
  shard_source(const shard_source&) = delete;
  shard_source& operator=(const shard_source&) = delete;
  virtual ~shard_source() = default;

  /// Reads what the shards are built on. The leader passes null, and gets the text that identifies that. The others
  /// pass this text: a rank that would build on something else stores its pieces whole (save), or throws errc::mismatch
  /// (merge).
  [[nodiscard]] virtual std::string open(const std::string_view* of_leader) = 0;
  /// What the checkpoint contains, and in how many shards. Valid until the source is destroyed.
  [[nodiscard]] virtual const checkpoint_spec& spec() const = 0;
  [[nodiscard]] virtual std::size_t shards() const = 0;
  /// The leaves of `spec` from this number on are those that this rank alone has.
  [[nodiscard]] virtual std::size_t common_leaves() const = 0;
  /// Adds shards of this process to the checkpoint: the next ones of a state, or all that it has of a merge.
  virtual void write(checkpoint_writer& to, std::span<const std::vector<staged_piece>> next) = 0;
  /// What the leader needs to know of the shards that were written to `to`.
  [[nodiscard]] virtual shard_record record(const checkpoint_writer& to) const = 0;
  /// At the leader, of each other rank in order: lists its shard in the checkpoint. Returns the stored bytes of what
  /// that rank alone has.
  virtual std::uint64_t unite(checkpoint_writer& to, std::size_t rank, shard_record written) = 0;
  /// At the leader: all shards are written. Sets `is_delta` and `lost`, and returns the parent of a delta.
  [[nodiscard]] virtual std::optional<checkpoint_ref> finish(published_checkpoint& made, std::uint64_t bytes) = 0;
};

/// The source of a state: see encode_state.
class save_source : public shard_source {
 public:
  /// At the leader, after `unite`: the sample hashes of all ranks, see save_job.
  [[nodiscard]] virtual std::span<const std::vector<std::uint64_t>> samples() const noexcept = 0;
  /// At the leader as soon as it has published, and then at the others: the checkpoint becomes the base. Returns the
  /// report of this rank.
  [[nodiscard]] virtual save_report published(const published_checkpoint& made) = 0;
};

/// In a group each rank merges the pieces that it has in the newest checkpoint of the chain.
class merge_source : public shard_source {
 public:
  /// The merged checkpoint is published.
  [[nodiscard]] virtual merge_report published(const published_checkpoint& made) const = 0;
};

/// Which chain is merged, and which rank this is.
struct merge_job {
  std::string name;                   ///< of the newest checkpoint of the chain
  std::optional<std::uint64_t> id{};  ///< of it, if known: another checkpoint is errc::corrupt
  std::size_t ranks = 1, rank = 0;
  merge_options how{};
};

/// Destroyed before it has published, it leaves the store as it was.
class attempt {
 public:
  /// Makes the checkpoint `name`, at rank `rank`. `store` and `source` must outlive the attempt.
  attempt(any_store& store, std::string_view name, shard_source& source, std::size_t rank = 0)
      : store_(store), name_(name), source_(source), rank_(rank) {}

  /// 1. At the leader: begins the checkpoint. Returns what the others need to join it.
  [[nodiscard]] std::string begin();
  /// At the others. errc::not_found: this rank sees another place than the leader, or another job has taken it over.
  void join(std::string_view begun);
  /// 2. Writes shards of this process; again for the next ones. `one_by_one`: each is written before the next one is
  /// encoded.
  void write(std::span<const std::vector<staged_piece>> next = {}, bool one_by_one = false) {
    if (!one_by_one) return source_.write(*writer_, next);
    for (std::size_t i = 0; i < next.size(); ++i) source_.write(*writer_, next.subspan(i, 1));
  }
  /// What the leader needs to know of them.
  [[nodiscard]] std::string record() const { return write_shard_record(source_.record(*writer_)); }
  /// 3. At the leader: lists the shards of the others. `records` are those of all ranks, whose first is not read.
  void unite(std::span<const std::string> records);
  /// 4. At the leader.
  [[nodiscard]] published_checkpoint publish();
  /// 5. At the others, where all ranks publish.
  void place(std::string_view index) { writer_->place(index); }

 private:
  any_store& store_;
  std::string name_;
  shard_source& source_;
  std::size_t rank_;
  std::optional<checkpoint_writer> writer_;
  std::vector<std::uint64_t> own_bytes_;  // stored, of the leaves that one rank alone has, by rank from 1 on
};

/// The share of one rank in a save of a group: it becomes one shard.
struct rank_share {
  std::vector<piece> pieces{};  ///< of this rank: of the leaves that all ranks have, and those that it alone has
  division common{};            ///< of all ranks: of the leaves that all ranks have; at the leader
};

/// The source of the save of `job` in `shards` shards: encodes its state. With a `base`, the checkpoint is a delta if
/// its codecs use the parent and the chain can be extended; `published` makes it the new base. If that is not called,
/// the references of the base are dropped: they may differ from what a reader has. `store`, `job` and `base` must
/// outlive the source. With a `share`, it is that of one rank in a save by `shards` ranks; the base keeps the values of
/// the share alone. The pieces that `write` is given may be copies, which it may overwrite, and which are not used
/// after it. Their memory, the state's own or that of copies, is used by nothing else.
[[nodiscard]] std::unique_ptr<save_source> encode_state(const any_store& store, const save_job& job, std::size_t shards,
                                                        delta_base* base = nullptr,
                                                        std::optional<rank_share> share = {});

/// Saves a job from the state's own memory, in `shards` shards; in more, one by one, where memory is short.
save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards);

}  // namespace cairn::inline v0_1::detail
