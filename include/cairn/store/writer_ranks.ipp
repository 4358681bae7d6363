// Definitions of store/writer.hpp: a checkpoint of several writers.
#pragma once

#include <map>

#include "cairn/store/writer.hpp"

namespace cairn::detail {

CAIRN_INLINE std::string checkpoint_writer::begin() {
  transaction_ = store_.begin(name_);
  return transaction_->attempt();
}

CAIRN_INLINE void checkpoint_writer::join(std::string_view attempt) { transaction_ = store_.join(name_, attempt); }

CAIRN_INLINE shard_record checkpoint_writer::record() const {
  shard_record made{.shards = index_.shards, .data_bytes = index_.total_size};
  for (std::size_t leaf = 0; leaf < pieces_.size(); ++leaf)
    if (pieces_[leaf].encoded) made.encoded.emplace(leaf, *pieces_[leaf].encoded);
  return made;
}

CAIRN_INLINE void checkpoint_writer::add_written(const shard_record& written,
                                                 std::span<const std::vector<piece>> pieces) {
  std::map<std::size_t, std::uint64_t> raw_bytes;  // of the pieces of a leaf, if none were encoded
  for (const auto& shard : pieces) {
    for (const auto& each : shard) {
      const auto& whole = spec_.leaves[each.leaf];
      pieces_[each.leaf].where.push_back(place_of(whole, each, laid_out_));
      raw_bytes[each.leaf] += each.count * size_of(whole.type);
    }
    ++laid_out_;
  }
  for (const auto& [leaf, bytes] : raw_bytes) {
    auto& stored = pieces_[leaf];
    const auto at = written.encoded.find(leaf);
    stored.bytes += at == written.encoded.end() ? bytes : at->second.stored;
    if (at != written.encoded.end()) add_encoding(stored.encoded, at->second);
    if (stored.encoded) stored.encoded->stored = stored.bytes;
  }
  index_.total_size += written.data_bytes;
  for (const auto& each : written.shards) {
    index_.shards.push_back(each);
    bytes_ += each.bytes;
  }
  added_ = laid_out_;
}

}  // namespace cairn::detail
