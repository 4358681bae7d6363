// SPDX-License-Identifier: MIT
// Definitions of chain/attempt.hpp.
#pragma once

#include <numeric>
#include <utility>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/reader.hpp"
#include "cairn/core/error.hpp"
#include "cairn/store/index.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/system/json.hpp"

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

void attempt::write(std::span<const std::vector<staged_piece>> next, bool one_by_one) {
  if (!one_by_one) return source_.write(*writer_, next);
  for (std::size_t i = 0; i < next.size(); ++i) source_.write(*writer_, next.subspan(i, 1));
}

void attempt::unite(std::span<const std::string> records) {
  const auto origin = sentence({store_.location(), "/", name_, ": the record of a rank"});
  for (std::size_t rank = 1; rank < records.size(); ++rank)
    own_bytes_.push_back(source_.unite(*writer_, rank, read_shard_record(records[rank], origin)));
}

published_checkpoint attempt::publish() {
  published_checkpoint made;
  const auto parent = source_.finish(made, writer_->bytes());
  made.stored = writer_->stored_bytes();
  const auto [bytes, id] = writer_->commit(parent);
  made.bytes = bytes;
  made.id = id;
  const auto first_own = made.stored.begin() + static_cast<std::ptrdiff_t>(source_.common_leaves());
  const auto own = std::accumulate(first_own, made.stored.end(), std::uint64_t{0});
  made.stored.erase(first_own, made.stored.end());
  made.stored.push_back(own);
  made.stored.insert(made.stored.end(), own_bytes_.begin(), own_bytes_.end());
  return made;
}

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

std::string write_published(const published_checkpoint& made) { return to_json(made); }

published_checkpoint read_published(std::string_view text) {
  return from_json<published_checkpoint>(text, "what rank 0 has published");
}

encode_source::encode_source(const any_store& store, const save_job& job, std::size_t shards, delta_base* base,
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
      pending_bytes_(job.state_bytes()) {
  report_.path = store.location() + "/" + job.name;
  report_.leaves = spec_.leaves.size();
  report_.state_bytes = pending_bytes_;
  report_.unmatched_rules = codecs_.unmatched_rules();
}

encode_source::~encode_source() {
  if (base_ != nullptr && !is_published_) base_->forget();
}

/// The pieces of this rank are deltas only if it has the leader's parent.
std::string encode_source::open(const std::string_view* of_leader) {
  const auto parent = base_ != nullptr && base_->parent() ? to_hex(base_->parent()->id) : std::string();
  const bool as_delta = (of_leader == nullptr || *of_leader == parent) && begin_delta(of_leader == nullptr);
  if (!as_delta && base_ != nullptr) base_->forget();
  encoder_.emplace(spec_.leaves, codecs_, base_, as_delta, job_.threads, job_.hooks.check);
  return as_delta ? parent : std::string();
}

/// Whether the checkpoint can be a delta; the base then has the references of its parent. The leader looks for that,
/// and the others rely on it.
bool encode_source::begin_delta(bool is_leader) const {
  if (base_ == nullptr || !codecs_.use_parent() || !base_->can_extend(job_.info.step, job_.chain)) return false;
  std::string fault;
  if (is_leader && !has_whole_chain(store_, *base_->parent()))
    fault = base_->parent()->name + " is not there any more";
  else if (!base_->has_references())
    fault = read_references();
  if (!fault.empty() && job_.hooks.anchored) job_.hooks.anchored("a delta cannot be built on its parent: " + fault);
  return fault.empty();
}

/// Reads the references of the base from its newest checkpoint: those of the share, or of all leaves. Returns why that
/// cannot be done; empty: it is done.
std::string encode_source::read_references() const {
  try {
    const auto& leaves = job_.what.leaves;
    const chain_reader reader(store_, base_->parent()->name, job_.codecs);
    if (reader.newest().id() != base_->parent()->id) return base_->parent()->name + " has been replaced";
    std::vector<piece> all;
    for (std::size_t leaf = 0; !share_ && leaf < leaves.size(); ++leaf) all.push_back({leaf, 0, leaves[leaf].count()});
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

/// After the last shard the losses are known, and whether the checkpoint is a delta.
void encode_source::write(checkpoint_writer& to, std::span<const std::vector<staged_piece>> next) {
  const stopwatch encoding;
  const auto encoded = encoder_->encode(next);
  report_.encode_seconds += encoding.seconds();
  for (const auto& shard : encoded)
    for (const auto& each : shard) {
      const auto& whole = spec_.leaves[each.leaf];
      pending_bytes_ -= each.count * size_of(whole.type);
      encoded_bytes_ += each.stored_bytes(whole);
    }
  added_ += next.size();
  if (added_ >= (share_ ? 1 : shards_)) {
    const auto summary = encoder_->finish();
    report_.is_delta = summary.is_delta;
    for (const auto& [path, lost] : summary.lost) {
      auto& worst = report_.lost[path];
      worst = worse(worst, lost);
    }
    if (job_.hooks.encoded) job_.hooks.encoded(encoded_bytes_, report_.encode_seconds);
  }
  const stopwatch writing;
  to.add(for_writer(encoded), pending_bytes_);
  report_.write_seconds += writing.seconds();
}

shard_record encode_source::record(const checkpoint_writer& to) const {
  auto made = to.record(job_.common_leaves, job_.own_structure);
  made.sample = job_.sample;
  return made;
}

std::uint64_t encode_source::unite(checkpoint_writer& to, std::size_t rank, shard_record written) {
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

std::optional<checkpoint_ref> encode_source::finish(published_checkpoint& made, std::uint64_t bytes) {
  if (job_.hooks.written) job_.hooks.written(bytes, report_.write_seconds);
  if (job_.hooks.check) job_.hooks.check();
  made.is_delta = report_.is_delta;
  made.lost = report_.lost;
  committing_.emplace();
  return report_.is_delta ? base_->parent() : std::nullopt;
}

save_report encode_source::published(const published_checkpoint& made) {
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

save_report save_checkpoint(any_store& store, const save_job& job, std::size_t shards) {
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
