// SPDX-License-Identifier: MIT
// Definitions of chain/attempt.hpp: the attempt, and the source that encodes a state.
#pragma once

#include <algorithm>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/store/level_set.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

std::string attempt::begin() {
  const auto built_on = source_.open(nullptr);
  writer_.emplace(store_, name_, source_.spec(), source_.shards(), rank_);
  return built_on + '/' + writer_->begin();
}

void attempt::join(std::string_view begun) {
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

void attempt::unite(std::span<const std::string> records) {
  const auto origin = sentence({store_.location(), "/", name_, ": the record of a rank"});
  for (std::size_t rank = 1; rank < records.size(); ++rank)
    own_bytes_.push_back(source_.unite(*writer_, rank, read_shard_record(records[rank], origin)));
}

published_checkpoint attempt::publish() {
  published_checkpoint made;
  const auto parent = source_.finish(made, writer_->bytes());
  made.stored = writer_->stored_bytes(source_.common_leaves());
  made.stored.insert(made.stored.end(), own_bytes_.begin(), own_bytes_.end());
  auto written = writer_->commit(parent);
  made.bytes = written.bytes;
  made.id = written.id;
  if (store_.hosts()) made.index = std::move(written.index);
  return made;
}

class encode_source final : public save_source {
 public:
  encode_source(const any_store& store, const save_job& job, std::size_t shards, delta_base* base,
                std::optional<rank_share> share)
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
        pending_bytes_(share_ ? bytes_of(job.what.leaves, std::span(share_->pieces)) : bytes_of(job.what.leaves)) {
    report_.path = store.location() + "/" + job.name;
    report_.leaves = spec_.leaves.size();
    report_.state_bytes = bytes_of(job.what.leaves);
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

  [[nodiscard]] std::span<const std::vector<std::uint64_t>> samples() const noexcept override { return samples_; }
  [[nodiscard]] save_report published(const published_checkpoint& made) override {
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
    if (is_leader && !has_whole_chain(first_place(store_), *base_->parent()))
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
      const chain_reader reader(first_place(store_), base_->parent()->name, job_.codecs);
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

std::unique_ptr<save_source> encode_state(const any_store& store, const save_job& job, std::size_t shards,
                                          delta_base* base, std::optional<rank_share> share) {
  return std::make_unique<encode_source>(store, job, shards, base, std::move(share));
}

save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards) {
  std::optional<memory_fit> fits;
  if (!job.codecs.empty()) {
    const auto all = divide_evenly(job.what.leaves, 1).front();
    fits = fit_memory(memory_to_encode(job.what.leaves, all, job.codecs, false).encoded, 0, 0);
  }
  if (fits) shards = std::max(shards, number_of_parts(*fits));
  const auto pieces = from_leaves<staged_piece>(divide_evenly(job.what.leaves, shards));
  const auto source = encode_state(store, job, pieces.size());
  attempt making(store, job.name, *source);
  static_cast<void>(making.begin());
  making.write(pieces, fits.has_value());
  return source->published(making.publish());
}

}  // namespace cairn::inline v0_1::detail
