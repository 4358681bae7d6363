// SPDX-License-Identifier: MIT
// Definitions of shared_objects.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/shared_objects.hpp"

namespace cairn::inline v0_1::detail {

std::string_view shared_objects::begin(const std::string& path, const found_object& found, std::shared_ptr<void> object,
                                       std::size_t leaves) {
  const auto [at, first] = objects_.try_emplace(static_cast<const std::byte*>(found.address));
  if (!first && *at->second.type != *found.type) fail_overlap(path, at->second.path);
  if (!first) return at->second.path;
  at->second = {.path = path,
                .type = found.type,
                .first_visit = visits_.size(),
                .first_leaf = leaves,
                .object = std::move(object)};
  open_.push_back(&at->second);
  return {};
}

void shared_objects::end(std::size_t leaves) {
  open_.back()->last_visit = visits_.size();
  open_.back()->last_leaf = leaves;
  open_.pop_back();
}

std::string shared_objects::path_of(const visited& part) const {
  if (part.path_size == 0) return "value";
  const std::string_view inside = part.first_path < paths_.size() ? paths_[part.first_path] : std::string_view();
  return std::string(inside.substr(0, part.path_size));
}

void shared_objects::fail_overlap(const std::string& path, std::string_view other) {
  fail(errc::invalid,
       {"the object behind the shared pointer ", path, " is also at ", other,
        " or a part of it, which a load could not share again; leave one of them out of the state, or point to the "
        "whole object"});
}

/// Whether an element of the strided view, of the dimensions from `d` on, begins in [begin, end).
inline bool has_element_in(const memory_view& view, std::size_t d, const std::byte* at, const std::byte* begin,
                           const std::byte* end) {
  if (d == view.shape.size()) return begin <= at && at < end;
  for (std::uint64_t i = 0; i < view.shape[d]; ++i, at += view.strides[d])
    if (has_element_in(view, d + 1, at, begin, end)) return true;
  return false;
}

void shared_objects::refuse_overlaps(const std::vector<leaf>& leaves) const {
  const shared* before = nullptr;
  const std::byte* end = nullptr;
  for (const auto& [address, object] : objects_) {
    if (before && address < end) fail_overlap(object.path, before->path);
    before = &object;
    end = address + object.type->size;
  }
  if (objects_.empty()) return;
  for (std::size_t i = 0; i < visits_.size(); ++i) {
    const auto* const address = static_cast<const std::byte*>(visits_[i].object);
    const auto behind = objects_.upper_bound(address);
    if (behind == objects_.begin()) continue;
    const auto& [first, object] = *std::prev(behind);
    const bool inside = object.first_visit <= i && i < object.last_visit;
    if (address < first + object.type->size && !inside) fail_overlap(object.path, path_of(visits_[i]));
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const leaf& each = leaves[i];
    if (each.owner || each.bytes() == 0) continue;
    // A view of memory in a shared object is not a part of it, so only an array around the object is refused.
    const auto [lowest, highest] = address_range(each);
    for (auto at = objects_.lower_bound(lowest); at != objects_.end() && at->first < highest; ++at) {
      const auto& [first, object] = *at;
      const std::byte* const last = first + object.type->size;
      const bool inside = object.first_leaf <= i && i < object.last_leaf;
      const bool around = last <= highest && (lowest < first || last < highest);
      if (!inside && around && (each.contiguous() || has_element_in(each, 0, each.memory, first, last)))
        fail_overlap(object.path, each.path);
    }
  }
}

}  // namespace cairn::inline v0_1::detail
