// SPDX-License-Identifier: MIT
// Definitions of store/writer.hpp: a checkpoint of several writers.
#pragma once

#include <map>

#include "cairn/store/writer.hpp"

namespace cairn::inline v0_1::detail {

std::string checkpoint_writer::begin() {
  transaction_ = store_.begin(name_);
  return transaction_->attempt();
}

void checkpoint_writer::join(std::string_view attempt) { transaction_ = store_.join(name_, attempt); }

shard_record checkpoint_writer::record(std::size_t common, structure own_structure) const {
  shard_record made{
      .shards = index_.shards, .data_bytes = index_.total_size, .own_structure = std::move(own_structure)};
  for (std::size_t number = 0; number < pieces_.size(); ++number)
    if (pieces_[number].encoded) made.encoded.emplace(number, *pieces_[number].encoded);
  for (std::size_t number = common; number < spec_.leaves.size(); ++number) {
    const auto& each = spec_.leaves[number];
    auto& own = made.own.emplace_back();
    own.path = each.path;
    own.type = each.type;
    own.shape = each.shape;
    own.place = each.place;
  }
  return made;
}

std::uint64_t checkpoint_writer::add_written(const shard_record& written, std::size_t common,
                                             std::span<const piece> pieces) {
  lists_others_ = true;
  std::map<std::size_t, std::uint64_t> raw_bytes;  // of the pieces of a leaf, if none were encoded
  const auto place = [&](std::size_t number, const piece& each) {
    const auto& whole = leaf_at(number);
    pieces_[number].where.push_back(place_of(whole, each, laid_out_));
    raw_bytes[number] += each.count * size_of(whole.type);
  };
  for (const auto& each : pieces) place(each.leaf, each);
  const auto first_other = spec_.leaves.size() + others_.size();
  for (const auto& each : written.own) {
    others_.push_back(each);
    pieces_.emplace_back();
    place(pieces_.size() - 1, {.count = each.count()});
  }
  ++laid_out_;
  std::uint64_t own_bytes = 0;
  for (const auto& [number, bytes] : raw_bytes) {
    const bool is_other = number >= first_other;
    const auto at = written.encoded.find(is_other ? number - first_other + common : number);
    const auto* const how = at == written.encoded.end() ? nullptr : &at->second;
    const auto added = how == nullptr ? bytes : how->stored;
    pieces_[number].add(added, how);
    if (is_other) own_bytes += added;
  }
  index_.structure.insert(written.own_structure.begin(), written.own_structure.end());
  index_.total_size += written.data_bytes;
  for (const auto& each : written.shards) {
    index_.shards.push_back(each);
    bytes_ += each.bytes;
  }
  return own_bytes;
}

std::vector<std::uint64_t> checkpoint_writer::stored_bytes() const {
  std::vector<std::uint64_t> bytes;
  bytes.reserve(spec_.leaves.size());
  for (std::size_t number = 0; number < spec_.leaves.size(); ++number) bytes.push_back(pieces_[number].bytes);
  return bytes;
}

}  // namespace cairn::inline v0_1::detail
