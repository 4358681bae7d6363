// SPDX-License-Identifier: MIT
// One attempt to make a checkpoint: the part of one process in it, from its beginning to its publication.
//
// The leader begins it, all other ranks of a group join it, each writes its shards, and the leader unites their records
// and publishes. A process without a group is the leader of nobody. An attempt does not communicate: run/session does.
// What it writes comes from a shard_source: of the state of a save_job (encode_source), or of a chain (merge_source).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/chain/options.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/encoding.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/piece.hpp"
#include "cairn/encode/choice.hpp"
#include "cairn/event.hpp"
#include "cairn/report.hpp"
#include "cairn/state/base.hpp"
#include "cairn/store/base.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/store/writer.hpp"
#include "cairn/system/clock.hpp"
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
};

template <class Io>
void describe(Io& io, described<Io, published_checkpoint>& made) {
  io.object([&] {
    io.field("bytes", made.bytes);
    io.field("id", made.id);
    io.optional("delta", made.is_delta);
    io.optional("lost", made.lost);
    io.field("stored", made.stored);
  });
}

/// What the shards of a checkpoint are made of: a state (encode_source), or the deltas of a chain (merge_source). The
/// functions are called in this order; the classes have a further one, `published`, that all ranks call at last.
class shard_source {
 public:
  shard_source() = default;
  shard_source(const shard_source&) = delete;
  shard_source& operator=(const shard_source&) = delete;
  virtual ~shard_source() = default;

  /// Reads what the shards are built on. At the leader `of_leader` is null, and the result tells the others on what
  /// that is, which get it. One that cannot build on it stores its pieces of a save whole; of a merge: errc::mismatch.
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
  /// Of the checkpoint `name`, at rank `rank`. `store` and `source` must outlive the attempt.
  attempt(any_store& store, std::string_view name, shard_source& source, std::size_t rank = 0)
      : store_(store), name_(name), source_(source), rank_(rank) {}

  /// 1. At the leader: begins the checkpoint. Returns what the others need to join it.
  [[nodiscard]] std::string begin() {
    const auto built_on = source_.open(nullptr);
    writer_.emplace(store_, name_, source_.spec(), source_.shards(), rank_);
    return built_on + '/' + writer_->begin();
  }
  /// At the others. errc::not_found: this rank sees another place than the leader, or another job has taken it over.
  void join(std::string_view begun) {
    const auto slash = begun.find('/');
    const auto built_on = begun.substr(0, slash);
    static_cast<void>(source_.open(&built_on));
    writer_.emplace(store_, name_, source_.spec(), source_.shards(), rank_);
    try {
      writer_->join(begun.substr(slash + 1));
    } catch (const error& cause) {
      if (cause.code() != errc::not_found) throw;
      fail(errc::not_found,
           {cause.sentence(), ": this rank sees another place there than rank 0, or another job has taken it over"});
    }
  }
  /// 2. Writes shards of this process; again for the next ones. `one_by_one`: each is written before the next one is
  /// encoded.
  void write(std::span<const std::vector<staged_piece>> next = {}, bool one_by_one = false) {
    if (!one_by_one) return source_.write(*writer_, next);
    for (std::size_t i = 0; i < next.size(); ++i) source_.write(*writer_, next.subspan(i, 1));
  }
  /// What the leader needs to know of them.
  [[nodiscard]] std::string record() const { return write_shard_record(source_.record(*writer_)); }
  /// 3. At the leader: lists the shards of the others. `records` are those of all ranks, whose first is not read.
  void unite(std::span<const std::string> records) {
    const auto origin = sentence({store_.location(), "/", name_, ": the record of a rank"});
    for (std::size_t rank = 1; rank < records.size(); ++rank)
      own_bytes_.push_back(source_.unite(*writer_, rank, read_shard_record(records[rank], origin)));
  }
  /// 4. At the leader.
  [[nodiscard]] published_checkpoint publish() {
    published_checkpoint made;
    const auto parent = source_.finish(made, writer_->bytes());
    made.stored = writer_->stored_bytes(source_.common_leaves());
    made.stored.insert(made.stored.end(), own_bytes_.begin(), own_bytes_.end());
    const auto [bytes, id] = writer_->commit(parent);
    made.bytes = bytes;
    made.id = id;
    return made;
  }

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

/// Encodes the state of a save_job. The pieces that `write` is given may be copies, which it may overwrite, and which
/// are not used after it. Their memory, the state's own or that of copies, is used by nothing else.
class encode_source final : public shard_source {
 public:
  /// The save of `job` in `shards` shards. With a `base`, the checkpoint is a delta if its codecs use the parent and
  /// the chain can be extended; `published` makes it the new base. If that is not called, the references of the base
  /// are dropped: they may differ from what a reader has. `store`, `job` and `base` must outlive the source.
  /// With a `share`, it is that of one rank in a save by `shards` ranks; the base keeps the values of the share alone.
  encode_source(const any_store& store, const save_job& job, std::size_t shards, delta_base* base = nullptr,
                std::optional<rank_share> share = {})
      : store_(store),
        job_(job),
        base_(base),
        share_(std::move(share)),
        codecs_(job.what.leaves, job.codecs),
        spec_{.leaves = job.what.leaves,
              .structure = job.what.structure,
              .info = job.info,
              .restored = job.restored,
              .threads = job.threads,
              .on_progress = job.hooks.progress},
        shards_(shards),
        pending_bytes_(bytes_of(job.what.leaves)) {
    report_.path = store.location() + "/" + job.name;
    report_.leaves = spec_.leaves.size();
    report_.state_bytes = pending_bytes_;
    report_.unmatched_rules = codecs_.unmatched_rules();
  }
  ~encode_source() override {
    if (base_ != nullptr && !is_published_) base_->forget();
  }

