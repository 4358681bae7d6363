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
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/merge.hpp"
#include "cairn/system/clock.hpp"
#include "cairn/store/directory.hpp"
#include "cairn/store/writer.hpp"

namespace cairn::detail {

/// The newest `deltas` links of a chain on their way into one checkpoint.
class merging {
 public:
  merging(const chain_reader& chain, std::size_t deltas, const merge_options& options)
      : chain_(chain), deltas_(deltas), threads_(options.threads) {
    for (std::size_t i = 0; i < chain.contents().leaves.size(); ++i) {
      if (options.check) options.check();
      merge_leaf(i);
    }
    for (const auto& table : chain.tables().all()) spec_.chain.tables.insert(write_code_table(table));
    if (is_delta_) spec_.chain.parent = *chain.links()[deltas - 1]->parent();
    spec_.leaves = leaves_;
    spec_.shards = std::move(shards_);
    spec_.structures = {chain.contents().structure};
    spec_.step = chain.step();
    spec_.metrics = chain.metrics();
    spec_.notes = chain.newest().notes();
    spec_.id = chain.newest().id();
    spec_.threads = threads_;
    if (options.check) spec_.on_progress = [check = options.check](std::uint64_t, std::uint64_t) { check(); };
  }
  merging(const merging&) = delete;
  merging& operator=(const merging&) = delete;
  ~merging() = default;

  /// What is to be written; valid as long as this object.
  [[nodiscard]] const checkpoint_spec& spec() const noexcept { return spec_; }

 private:
  /// The same slice of a leaf in the merged links, the newest first, down to one that needs no parent.
  using history = std::vector<const stored_slice*>;

  /// The histories of all slices of a leaf; none where the links cut it in different ways.
  [[nodiscard]] std::vector<history> histories_of(std::size_t index) const {
    std::vector<history> all;
    for (const auto& slice : chain_.newest().slices_of(index)) all.push_back({&slice});
    const auto& path = chain_.contents().leaves[index].path;
    for (std::size_t link = 1; link < deltas_; ++link) {
      const auto& from = *chain_.links()[link];
      const auto leaf = from.contents().find(path);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_relative(*all[i].back())) continue;
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
    if (histories.empty()) add(0, whole_piece(index, merged, {.leaf = number, .count = merged.count()}));
    for (const auto& slices : histories) {
      piece part{.leaf = number,
                 .first = slices.front()->first,
                 .count = slices.front()->count,
                 .encoded = merge_slices(merged, slices)};
      if (!part.encoded) part = whole_piece(index, merged, std::move(part));
      add(slices.front()->shard, std::move(part));
    }
    leaves_.push_back(std::move(merged));
  }

  void add(std::size_t shard, piece part) {
    is_delta_ = is_delta_ || (part.encoded && part.encoded->how.relative);
    shards_.resize(std::max(shards_.size(), shard + 1));
    shards_[shard].push_back(std::move(part));
  }

  [[nodiscard]] static bool is_relative(const stored_slice& slice) { return slice.encoded && slice.encoded->relative; }

  /// One payload for the effect of all; null where the values are to be stored instead.
  [[nodiscard]] std::shared_ptr<const encoded_piece> merge_slices(const leaf& merged, const history& slices) const {
    if (slices.size() == 1 && !is_relative(*slices.front()))
      return slices.front()->encoded ? keep(*slices.front()) : nullptr;
    const bool has_parent = slices.size() == deltas_ && deltas_ < chain_.links().size();
    return has_parent && is_relative(*slices.back()) ? join(merged, slices) : nullptr;
  }

  [[nodiscard]] static std::shared_ptr<const encoded_piece> owned(encoding_info how, std::span<const std::byte> bytes) {
    auto memory = std::make_shared<page_buffer>(bytes.size());
    std::memcpy(memory->bytes().data(), bytes.data(), bytes.size());
    return make_encoded_piece(std::move(how), memory->bytes().data(), memory, bytes.size());
  }

  /// The payload of the newest link as it is.
  [[nodiscard]] std::shared_ptr<const encoded_piece> keep(const stored_slice& slice) const {
    return owned(*slice.encoded, chain_.newest().stored_bytes(slice).bytes());
  }

