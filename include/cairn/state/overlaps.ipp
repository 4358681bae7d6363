// Definitions of overlaps.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/state/overlaps.hpp"

namespace cairn::detail {

CAIRN_INLINE overlap_search::overlap_search(std::vector<freed_memory> memory) {
  std::sort(memory.begin(), memory.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::uintptr_t reach = 0;
  for (auto& each : memory) {
    reach = std::max(reach, each.end);
    range added;
    static_cast<freed_memory&>(added) = std::move(each);
    added.reach = reach;
    added.names.push_back(added.path);
    of_container_.emplace(added.container, ranges_.size());
    ranges_.push_back(std::move(added));
  }
}

CAIRN_INLINE void overlap_search::visit_object(const std::string& path, const void* object) {
  const auto [first, last] = of_container_.equal_range(object);
  for (auto at = first; at != last; ++at)
    if (auto& names = ranges_[at->second].names; names.back() != path) names.push_back(path);
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  visit(path, at, at + 1);
}

CAIRN_INLINE void overlap_search::visit_array(const std::string& path, const memory_view& view) {
  if (view.bytes() == 0) return;
  auto begin = reinterpret_cast<std::uintptr_t>(view.memory);
  auto end = begin + size_of(view.type);
  if (view.contiguous()) {
    end = begin + view.bytes();
  } else {
    for (std::size_t d = 0; d < view.strides.size(); ++d) {
      const auto last = view.strides[d] * static_cast<std::int64_t>(view.shape[d] - 1);
      (last < 0 ? begin : end) += static_cast<std::uintptr_t>(last);
    }
  }
  visit(path, begin, end);
}

CAIRN_INLINE void overlap_search::visit(const std::string& path, std::uintptr_t begin, std::uintptr_t end) {
  auto at = std::lower_bound(ranges_.begin(), ranges_.end(), end,
                             [](const range& each, std::uintptr_t value) { return each.begin < value; });
  while (at != ranges_.begin() && (--at)->reach > begin) {
    if (at->end <= begin || at->is_found) continue;
    const bool is_own = std::any_of(at->names.begin(), at->names.end(), [&](const std::string& name) {
      return is_within(path, name) || is_within(name, path);
    });
    if (is_own) continue;
    at->is_found = true;
    found_.push_back({at->path, path});
  }
}

}  // namespace cairn::detail
