// Definitions of merge.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
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

/// Merges the newest `deltas` links of a chain into one checkpoint.
class merger {
 public:
  /// `chain` is needed only for this.
  merger(const chain_reader& chain, std::size_t deltas, const merge_options& options)
      : chain_(chain), deltas_(deltas), threads_(threads_of(options.threads)) {
    for (std::size_t i = 0; i < chain.contents().leaves.size(); ++i) {
      if (options.check) options.check();
      merge_leaf(i);
    }
    for (const auto& table : chain.tables().all()) spec_.chain.tables.insert(write_code_table(table));
    if (is_delta_) spec_.chain.parent = *chain.links()[deltas - 1]->parent();
    spec_.leaves = leaves_;
    spec_.shards = for_writer(shards_);
    spec_.structures = {chain.contents().structure};
    spec_.info = chain.newest().info();
    spec_.id = chain.newest().id();
    spec_.threads = options.threads;
    if (options.check) spec_.on_progress = [check = options.check](std::uint64_t, std::uint64_t) { check(); };
  }
  merger(const merger&) = delete;  // what is written refers to it
  merger& operator=(const merger&) = delete;
  ~merger() = default;

  /// The merged checkpoint. Refers to this object.
  [[nodiscard]] const checkpoint_spec& spec() const noexcept { return spec_; }

 private:
  /// The same slice of a leaf in the merged links, the newest first, to the first one that is not relative.
  using history = std::vector<const stored_slice*>;