  /// The pieces of this rank are deltas only if it has the leader's parent.
  [[nodiscard]] std::string open(const std::string_view* of_leader) override {
    const auto parent = base_ != nullptr && base_->parent() ? to_hex(base_->parent()->id) : std::string();
    const bool as_delta = (of_leader == nullptr || *of_leader == parent) && begin_delta(of_leader == nullptr);
    if (!as_delta && base_ != nullptr) base_->forget();
    encoder_.emplace(spec_.leaves, codecs_, base_, as_delta, job_.threads, report_, job_.hooks.check);
    return as_delta ? parent : std::string();
  }
  [[nodiscard]] const checkpoint_spec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t shards() const override { return shards_; }
  [[nodiscard]] std::size_t common_leaves() const override { return job_.common_leaves; }
  /// After the last shard the losses are known, and whether the checkpoint is a delta.
  void write(checkpoint_writer& to, std::span<const std::vector<staged_piece>> next) override {
    const stopwatch encoding;
    const auto encoded = encoder_->encode(next);
    report_.encode_seconds += encoding.seconds();
    for (const auto& shard : encoded)
      for (const auto& each : shard) {
        const auto bytes = bytes_of(spec_.leaves, each);
        pending_bytes_ -= bytes;
        encoded_bytes_ += each.how ? each.bytes.size() : bytes;
      }
    added_ += next.size();
    if (added_ >= (share_ ? 1 : shards_)) {
      encoder_->finish();
      if (job_.hooks.report) job_.hooks.report(event::kind::encoded, encoded_bytes_, report_.encode_seconds, {});
    }
    const stopwatch writing;
    to.add(for_writer(encoded), pending_bytes_);
    report_.write_seconds += writing.seconds();
  }
  [[nodiscard]] shard_record record(const checkpoint_writer& to) const override {
    auto made = to.record(job_.common_leaves, job_.own_structure);
    made.sample = job_.sample;
    return made;
  }
  std::uint64_t unite(checkpoint_writer& to, std::size_t rank, shard_record written) override {
    if (samples_.empty()) samples_.push_back(job_.sample);
    const auto common = job_.common_leaves;
    for (const auto& [leaf, how] : written.encoded) {
      if (leaf >= common + written.own.size())
        fail(errc::corrupt, {report_.path, ": the record of a rank: there is no leaf ", leaf});
      report_.is_delta = report_.is_delta || how.relative;
      if (!how.lost) continue;
      auto& worst = report_.lost[leaf < common ? spec_.leaves[leaf].path : written.own[leaf - common].path];
      worst = worse(worst, *how.lost);
    }
    const auto own_bytes = to.add_written(written, common, share_->common[rank]);
    samples_.push_back(std::move(written.sample));
    return own_bytes;
  }
  [[nodiscard]] std::optional<checkpoint_ref> finish(published_checkpoint& made, std::uint64_t bytes) override {
    if (job_.hooks.report) job_.hooks.report(event::kind::written, bytes, report_.write_seconds, {});
    if (job_.hooks.check) job_.hooks.check();
    made.is_delta = report_.is_delta;
    made.lost = report_.lost;
    committing_.emplace();
    return report_.is_delta ? base_->parent() : std::nullopt;
  }

