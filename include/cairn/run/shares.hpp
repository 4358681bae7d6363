// SPDX-License-Identifier: MIT
// What the ranks of a group have of a state in common, what each alone has, and what each writes; and samples of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/chain/leaf_encoder.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/plan/record_columns.hpp"
#include "cairn/plan/partition.hpp"
#include "cairn/store/leaf_text.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

/// The leaves that all ranks have.
[[nodiscard]] inline std::span<const leaf> common_leaves(const save_job& job) {
  return std::span(job.what.leaves).first(job.common_leaves);
}

/// Calls `act` with each entry of the structure that all ranks have.
template <class Act>
void for_each_common_entry(const save_job& job, const Act& act) {
  for (const auto& [path, entry] : job.what.structure)
    if (!job.own_structure.contains(path)) act(path, entry);
}

/// A hash of what all ranks must share: paths, types, shapes, which arrays are columns of the same records, structure.
[[nodiscard]] inline std::uint64_t hash_common_parts(const save_job& job) {
  running_checksum hash;
  const auto add = [&](const auto& values) { hash.add(std::as_bytes(std::span(values))); };
  const auto add_text = [&](std::string_view text) {
    add(text);
    add(std::string_view("", 1));
  };
  for (const auto& each : common_leaves(job)) {
    add_text(each.path);
    add_text(name(each.type));
    add(each.shape);
    add(std::array{each.common_dimensions});
  }
  for_each_common_entry(job, [&](const std::string& path, const structure_entry& entry) {
    const std::uint64_t numbers[] = {static_cast<std::uint64_t>(entry.what), entry.number, entry.keys.size()};
    add_text(path);
    add(numbers);
    add_text(entry.text);
    for (const auto& key : entry.keys) add_text(key);
  });
  return hash.value();
}

/// Moves the leaves that rank `rank` alone has to the end, keeps the order of both kinds, and sets the members of the
/// job that tell them apart. O(leaves * depth). errc::invalid: an object that all ranks have is also that of a rank
/// alone, which comes first: it would be saved there, by each rank elsewhere.
inline void separate_own(save_job& job, unsigned rank) {
  std::set<std::string, std::less<>> values;  // the paths of this rank's values of per-rank objects
  bool has_others = false;                    // other ranks have values, too
  for (const auto& [path, entry] : job.what.structure) {
    if (entry.what != structure_entry::kind::ranks) continue;
    values.insert(path + ".rank" + std::to_string(rank));
    has_others = has_others || entry.number > 1;
  }
  const auto is_own = [&](std::string_view path) {
    if (values.empty()) return false;
    for (auto end = path.find('.');; end = path.find('.', end + 1)) {
      if (values.contains(path.substr(0, end))) return true;
      if (end == path.npos) return false;
    }
  };
  for (const auto& [path, entry] : job.what.structure)
    if (has_others && entry.what == structure_entry::kind::same && is_own(entry.text) && !is_own(path))
      fail(errc::invalid, {path, " is the same object as ", entry.text,
                           ", the state of one rank alone, which comes first; put it before that in the state, so that "
                           "all ranks save it at one path"});
  // Not std::stable_partition: with libstdc++, clang warns of a deprecated function.
  std::vector<leaf> common, of_rank;
  for (auto& each : job.what.leaves) {
    const bool is_common = each.place == nullptr && !is_own(each.path);
    (is_common ? common : of_rank).push_back(std::move(each));
  }
  job.common_leaves = common.size();
  common.insert(common.end(), std::make_move_iterator(of_rank.begin()), std::make_move_iterator(of_rank.end()));
  job.what.leaves = std::move(common);
  for (const auto& entry : job.what.structure)
    if (is_own(entry.first)) job.own_structure.insert(entry);
  job.common_hash = hash_common_parts(job);
}

