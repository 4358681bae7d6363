// Definitions of overlaps.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/strided.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/stored_state.hpp"

namespace cairn::detail {

CAIRN_INLINE void overlap_search::begin_search() {
  is_searching_ = true;
  shared_.clear();
  std::sort(freed_.memory.begin(), freed_.memory.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::uintptr_t reach = 0;
  for (const auto& each : freed_.memory) {
    reach = std::max(reach, each.end);
    ranges_.push_back({each, reach});
    origins_.try_emplace(each.of, origin{{each.path}});
  }
  for (const auto& [path, part] : freed_.parts) origins_.try_emplace(part.of, origin{{part.path}});
}

CAIRN_INLINE const freed_part* overlap_search::destroyed() const {
  for (std::string_view path = at_.path;; path = outer_path(path)) {
    if (const auto at = freed_.parts.find(path); at != freed_.parts.end()) return &at->second;
    if (path.empty()) return nullptr;
  }
}

CAIRN_INLINE void overlap_search::note_owner(const void* object, const void* type) {
  const owner now{object, type};
  if (!is_searching_) {
    if (const auto* const part = destroyed(); part && part->of != now) destroyed_.try_emplace(now, part->of);
    return;
  }
  if (const auto at = origins_.find(now); at != origins_.end()) at->second.names.push_back(at_.path);
  if (const auto at = destroyed_.find(now); at != destroyed_.end()) check(at->second);
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  search(address, address + 1);
}

CAIRN_INLINE void overlap_search::versioned(void* object, const version_operations& how) {
  if (how.migrate && at_.shape.empty()) note_owner(object, &how);
  how.walk_parts(*this, object);
}

CAIRN_INLINE void overlap_search::copy(void* object, const copy_operations& how) {
  note_owner(object, &how);
  if (is_searching_ || !how.for_each_freed || !destroyed()) return;
  how.for_each_freed(object, nullptr, this, [](void* context, const void* memory, std::size_t bytes) {
    auto& self = *static_cast<overlap_search*>(context);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const freed_part& part = *self.destroyed();
    self.freed_.memory.push_back({begin, begin + bytes, part.of, part.path});
  });
}

CAIRN_INLINE shared_answer overlap_search::shared(const found_object& found, const std::shared_ptr<void>& object) {
  if (!object || !shared_.emplace(found.address, *found.type).second) return {};
  return {presence::walk, found.type};
}

CAIRN_INLINE void overlap_search::add(memory_view view, const device_copies* device) {
  if (device || !view.memory || view.bytes() == 0) return;  // a device's memory is not the host's
  const auto [first, last] = address_range(view);
  const auto begin = reinterpret_cast<std::uintptr_t>(first), end = reinterpret_cast<std::uintptr_t>(last);
  if (is_searching_) return search(begin, end);
  if (const auto* const part = destroyed()) freed_.memory.push_back({begin, end, part->of, part->path});
}

CAIRN_INLINE void overlap_search::search(std::uintptr_t begin, std::uintptr_t end) {
  auto at = std::lower_bound(ranges_.begin(), ranges_.end(), end,
                             [](const range& each, std::uintptr_t value) { return each.begin < value; });
  while (at != ranges_.begin() && (--at)->reach > begin)
    if (at->end > begin) check(at->of);
}

CAIRN_INLINE void overlap_search::check(const owner& of) {
  origin& from = origins_.at(of);
  const bool is_own = std::any_of(from.names.begin(), from.names.end(), [&](const std::string& name) {
    return is_within(at_.path, name) || is_within(name, at_.path);
  });
  if (is_own || from.is_found) return;
  from.is_found = true;
  found_.push_back({from.names.front(), std::string(path())});
}

}  // namespace cairn::detail
