// Definitions of matcher.hpp and walker.hpp for objects that are loaded at once: as a whole, or not at all.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "cairn/state/matcher.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

CAIRN_INLINE walk_purpose walker::purpose() const noexcept {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  if (!to) return walk_purpose::describe;
  return (*to)->is_applying() ? walk_purpose::apply : walk_purpose::check;
}

CAIRN_INLINE bool walker::is_in_copy() const noexcept {
  auto* const* to = std::get_if<matcher*>(&purpose_);
  return to && (*to)->is_in_copy();
}

CAIRN_INLINE void matcher::keep_whole(std::string_view path) {
  kept_whole_.insert(std::string(path));
  mark_used(path);
  const std::string inside = path.empty() ? "" : stored_path(path) + '.';
  std::size_t parts = 0, selected = 0;
  for (const auto& leaf : from_.leaves) {
    if (!leaf.path.starts_with(inside)) continue;
    ++parts;
    if (accepts(leaf.path)) ++selected;
  }
  if (selected > 0 && selected < parts)
    reject(std::string(path), "can only be loaded as a whole; let the filter select all of it, or nothing");
}

CAIRN_INLINE bool matcher::must_keep(std::string_view path) {
  if (!kept_whole_.contains(std::string(path))) return false;
  skip();
  return true;
}

CAIRN_INLINE void walker::keep_whole() { load().keep_whole(path_); }

CAIRN_INLINE bool walker::must_keep() { return load().must_keep(path_); }

}  // namespace cairn::detail