/// One text for each part of what all ranks must have in common, in a fixed order.
[[nodiscard]] inline std::vector<std::string> common_texts(const save_job& job) {
  std::vector<std::string> texts;
  for (const auto& each : common_leaves(job))
    texts.push_back(each.path + " " + std::string(name(each.type)) + to_string(each.shape) +
                    (each.common_dimensions > 0 ? " in records" : ""));
  for_each_common_entry(job, [&](const std::string& path, const structure_entry& entry) {
    texts.push_back(to_json(structure{{path, entry}}));
  });
  return texts;
}

/// Plans the pieces that each rank writes. The same at all ranks, as its inputs are.
class share_planner {
 public:
  /// Call it first. A rank of weight 0 writes nothing but its own state.
  void set_weights(std::span<const std::uint64_t> of_ranks) {
    ranks_.clear();
    for (const auto weight : of_ranks) ranks_.push_back({.weight = weight});
  }

  /// The plan of a save of what all ranks have, from the bytes that `saved` was given. With `repeats`, that of the last
  /// checkpoint, if it is of the same state. O(leaves + ranks).
  [[nodiscard]] std::shared_ptr<const plan::partition> plan_for(const save_job& job, bool repeats) {
    next_ = repeats && of_state_ == job.common_hash ? last_ : nullptr;
    if (!next_) next_ = std::make_shared<const plan::partition>(fresh_plan_for(job));
    return next_;
  }
  /// The plan that a save would have now that repeats none.
  [[nodiscard]] plan::partition fresh_plan_for(const save_job& job) const {
    return {sizes_of(job), ranks_, columns_of(common_leaves(job))};
  }

  /// The next plan repeats none.
  void forget() noexcept { last_.reset(); }

  /// The save of the last plan is published. The checkpoint has `bytes[i]` bytes of the i-th leaf that all ranks have,
  /// followed by the bytes that each rank has of its own state.
  void saved(const save_job& job, std::vector<std::uint64_t> bytes) {
    last_ = std::move(next_);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].other = bytes[job.common_leaves + rank];
    bytes.resize(job.common_leaves);
    stored_ = std::move(bytes);
    if (of_state_ == job.common_hash && paths_.size() == job.common_leaves) return;
    of_state_ = job.common_hash;
    paths_.clear();
    in_memory_.clear();
    for (const auto& each : common_leaves(job)) {
      paths_.push_back(each.path);
      in_memory_.push_back(each.bytes());
    }
  }

 private:
  /// The bytes that leaves will have in files: those of the save before; in proportion if a leaf has another size now.
  [[nodiscard]] std::vector<plan::leaf_size> sizes_of(const save_job& job) const {
    auto sizes = plan::sizes_of(common_leaves(job));
    if (stored_.empty()) return sizes;
    if (of_state_ == job.common_hash) {
      for (std::size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i].elements != 0) sizes[i].bytes = stored_[i];
      return sizes;
    }
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::size_t i = 0; i < paths_.size(); ++i) known.emplace(paths_[i], i);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto at = known.find(job.what.leaves[i].path);
      if (at == known.end() || in_memory_[at->second] == 0 || sizes[i].elements == 0) continue;
      constexpr std::uint64_t one = std::uint64_t{1} << 16U;  // whole numbers: the same at all ranks
      const auto ratio = stored_[at->second] * one / in_memory_[at->second];
      sizes[i].bytes = sizes[i].bytes / one * ratio + sizes[i].bytes % one * ratio / one;
    }
    return sizes;
  }

  std::vector<plan::rank_load> ranks_;
  // Of the last save, by leaf:
  std::vector<std::uint64_t> stored_, in_memory_;  // bytes
  std::vector<std::string> paths_;
  std::uint64_t of_state_ = 0;                          // hash
  std::shared_ptr<const plan::partition> last_, next_;  // of the last checkpoint, and of the running save
};

/// A hash that is the same at two ranks only if they describe the same state, have the same plan for it, and know of as
/// many `deltas` that are not merged; never 0 or 1.
[[nodiscard]] inline std::uint64_t agreement_hash(const save_job& job, const plan::partition& plan,
                                                  std::size_t deltas) {
  const auto inputs = plan.hash();
  const std::uint64_t hashes[] = {job.common_hash, inputs.high, inputs.low, deltas};
  return checksum(std::as_bytes(std::span(hashes))) | 2U;
}

