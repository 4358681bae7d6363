// Definitions of stored_state.hpp.
#pragma once

#include <algorithm>

#include "cairn/state/overlaps.hpp"
#include "cairn/state/stored_state.hpp"

namespace cairn::detail {

CAIRN_INLINE std::string stored_state::stored_path(std::string_view path) const {
  if (moves_.empty()) return options_.rename ? options_.rename(path) : std::string(path);
  const std::string other = moved(path);
  return options_.rename ? options_.rename(other) : other;
}

CAIRN_INLINE std::string stored_state::moved(std::string_view path) const {
  for (auto outer = path; !outer.empty(); outer = outer_path(outer))
    if (const auto at = moves_.find(outer); at != moves_.end())
      return at->second + std::string(path.substr(outer.size()));
  return std::string(path);
}

CAIRN_INLINE void stored_state::move(std::string_view path, std::string_view other) {
  if (!moves_.contains(path)) moves_.emplace(path, moved(other));
}

CAIRN_INLINE void stored_state::move_content(std::string_view path) {
  if (const auto at = contents_.find(path); at != contents_.end())
    moves_.try_emplace(std::string(path) + ".value", at->second);
}

CAIRN_INLINE std::string_view stored_state::find_holder(std::string_view path) const {
  using enum structure_entry::kind;
  if (!from_.has_structure) return {};
  for (auto outer = path; !outer.empty(); outer = outer_path(outer)) {
    const auto* const entry = find_entry(outer);
    if (entry && !used_entries_.contains(entry) &&
        (entry->what == size || (entry->what == engaged && entry->number == 0)))
      return outer;
  }
  return {};
}

CAIRN_INLINE bool stored_state::unwrap(std::string_view path) {
  const auto outer = find_holder(path);
  if (outer.empty()) return false;
  const auto* const entry = find_entry(outer);
  if (entry->what != structure_entry::kind::size || entry->number != 1) return false;
  use_entry(*entry);
  move(outer, std::string(outer) + ".0");
  return true;
}

CAIRN_INLINE bool stored_state::has_used_leaf(std::string_view stored) const {
  auto leaf = std::ranges::lower_bound(from_.leaves, stored, {}, &stored_leaf::path);
  for (; leaf != from_.leaves.end() && leaf->path.starts_with(stored); ++leaf)
    if (is_within(leaf->path, stored) && used_leaves_[static_cast<std::size_t>(leaf - from_.leaves.begin())])
      return true;
  return false;
}

CAIRN_INLINE bool stored_state::selects(std::string_view path) const {
  if (!options_.filter) return true;
  const std::string stored = stored_path(path);
  if (options_.filter(stored)) return true;
  const std::string inside = stored + '.';
  auto at = std::ranges::lower_bound(from_.leaves, inside, {}, &stored_leaf::path);
  for (; at != from_.leaves.end() && at->path.starts_with(inside); ++at)
    if (options_.filter(at->path)) return true;
  return false;
}

CAIRN_INLINE bool stored_state::selects_some(std::string_view path) const {
  const std::string inside = path.empty() ? "" : stored_path(path) + '.';
  std::size_t parts = 0, selected = 0;
  for (const auto& leaf : from_.leaves) {
    if (!leaf.path.starts_with(inside)) continue;
    ++parts;
    if (accepts(leaf.path)) ++selected;
  }
  return selected > 0 && selected < parts;
}

CAIRN_INLINE std::size_t stored_state::find_leaf(std::string_view stored) const {
  const std::size_t index = from_.find(stored);
  if (index != catalog::npos) return index;
  const auto entry = from_.structure.find(stored);
  if (entry == from_.structure.end() || entry->second.what != structure_entry::kind::same) return catalog::npos;
  return from_.find(entry->second.text);
}

CAIRN_INLINE const structure_entry* stored_state::find_entry(std::string_view path) const {
  const auto at = from_.structure.find(stored_path(path));
  return at == from_.structure.end() ? nullptr : &at->second;
}

CAIRN_INLINE const stored_leaf* stored_state::leaf(std::string_view path, std::uint64_t count) const {
  const std::string stored = stored_path(path);
  const std::size_t index = find_leaf(stored);
  if (index == catalog::npos) return nullptr;
  const stored_leaf& found = from_.leaves[index];
  return found.path != stored && element_count(found.shape) == count ? nullptr : &found;
}

CAIRN_INLINE const stored_leaf* stored_state::first_below(std::string_view path) const {
  const std::string inside = path.empty() ? "" : stored_path(path) + '.';
  auto at = std::ranges::lower_bound(from_.leaves, inside, {}, &stored_leaf::path);
  for (; at != from_.leaves.end() && at->path.starts_with(inside); ++at)
    if (!at->shape.empty() && accepts(at->path)) return &*at;
  return nullptr;
}

CAIRN_INLINE bool stored_state::is_stored(std::string_view path) const {
  const std::string stored = stored_path(path), inside = stored + '.';
  const auto leaf = std::ranges::lower_bound(from_.leaves, inside, {}, &stored_leaf::path);
  const auto entry = from_.structure.lower_bound(inside);
  return from_.find(stored) != catalog::npos || from_.structure.contains(stored) ||
         (leaf != from_.leaves.end() && leaf->path.starts_with(inside)) ||
         (entry != from_.structure.end() && entry->first.starts_with(inside));
}

CAIRN_INLINE std::uint64_t stored_state::bytes() {
  if (!bytes_) {
    bytes_ = 0;
    for (const auto& leaf : from_.leaves) *bytes_ += leaf.bytes();
  }
  return *bytes_;
}

CAIRN_INLINE std::size_t stored_state::use_leaf(std::string_view stored) {
  const std::size_t index = find_leaf(stored);
  if (index != catalog::npos) used_leaves_[index] = true;
  if (index != catalog::npos && from_.leaves[index].path == stored) return index;
  const auto entry = from_.structure.find(stored);
  if (entry != from_.structure.end() && entry->second.what == structure_entry::kind::same) use_entry(entry->second);
  return index;
}

CAIRN_INLINE void stored_state::use_all(std::string_view path) {
  const std::string at = path.empty() ? "" : stored_path(path);
  auto leaf = std::ranges::lower_bound(from_.leaves, at, {}, &stored_leaf::path);
  for (; leaf != from_.leaves.end() && leaf->path.starts_with(at); ++leaf)
    if (is_within(leaf->path, at)) used_leaves_[static_cast<std::size_t>(leaf - from_.leaves.begin())] = true;
  auto entry = from_.structure.lower_bound(at);
  for (; entry != from_.structure.end() && entry->first.starts_with(at); ++entry)
    if (is_within(entry->first, at)) used_entries_.insert(&entry->second);
}

CAIRN_INLINE std::vector<std::string> stored_state::unexpected() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < used_leaves_.size(); ++i)
    if (!used_leaves_[i] && accepts(from_.leaves[i].path)) all.push_back(from_.leaves[i].path);
  for (const auto& [path, entry] : from_.structure) {
    const bool holds_used = entry.what == structure_entry::kind::engaged && entry.number == 1 && has_used_leaf(path);
    if (!holds_used && !used_entries_.contains(&entry) && accepts(path)) all.push_back(path);
  }
  return all;
}

}  // namespace cairn::detail
