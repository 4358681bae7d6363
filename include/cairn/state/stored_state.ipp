// SPDX-License-Identifier: MIT
// Definitions of stored_state.hpp.
#pragma once

#include <algorithm>
#include <functional>
#include <set>

#include "cairn/state/stored_state.hpp"

namespace cairn::inline v0_1::detail {

std::string stored_state::stored_path(std::string_view path) const {
  if (redirects_.empty()) return options_.rename ? options_.rename(path) : std::string(path);
  const std::string other = redirected(path);
  return options_.rename ? options_.rename(other) : other;
}

std::string stored_state::redirected(std::string_view path) const {
  for (auto outer = path; !outer.empty(); outer = outer_path(outer))
    if (const auto at = redirects_.find(outer); at != redirects_.end())
      return at->second + std::string(path.substr(outer.size()));
  return std::string(path);
}

void stored_state::redirect(std::string_view path, std::string_view other) {
  if (!redirects_.contains(path)) redirects_.emplace(path, redirected(other));
}

const structure_entry* stored_state::redirect_to_owner(std::string_view path, const std::string& stored) {
  const auto owner = from_.structure.find(stored);
  if (options_.rename || owner == from_.structure.end() || used_entries_.contains(&owner->second)) return nullptr;
  redirects_.insert_or_assign(std::string(path), stored);
  return selects(path) ? &owner->second : nullptr;
}

void stored_state::redirect_content(std::string_view path) {
  if (const auto at = content_paths_.find(path); at != content_paths_.end())
    redirects_.try_emplace(std::string(path) + ".value", at->second);
}

std::string_view stored_state::find_holder(std::string_view path) const {
  using enum structure_entry::kind;
  if (!from_.has_structure) return {};
  for (auto outer = path; !outer.empty(); outer = outer_path(outer)) {
    const auto* const entry = find_entry(outer);
    if (!entry || used_entries_.contains(entry)) continue;
    if (entry->what == size || entry->what == rows || (entry->what == engaged && entry->number == 0) ||
        is_same_object(outer))
      return outer;
  }
  return {};
}

std::string_view stored_state::find_array(std::string_view path) const {
  for (auto outer = outer_path(path); !outer.empty(); outer = outer_path(outer))
    if (const std::size_t leaf = from_.find(stored_path(outer)); leaf != catalog::npos && !used_leaves_[leaf])
      return outer;
  return {};
}

bool stored_state::is_same_object(std::string_view path) const {
  const auto* const entry = find_entry(path);
  return entry && entry->what == structure_entry::kind::same && find_leaf(stored_path(path)) == catalog::npos;
}

std::span<const stored_leaf> stored_state::leaves_below(std::string_view stored) const {
  const auto first_from = [&](char after) {
    return std::ranges::lower_bound(from_.leaves, std::string(stored) + after, {}, &stored_leaf::path);
  };
  return {first_from('.'), first_from('.' + 1)};
}

std::span<const stored_leaf> stored_state::leaves_in(std::string_view path) const {
  return path.empty() ? std::span<const stored_leaf>(from_.leaves) : leaves_below(stored_path(path));
}

auto stored_state::entries_below(std::string_view stored) const -> entry_range {
  const auto first_from = [&](char after) { return from_.structure.lower_bound(std::string(stored) + after); };
  return {first_from('.'), first_from('.' + 1)};
}

bool stored_state::has_used_leaf(std::string_view stored) const {
  const std::size_t index = from_.find(stored);
  return (index != catalog::npos && used_leaves_[index]) ||
         std::ranges::any_of(leaves_below(stored), [&](const stored_leaf& each) { return is_used(each); });
}

bool stored_state::selects(std::string_view path) const {
  if (!options_.filter) return true;
  const std::string stored = stored_path(path);
  return options_.filter(stored) || std::ranges::any_of(leaves_below(stored), options_.filter, &stored_leaf::path);
}

bool stored_state::selects_some(std::string_view path) const {
  const auto parts = leaves_in(path);
  const auto selected = std::ranges::count_if(parts, [&](const stored_leaf& each) { return accepts(each.path); });
  return selected > 0 && static_cast<std::size_t>(selected) < parts.size();
}

std::size_t stored_state::find_leaf(std::string_view stored) const {
  const std::size_t index = from_.find(stored);
  if (index != catalog::npos) return index;
  const auto entry = from_.structure.find(stored);
  if (entry == from_.structure.end() || entry->second.what != structure_entry::kind::same) return catalog::npos;
  return from_.find(entry->second.text);
}

const structure_entry* stored_state::find_entry(std::string_view path) const {
  const auto at = from_.structure.find(stored_path(path));
  return at == from_.structure.end() ? nullptr : &at->second;
}

const stored_leaf* stored_state::leaf(std::string_view path, std::uint64_t count) const {
  const std::string stored = stored_path(path);
  const std::size_t index = find_leaf(stored);
  if (index == catalog::npos) return nullptr;
  const stored_leaf& found = from_.leaves[index];
  return found.path != stored && element_count(found.shape) == count ? nullptr : &found;
}

const stored_leaf* stored_state::first_below(std::string_view path) const {
  const auto parts = leaves_in(path);
  const auto found = std::ranges::find_if(parts, [&](const stored_leaf& each) { return accepts(each.path); });
  return found == parts.end() ? nullptr : &*found;
}

bool stored_state::is_stored(std::string_view path) const {
  const std::string stored = stored_path(path);
  return from_.find(stored) != catalog::npos || from_.structure.contains(stored) || !leaves_below(stored).empty() ||
         !entries_below(stored).empty();
}

bool stored_state::conflict(std::string_view path, std::string_view other) const {
  if (!is_stored(path) || !is_stored(other)) return false;
  const std::string a = stored_path(path), b = stored_path(other);
  return !has_all_of(a, b) || !has_all_of(b, a);
}

bool stored_state::has_all_of(const std::string& stored, const std::string& other) const {
  const auto in_other = [&](const std::string& at) { return other + at.substr(stored.size()); };
  const auto is_left_out = [&](const std::string& at) { return !accepts(at) || !accepts(in_other(at)); };
  const auto has_leaf = [&](std::size_t index, const std::string& at) {
    if (is_left_out(at)) return true;
    const std::size_t twin = find_leaf(in_other(at));
    if (twin == catalog::npos || twin == index) return twin == index;
    const stored_leaf &one = from_.leaves[index], &two = from_.leaves[twin];
    if (one.type != two.type || one.shape != two.shape) return false;
    std::vector<std::byte> left(one.bytes()), right(two.bytes());
    from_.fetch(index, left);
    from_.fetch(twin, right);
    return left == right;
  };
  const auto has_entry = [&](const std::string& at, const structure_entry& entry) {
    if (is_left_out(at)) return true;
    if (entry.what == structure_entry::kind::same)
      if (const std::size_t index = find_leaf(at); index != catalog::npos) return has_leaf(index, at);
    const auto twin = from_.structure.find(in_other(at));
    const bool is_holder = (entry.what == structure_entry::kind::engaged && entry.number == 1) ||
                           entry.what == structure_entry::kind::type || entry.what == structure_entry::kind::index;
    if (twin == from_.structure.end()) return at == stored && is_holder;  // the other path is that of its content
    return twin->second == entry || twin->second.what == structure_entry::kind::same ||
           entry.what == structure_entry::kind::same;
  };
  if (const std::size_t index = from_.find(stored); index != catalog::npos && !has_leaf(index, stored)) return false;
  if (const auto entry = from_.structure.find(stored);
      entry != from_.structure.end() && !has_entry(stored, entry->second))
    return false;
  return std::ranges::all_of(leaves_below(stored),
                             [&](const stored_leaf& each) { return has_leaf(index_of(each), each.path); }) &&
         std::ranges::all_of(entries_below(stored),
                             [&](const auto& each) { return has_entry(each.first, each.second); });
}

std::uint64_t stored_state::bytes() {
  if (!bytes_) {
    bytes_ = 0;
    for (const auto& leaf : from_.leaves) *bytes_ += leaf.bytes();
  }
  return *bytes_;
}

std::size_t stored_state::use_leaf(std::string_view stored) {
  const std::size_t index = find_leaf(stored);
  if (index != catalog::npos) {
    is_repeated_ = is_repeated_ || used_leaves_[index];
    used_leaves_[index] = true;
  }
  if (index != catalog::npos && from_.leaves[index].path == stored) return index;
  const auto entry = from_.structure.find(stored);
  if (entry != from_.structure.end() && entry->second.what == structure_entry::kind::same) use_entry(entry->second);
  return index;
}

void stored_state::use_all(std::string_view path) {
  for (const stored_leaf& each : leaves_in(path)) used_leaves_[index_of(each)] = true;
  if (path.empty()) {
    for (const auto& [name, entry] : from_.structure) use_entry(entry);
    return;
  }
  const std::string stored = stored_path(path);
  if (const std::size_t index = from_.find(stored); index != catalog::npos) used_leaves_[index] = true;
  if (const auto entry = from_.structure.find(stored); entry != from_.structure.end()) use_entry(entry->second);
  for (const auto& [name, entry] : entries_below(stored)) use_entry(entry);
}

bool stored_state::has_used_part(std::string_view stored) const {
  const auto entry = from_.structure.find(stored);
  return has_used_leaf(stored) || (entry != from_.structure.end() && used_entries_.contains(&entry->second)) ||
         std::ranges::any_of(entries_below(stored),
                             [&](const auto& each) { return used_entries_.contains(&each.second); });
}

std::vector<std::string> stored_state::unexpected() const {
  using enum structure_entry::kind;
  std::vector<std::string> all;
  std::set<std::string, std::less<>> unused_objects;
  const auto is_part = [&](std::string_view path) {
    for (auto outer = outer_path(path); !outer.empty(); outer = outer_path(outer))
      if (unused_objects.contains(outer)) return true;
    return false;
  };
  for (const auto& [path, entry] : from_.structure) {
    if (used_entries_.contains(&entry) || !accepts(path)) continue;
    const bool holds_used = entry.what == engaged && entry.number == 1 && has_used_leaf(path);
    if (holds_used) continue;
    const std::string_view outer = entry.what == version || entry.what == names ? outer_path(path) : std::string_view();
    const std::string_view object = outer.empty() ? path : outer;  // of which the entry tells something
    if (is_part(object)) continue;
    const bool is_unused = !has_used_part(object);
    if (is_unused) unused_objects.emplace(object);
    all.emplace_back(is_unused ? object : std::string_view(path));
  }
  for (const stored_leaf& each : from_.leaves)
    if (!is_used(each) && accepts(each.path)) all.push_back(each.path);
  std::erase_if(all, is_part);
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

}  // namespace cairn::inline v0_1::detail