/// What a rank writes: its pieces of the plan, and its own leaves.
[[nodiscard]] inline std::vector<piece> share_of(const save_job& job, const plan::partition& plan, std::size_t rank) {
  auto pieces = plan.pieces_of(rank);
  for (std::size_t own = job.common_leaves; own < job.what.leaves.size(); ++own)
    pieces.push_back({.leaf = own, .first = 0, .count = job.what.leaves[own].count()});
  return pieces;
}

/// Of the leaves' bytes in order, those from a point that is a hash of the step: 1/200 of them, at least 64 KiB, or
/// all. So any sequence of steps spreads over the leaves as random points do. O(leaves).
[[nodiscard]] inline std::vector<piece> sample_pieces(std::span<const leaf> leaves, std::uint64_t step) {
  constexpr std::uint64_t parts = 200, least = std::uint64_t{64} << 10U;
  const auto total = bytes_of(leaves);
  const auto bytes = std::min(std::max(total / parts, least), total);
  const auto hash = checksum(std::as_bytes(std::span(&step, 1)));
  const auto begin = total == 0 ? 0 : hash % total;
  const auto end = begin + bytes;
  std::vector<piece> pieces;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto size = leaves[i].bytes();
    const std::uint64_t width = size_of(leaves[i].type);
    const auto add = [&](std::uint64_t from, std::uint64_t to) {  // bytes of the sample, counted from the first leaf on
      from = std::max(from, at);
      to = std::min(to, at + size);
      if (from >= to) return;
      const auto first = (from - at) / width, last = (to - at + width - 1) / width;
      pieces.push_back({.leaf = i, .first = first, .count = last - first});
    };
    add(begin, end);
    if (end > total) add(0, std::min(end - total, begin));  // from the beginning again
    at += size;
  }
  return pieces;
}

/// A hash of each piece.
[[nodiscard]] inline std::vector<std::uint64_t> hashes_of(std::span<const leaf> leaves, std::span<const piece> pieces) {
  std::vector<std::uint64_t> hashes;
  page_buffer packed;
  for (const auto& each : pieces) hashes.push_back(checksum(packed_elements(leaves[each.leaf], each, packed)));
  return hashes;
}

/// Which ranks differ from most others, and where; empty if none does. Where no value is that of most, one rank with
/// each value. `samples[rank]`: the hashes of the pieces.
[[nodiscard]] inline std::string find_difference(std::span<const leaf> leaves, std::span<const piece> pieces,
                                                 std::span<const std::vector<std::uint64_t>> samples) {
  constexpr std::size_t most_paths = 4, most_ranks = 8;
  std::string text;
  std::size_t paths = 0, last_leaf = leaves.size();  // adjacent pieces may belong to one leaf, which is named once
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::map<std::uint64_t, std::size_t> ranks_with;  // by hash
    for (const auto& sample : samples) ++ranks_with[i < sample.size() ? sample[i] : 0];
    if (ranks_with.size() < 2 || std::exchange(last_leaf, pieces[i].leaf) == pieces[i].leaf) continue;
    if (paths++ == most_paths) return text + ", and more";
    const auto common = std::max_element(ranks_with.begin(), ranks_with.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const bool has_most = 2 * common->second > samples.size();
    text += (text.empty() ? "" : "; ") + leaves[pieces[i].leaf].path +
            (has_most ? " differs at rank" : " differs between ranks");
    std::size_t listed = 0;
    std::set<std::uint64_t> said;  // where no value is that of most
    for (std::size_t rank = 0; rank < samples.size(); ++rank) {
      const auto hash = i < samples[rank].size() ? samples[rank][i] : 0;
      if (has_most ? hash != common->first : said.insert(hash).second)
        if (listed++ < most_ranks) text.append(" ").append(std::to_string(rank));
    }
    if (listed > most_ranks) text += " and " + std::to_string(listed - most_ranks) + " more";
  }
  return text;
}

}  // namespace cairn::inline v0_1::detail