  /// The histories of all slices of a leaf; empty if the links cut the leaf differently.
  [[nodiscard]] std::vector<history> histories_of(std::size_t index) const {
    std::vector<history> all;
    for (const auto& slice : chain_.newest().slices_of(index)) all.push_back({&slice});
    const auto& path = chain_.contents().leaves[index].path;
    for (std::size_t link = 1; link < deltas_; ++link) {
      const auto& from = *chain_.links()[link];
      const auto leaf = from.contents().find(path);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].back()->is_relative()) continue;
        const auto slices = leaf == catalog::npos ? std::span<const stored_slice>() : from.slices_of(leaf);
        if (slices.size() != all.size() || slices[i].first != all[i].front()->first ||
            slices[i].count != all[i].front()->count)
          return {};
        all[i].push_back(&slices[i]);
      }
    }
    return all;
  }

  void merge_leaf(std::size_t index) {
    const auto& stored = chain_.contents().leaves[index];
    leaf merged;
    merged.path = stored.path;
    merged.type = stored.type;
    merged.shape = stored.shape;
    const auto number = leaves_.size();
    const auto histories = histories_of(index);
    if (histories.empty()) add(0, whole_piece(index, merged, {number, 0, merged.count()}));
    for (const auto& slices : histories) {
      const auto& newest = *slices.front();
      const piece which{number, newest.first, newest.count};
      auto payload = merge_slices(merged, which, slices);
      add(newest.shard, payload ? std::move(*payload) : whole_piece(index, merged, which));
    }
    leaves_.push_back(std::move(merged));
  }

  void add(std::size_t shard, encoded_piece made) {
    is_delta_ = is_delta_ || (made.how && made.how->relative);
    shards_.resize(std::max(shards_.size(), shard + 1));
    shards_[shard].push_back(std::move(made));
  }

  /// One payload with the effect of all of them; nullopt if the leaf's values must be stored instead.
  [[nodiscard]] std::optional<encoded_piece> merge_slices(const leaf& merged, const piece& which,
                                                          const history& slices) const {
    const auto& newest = *slices.front();
    if (slices.size() == 1 && !newest.is_relative()) {
      if (newest.encoded == nullptr) return std::nullopt;
      return owned(which, *newest.encoded, payload_of(chain_.newest(), newest));  // as it is
    }
    const bool has_parent = slices.size() == deltas_ && deltas_ < chain_.links().size();
    return has_parent && slices.back()->is_relative() ? join(merged, which, slices) : std::nullopt;
  }

  [[nodiscard]] page_buffer payload_of(const checkpoint_reader& from, const stored_slice& slice) const {
    page_buffer payload(slice.bytes);
    from.read(slice, payload.bytes(), {.threads = threads_});
    return payload;
  }

  [[nodiscard]] static encoded_piece owned(const piece& which, encoding_info how, page_buffer payload) {
    const auto bytes = payload.bytes().size();
    encoded_piece made{which, {}, {}, {}};
    made.own(std::move(how), std::move(payload), bytes);
    return made;
  }

  /// The payload that the codec of the newest delta makes of all of them.
  [[nodiscard]] std::optional<encoded_piece> join(const leaf& merged, const piece& which, const history& slices) const {
    std::vector<page_buffer> payloads;
    std::vector<merge_request::delta> deltas;
    for (std::size_t link = slices.size(); link-- > 0;) {
      const auto& from = *chain_.links()[link];
      payloads.push_back(payload_of(from, *slices[link]));
      deltas.push_back({slices[link]->encoded->codec, from.file_of(*slices[link]), payloads.back().bytes()});
    }
    const auto& how = *slices.front()->encoded;
    const auto payload = codec_named(how.codec, chain_.rules(), deltas.back().where)
                             .merge({.path = merged.path,
                                     .type = merged.type,
                                     .bytes = which.count * size_of(merged.type),
                                     .deltas = deltas,
                                     .threads = threads_,
                                     .known_tables = &chain_.tables()});
    if (!payload) return std::nullopt;
    page_buffer memory(payload->size());
    std::copy(payload->begin(), payload->end(), memory.bytes().begin());
    return owned(which, how, std::move(memory));
  }

  /// The values that the chain restores, without further loss; the largest loss of the newest link's slices is recorded.
  [[nodiscard]] encoded_piece whole_piece(std::size_t index, leaf& merged, const piece& which) {
    if (merged.memory == nullptr) {
      auto memory = std::make_shared<page_buffer>(merged.bytes());
      merged.memory = memory->bytes().data();
      merged.owner = std::move(memory);
      const read_request all[] = {{index, merged}};
      chain_.read(all, {.threads = threads_});
    }
    const auto width = size_of(merged.type);
    const std::span<const std::byte> values(merged.memory + which.first * width, which.count * width);
    const auto shape = which.count == merged.count() ? merged.shape : extents{which.count};
    encoded_piece made{which, {}, {}, {}};
    if (values.size() >= least_encoded_bytes) {
      const auto& codec = default_codec();
      page_buffer memory(codec.bound(merged.type, values.size()));
      const auto result = codec.encode({merged.path, merged.type, values, {}, threads_, nullptr}, memory.bytes());
      if (!result.codec.empty())
        made.own({result.codec, merged.type, shape, result.relative, {}}, std::move(memory), result.bytes);
    }
    std::optional<loss> lost;
    for (const auto& slice : chain_.newest().slices_of(index))
      if (slice.encoded != nullptr && slice.encoded->lost) lost = worse(lost.value_or(loss{}), *slice.encoded->lost);
    if (!lost) return made;
    if (!made.how) {  // only an encoding has a place for the loss
      made.how = encoding_info{raw_codec().name(), merged.type, shape, false, {}};
      made.bytes = values;
    }
    made.how->lost = lost;
    return made;
  }

  const chain_reader& chain_;
  std::size_t deltas_;
  unsigned threads_;
  bool is_delta_ = false;
  std::vector<leaf> leaves_;
  shards_of<encoded_piece> shards_;
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
  chain.verify(options.threads);
  const detail::merger merged(chain, to_whole ? chain.links().size() : report.deltas, options);
  open.reset();  // the files that are replaced: NFS keeps the names of open files that are deleted
  report.bytes = detail::write_checkpoint(store, name, merged.spec()).bytes;
  report.parent = merged.spec().chain.parent ? merged.spec().chain.parent->name : std::string();
  report.seconds = watch.seconds();
  return report;
}

}  // namespace cairn
