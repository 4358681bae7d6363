// SPDX-License-Identifier: MIT
// The parts of a state that one rank of a group alone has: its per-rank state, and its boxes of larger arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chain/attempt.hpp"
#include "cairn/core/checksum.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/leaf.hpp"
#include "cairn/core/catalog.hpp"
#include "cairn/store/index.hpp"

namespace cairn::inline v0_1::detail {

/// Whether a path is, or is below, that of the value of rank `rank` of some per-rank object.
class own_paths {
 public:
  own_paths(const structure& all, unsigned rank) {
    for (const auto& [path, entry] : all) {
      if (entry.what != structure_entry::kind::ranks) continue;
      values_.insert(path + ".rank" + std::to_string(rank));
      has_others_ = has_others_ || entry.number > 1;
    }
  }

  /// Whether other ranks have values, too.
  [[nodiscard]] bool has_others() const noexcept { return has_others_; }

  [[nodiscard]] bool contains(std::string_view path) const {
    if (values_.empty()) return false;
    if (values_.contains(path)) return true;
    for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
      if (values_.contains(path.substr(0, dot))) return true;
    return false;
  }

 private:
  std::set<std::string, std::less<>> values_;
  bool has_others_ = false;
};

/// errc::invalid: an object that all ranks have is also that of a rank alone, which comes first: it would be saved
/// there, by each rank elsewhere.
inline void require_common_first(const structure& all, const own_paths& own) {
  if (!own.has_others()) return;
  for (const auto& [path, entry] : all)
    if (entry.what == structure_entry::kind::same && own.contains(entry.text) && !own.contains(path))
      fail(errc::invalid, {path, " is the same object as ", entry.text,
                           ", the state of one rank alone, which comes first; put it before that in the state, so that "
                           "all ranks save it at one path"});
}

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
/// job that tell them apart. O(leaves * depth). errc::invalid: see require_common_first.
inline void separate_own(save_job& job, unsigned rank) {
  const own_paths own(job.what.structure, rank);
  require_common_first(job.what.structure, own);
  // Not std::stable_partition: with libstdc++, clang warns of a deprecated function.
  std::vector<leaf> common, of_rank;
  for (auto& each : job.what.leaves) {
    const bool is_common = each.place == nullptr && !own.contains(each.path);
    (is_common ? common : of_rank).push_back(std::move(each));
  }
  job.common_leaves = common.size();
  common.insert(common.end(), std::make_move_iterator(of_rank.begin()), std::make_move_iterator(of_rank.end()));
  job.what.leaves = std::move(common);
  for (const auto& entry : job.what.structure)
    if (own.contains(entry.first)) job.own_structure.insert(entry);
  job.common_hash = hash_common_parts(job);
}

/// One text for each part of what all ranks must have in common, in a fixed order.
[[nodiscard]] inline std::vector<std::string> common_texts(const save_job& job) {
  std::vector<std::string> texts;
  for (const auto& each : common_leaves(job))
    texts.push_back(each.path + " " + std::string(name(each.type)) + to_string(each.shape) +
                    (each.common_dimensions > 0 ? " in records" : ""));
  for_each_common_entry(job, [&](const std::string& path, const structure_entry& entry) {
    texts.push_back(write_structure({{path, entry}}));
  });
  return texts;
}

}  // namespace cairn::inline v0_1::detail