  /// At the leader, after `unite`: the sample hashes of all ranks, see save_job.
  [[nodiscard]] std::span<const std::vector<std::uint64_t>> samples() const noexcept { return samples_; }
  /// At the leader as soon as it has published, and then at the others: the checkpoint becomes the base. Returns the
  /// report of this rank.
  [[nodiscard]] save_report published(const published_checkpoint& made) {
    report_.is_delta = made.is_delta;
    if (made.is_delta) report_.parent = base_->parent()->name;
    report_.bytes = made.bytes;
    report_.lost = made.lost;
    if (base_ != nullptr) base_->published({job_.name, made.id}, job_.info.step, made.is_delta, codecs_.use_parent());
    is_published_ = true;
    if (committing_) report_.write_seconds += committing_->seconds();
    report_.seconds = watch_.seconds();
    return std::move(report_);
  }

 private:
  /// Whether the checkpoint can be a delta; the base then has the references of its parent. The leader looks for that,
  /// and the others rely on it.
  [[nodiscard]] bool begin_delta(bool is_leader) const {
    if (base_ == nullptr || !codecs_.use_parent() || !base_->can_extend(job_.info.step, job_.chain)) return false;
    std::string fault;
    if (is_leader && !has_whole_chain(store_, *base_->parent()))
      fault = base_->parent()->name + " is not there any more";
    else if (!base_->has_references())
      fault = read_references();
    if (!fault.empty() && job_.hooks.report)
      job_.hooks.report(event::kind::anchored, 0, 0, "a delta cannot be built on its parent: " + fault);
    return fault.empty();
  }
  /// Reads the references of the base from its newest checkpoint: those of the share, or of all leaves. Returns why
  /// that cannot be done; empty: it is done.
  [[nodiscard]] std::string read_references() const {
    try {
      const auto& leaves = job_.what.leaves;
      const chain_reader reader(store_, base_->parent()->name, job_.codecs);
      if (checkpoint_id(reader.newest().index) != base_->parent()->id)
        return base_->parent()->name + " has been replaced";
      std::vector<piece> all;
      for (std::size_t leaf = 0; !share_ && leaf < leaves.size(); ++leaf)
        all.push_back({leaf, 0, leaves[leaf].count()});
      std::vector<read_request> requests;
      for (const auto& each : share_ ? share_->pieces : all) {
        const auto& leaf = leaves[each.leaf];
        const auto index = codecs_[each.leaf].uses_parent() ? reader.contents().find(leaf.path) : catalog::npos;
        if (index == catalog::npos) continue;
        const auto& stored = reader.contents().leaves[index];
        if (stored.type != leaf.type || stored.shape != leaf.shape) continue;
        auto& made = base_->make(leaf.path, leaf.type, leaf.shape);
        made.first = each.first;
        made.end = each.first + each.count;
        auto* const memory = made.values.bytes().data() + each.first * size_of(leaf.type);
        requests.push_back({index, {leaf.type, {each.count}, memory, {}}, std::nullopt, each.first});
      }
      reader.read(requests, {.threads = job_.threads});
      base_->tables() = reader.tables();
      base_->references_read();
      return {};
    } catch (const error& cause) {
      return std::string(cause.sentence());
    }
  }

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
inline save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards) {
  std::optional<memory_fit> fits;
  if (!job.codecs.empty()) {
    const auto all = divide_evenly(job.what.leaves, 1).front();
    fits = fit_memory(memory_to_encode(job.what.leaves, all, job.codecs, false).encoded, 0, 0);
  }
  if (fits) shards = std::max(shards, number_of_parts(*fits));
  const auto pieces = from_leaves<staged_piece>(divide_evenly(job.what.leaves, shards));
  encode_source source(store, job, pieces.size());
  attempt making(store, job.name, source);
  static_cast<void>(making.begin());
  making.write(pieces, fits.has_value());
  return source.published(making.publish());
}

}  // namespace cairn::inline v0_1::detail
