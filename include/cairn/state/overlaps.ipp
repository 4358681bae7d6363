// Definitions of overlaps.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include "cairn/core/strided.hpp"
#include "cairn/state/overlaps.hpp"

namespace cairn::detail {

CAIRN_INLINE overlap_search::overlap_search(walk_position& at, std::vector<freed_memory> memory) : walker(at) {
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

CAIRN_INLINE void overlap_search::visit(const void* object) {
  const auto [first, last] = of_container_.equal_range(object);
  for (auto at = first; at != last; ++at)
    if (auto& names = ranges_[at->second].names; names.size() == 1 || names.back() != at_.path)
      names.push_back(at_.path);
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  visit(at, at + 1);
}

CAIRN_INLINE std::set<std::pair<std::string, std::string>> overlap_search::aliases() const {
  std::set<std::pair<std::string, std::string>> all;
  for (const range& each : ranges_) {
    const std::string& freed = each.names.front();
    const std::set<std::string> names(each.names.begin() + 1, each.names.end());
    if (names.size() < 2) continue;
    // An object and its first member have one address, so several names may be nested. Names of the same depth, from the innermost one on,
    // are of the same object.
    std::vector<std::vector<std::string>> nested;  // innermost first
    std::size_t depth = 0;                         // of the container
    for (const auto& name : names) {
      const auto is_inside = [&](const std::string& other) { return other != name && is_within(other, name); };
      if (std::any_of(names.begin(), names.end(), is_inside)) continue;
      auto& chain = nested.emplace_back();
      std::copy_if(names.begin(), names.end(), std::back_inserter(chain),
                   [&](const std::string& outer) { return is_within(name, outer); });
      std::sort(chain.begin(), chain.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
      const auto at = std::find(chain.begin(), chain.end(), freed);
      if (at != chain.end()) depth = static_cast<std::size_t>(at - chain.begin());
    }
    const auto name_of = [&](const std::vector<std::string>& chain) {
      return chain[std::min(depth, chain.size() - 1)];
    };
    for (std::size_t i = 1; i < nested.size(); ++i) all.emplace(name_of(nested[0]), name_of(nested[i]));
  }
  return all;
}

CAIRN_INLINE void overlap_search::add(memory_view view, const device_copies* device) {
  if (device || view.bytes() == 0) return;  // a device's memory is not the host's
  const auto [begin, end] = address_range(view);
  visit(reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(end));
}

CAIRN_INLINE shared_answer overlap_search::shared(const found_object& found, const std::shared_ptr<void>& object) {
  if (!object || !shared_.emplace(found.address, *found.type).second) return {};
  return {presence::walk, found.type};
}

CAIRN_INLINE void overlap_search::visit(std::uintptr_t begin, std::uintptr_t end) {
  auto at = std::lower_bound(ranges_.begin(), ranges_.end(), end,
                             [](const range& each, std::uintptr_t value) { return each.begin < value; });
  while (at != ranges_.begin() && (--at)->reach > begin) {
    if (at->end <= begin || at->is_found) continue;
    const bool is_own = std::any_of(at->names.begin(), at->names.end(), [&](const std::string& name) {
      return is_within(at_.path, name) || is_within(name, at_.path);
    });
    if (is_own) continue;
    at->is_found = true;
    found_.push_back({at->path, std::string(path())});
  }
}

}  // namespace cairn::detail
