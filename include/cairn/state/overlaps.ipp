// SPDX-License-Identifier: MIT
// Definitions of overlaps.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/strided.hpp"
#include "cairn/state/overlaps.hpp"

namespace cairn::inline v0_1::detail {

void overlap_search::begin_second() {
  step_ = step::second;
  kept_ = std::exchange(visited_, {});
  outer_.clear();
}

void overlap_search::begin_third() {
  step_ = step::third;
  visited_.clear();
  outer_.clear();
  std::sort(freed_.memory.begin(), freed_.memory.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::uintptr_t reach = 0;
  for (const auto& each : freed_.memory) {
    reach = std::max(reach, each.end);
    ranges_.push_back({each, reach});
    origins_.try_emplace(each.of, origin{{each.path}});
  }
  for (const auto& [of, destroyed] : freed_.parts) origins_.try_emplace(of, origin{{destroyed.path}});
}

bool overlap_search::is_on_the_way(const outer_owner& of) const {
  if (at_.lengths.size() < of.depth) return false;
  const std::size_t size = at_.lengths.size() == of.depth ? at_.path.size() : at_.lengths[of.depth];
  return size == of.path.size() && at_.path.starts_with(of.path);
}

const owner* overlap_search::destroyer() {
  while (!outer_.empty() && !is_on_the_way(outer_.back())) outer_.pop_back();
  for (auto each = outer_.rbegin(); each != outer_.rend(); ++each) {
    const auto parts = freed_.parts.find(each->of);
    if (parts == freed_.parts.end()) continue;
    if (parts->second.names.contains("")) return &each->of;
    if (at_.lengths.size() == each->depth) continue;  // the owner, or its content
    const std::size_t begin = each->path.empty() ? 0 : each->path.size() + 1;
    const std::size_t end = at_.lengths.size() == each->depth + 1 ? at_.path.size() : at_.lengths[each->depth + 1];
    if (parts->second.names.contains(std::string_view(at_.path).substr(begin, end - begin))) return &each->of;
  }
  return nullptr;
}

void overlap_search::note_owner(const void* object, const void* type, const void* content) {
  const owner now{object, type, content};
  const owner* const by = destroyer();
  if (by && step_ == step::second) destroyed_.try_emplace(now, *by);
  if (!by && step_ == step::third) search_owner(now);
  if (!freed_.parts.empty()) outer_.push_back({now, at_.lengths.size(), at_.path});
}

void overlap_search::search_owner(const owner& now) {
  if (const auto at = origins_.find(now); at != origins_.end()) at->second.names.push_back(at_.path);
  if (const auto at = destroyed_.find(now); at != destroyed_.end())
    report_unless_own(at->second, freed_.parts.at(at->second).path);
  const auto address = reinterpret_cast<std::uintptr_t>(now.object);
  search(address, address + 1);
}

void overlap_search::versioned(void* object, const version_operations& how) {
  if (how.migrate && at_.shape.empty()) note_owner(object, &how, nullptr);
  how.walk_parts(*this, object);
}

void overlap_search::add_memory(const void* begin, std::uint64_t bytes, const owner& of) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  freed_.memory.push_back({address, address + bytes, of, freed_.parts.at(of).path});
}

void overlap_search::copy(void* object, const copy_operations& how) {
  note_owner(object, &how, nullptr);
  if (step_ != step::second || !how.for_each_freed || !destroyer()) return;
  how.for_each_freed(object, nullptr, this, [](void* context, const void* memory, std::size_t bytes) {
    auto& self = *static_cast<overlap_search*>(context);
    self.add_memory(memory, bytes, *self.destroyer());
  });
}

shared_answer overlap_search::shared(const found_object& found, const std::shared_ptr<void>& object) {
  if (!object) return {};
  const std::pair<const void*, type_id> key(found.address, *found.type);
  const bool is_kept = step_ != step::second || kept_.contains(key);
  if ((is_kept && destroyer()) || !visited_.insert(key).second) return {};
  return {.what = presence::walk, .type = found.type};
}

void overlap_search::add(memory_view view, const device_copies* device) {
  if (step_ == step::first || device || !view.memory || view.bytes() == 0)
    return;  // a device's memory is not the host's
  const auto [first, last] = address_range(view);
  const auto begin = reinterpret_cast<std::uintptr_t>(first), end = reinterpret_cast<std::uintptr_t>(last);
  const owner* const by = destroyer();
  if (by && step_ == step::second) add_memory(first, end - begin, *by);
  if (!by && step_ == step::third) search(begin, end);
}

void overlap_search::search(std::uintptr_t begin, std::uintptr_t end) {
  auto at = std::lower_bound(ranges_.begin(), ranges_.end(), end,
                             [](const range& each, std::uintptr_t value) { return each.begin < value; });
  while (at != ranges_.begin() && (--at)->reach > begin)
    if (at->end > begin) report_unless_own(at->of, at->path);
}

void overlap_search::report_unless_own(const owner& of, const std::string& path) {
  origin& from = origins_.at(of);
  const bool is_own = std::any_of(from.names.begin(), from.names.end(), [&](const std::string& name) {
    return is_within(at_.path, name) || is_within(name, at_.path);
  });
  if (is_own || from.is_found) return;
  from.is_found = true;
  found_.push_back({path, std::string(this->path())});
}

}  // namespace cairn::inline v0_1::detail