  /// What the codec of the newest delta makes of all of them.
  [[nodiscard]] std::shared_ptr<const encoded_piece> join(const leaf& merged, const history& slices) const {
    std::vector<stores::window> windows;
    std::vector<merge_request::delta> deltas;
    for (std::size_t link = slices.size(); link-- > 0;) {
      const auto& from = *chain_.links()[link];
      windows.push_back(from.stored_bytes(*slices[link]));
      deltas.push_back({slices[link]->encoded->codec, from.file_of(*slices[link]), windows.back().bytes()});
    }
    const auto& how = *slices.front()->encoded;
    const auto payload = codec_named(how.codec, chain_.rules(), deltas.back().where)
                             .merge({.path = merged.path,
                                     .type = merged.type,
                                     .bytes = slices.front()->count * size_of(merged.type),
                                     .deltas = deltas,
                                     .threads = threads_,
                                     .known_tables = &chain_.tables()});
    return payload ? owned(how, *payload) : nullptr;
  }

  /// Null where encoding does not pay.
  [[nodiscard]] std::shared_ptr<const encoded_piece> encode(const codecs::lossless& codec,
                                                            const encode_request& request, const extents& shape) const {
    auto memory = std::make_shared<page_buffer>(codec.bound(request.type, request.values.size()));
    const auto result = codec.encode(request, memory->bytes());
    if (result.codec.empty() || result.relative != codec.xor_parent) return nullptr;
    return make_encoded_piece({result.codec, request.type, shape, result.relative, {}}, memory->bytes().data(), memory,
                              result.bytes);
  }

  /// The values that the chain restores, without loss; what was lost before stays on record.
  [[nodiscard]] piece whole_piece(std::size_t index, leaf& merged, piece part) {
    if (merged.memory == nullptr) {
      auto memory = std::make_shared<page_buffer>(merged.bytes());
      merged.memory = memory->bytes().data();
      merged.owner = std::move(memory);
      const read_request all[] = {{index, merged}};
      chain_.read(all, {.threads = threads_});
    }
    std::optional<loss> lost;
    for (const auto& slice : chain_.newest().slices_of(index))
      if (slice.encoded != nullptr && slice.encoded->lost) lost = worse(lost.value_or(loss{}), *slice.encoded->lost);
    const auto width = size_of(merged.type);
    const std::span<const std::byte> values(merged.memory + part.first * width, part.count * width);
    const auto shape = part.count == merged.count() ? merged.shape : extents{part.count};
    if (values.size() >= least_encoded_bytes)
      part.encoded = encode({}, {merged.path, merged.type, values, {}, threads_, nullptr}, shape);
    if (!lost) return part;
    auto recorded =
        part.encoded ? *part.encoded : *owned({codecs::raw{}.name(), merged.type, shape, false, {}}, values);
    recorded.how.lost = lost;
    part.encoded = std::make_shared<const encoded_piece>(std::move(recorded));
    return part;
  }

  const chain_reader& chain_;
  std::size_t deltas_;
  unsigned threads_;
  bool is_delta_ = false;
  std::vector<leaf> leaves_;
  division shards_;
  checkpoint_spec spec_;
};

}  // namespace cairn::detail

namespace cairn {

CAIRN_INLINE merge_report merge_checkpoints(any_store& store, const std::string& name, const merge_options& options) {
  const detail::stopwatch watch;
  const chain_reader chain(store, name, options.codecs);
  const bool to_whole = options.to_whole || !options.deltas;
  merge_report report{.checkpoint = chain.contents().origin};
  const std::size_t most = chain.links().size() - 1;  // the last link needs no parent
  report.deltas = to_whole ? most : std::min(*options.deltas, most);
  if (const auto* parent = chain.newest().parent()) report.parent = parent->name;
  if (report.deltas == 0 || (report.deltas == 1 && !to_whole)) return report;
  chain.verify(options.threads);
  const detail::merging merged(chain, to_whole ? chain.links().size() : report.deltas, options);
  report.bytes = write_checkpoint(store, name, merged.spec()).bytes;
  report.parent = merged.spec().chain.parent ? merged.spec().chain.parent->name : std::string();
  report.seconds = watch.seconds();
  return report;
}

}  // namespace cairn
