// Definitions of matcher.hpp: what the checkpoint has at a path.
#pragma once

#include <algorithm>

#include "cairn/state/matcher.hpp"

namespace cairn::detail {

CAIRN_INLINE const stored_leaf* matcher::stored(const std::string& path, std::uint64_t count) const {
  const std::string stored = stored_path(path);
  std::size_t index = from_.find(stored);
  if (index != catalog::npos) return &from_.leaves[index];
  const auto entry = from_.structure.find(stored);
  if (entry == from_.structure.end() || entry->second.what != structure_entry::kind::same) return nullptr;
  index = from_.find(entry->second.text);
  return index == catalog::npos || element_count(from_.leaves[index].shape) == count ? nullptr : &from_.leaves[index];
}

CAIRN_INLINE const structure_entry* matcher::find_entry(const std::string& path, structure_entry::kind kind) {
  const auto at = from_.structure.find(stored_path(path));
  if (at == from_.structure.end()) return nullptr;
  used_entries_.insert(&at->second);
  if (at->second.what == kind) return &at->second;
  reject(path, "is another kind of object in the checkpoint");
  return nullptr;
}

CAIRN_INLINE void matcher::probe_below(std::string_view path) {
  const std::string inside = path.empty() ? "" : stored_path(path) + '.';
  const auto at = std::ranges::lower_bound(from_.leaves, inside, {}, &stored_leaf::path);
  if (at == from_.leaves.end() || !at->path.starts_with(inside) || at->shape.empty() || *probe_) return;
  if (accepts(at->path)) *probe_ = at->shape.front();
}

CAIRN_INLINE bool matcher::is_stored(const std::string& path) const {
  const std::string stored = stored_path(path), inside = stored + '.';
  const auto leaf = std::ranges::lower_bound(from_.leaves, inside, {}, &stored_leaf::path);
  const auto entry = from_.structure.lower_bound(inside);
  return from_.find(stored) != catalog::npos || from_.structure.contains(stored) ||
         (leaf != from_.leaves.end() && leaf->path.starts_with(inside)) ||
         (entry != from_.structure.end() && entry->first.starts_with(inside));
}

CAIRN_INLINE bool matcher::is_selected(const std::string& path) const {
  if (!options_.filter) return true;
  const std::string stored = stored_path(path);
  if (options_.filter(stored)) return true;
  const std::string inside = stored + '.';
  auto at = std::ranges::lower_bound(from_.leaves, inside, {}, &stored_leaf::path);
  for (; at != from_.leaves.end() && at->path.starts_with(inside); ++at)
    if (options_.filter(at->path)) return true;
  return false;
}

}  // namespace cairn::detail
