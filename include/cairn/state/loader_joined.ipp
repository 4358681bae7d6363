// SPDX-License-Identifier: MIT
// Definitions of loader.hpp for joined objects.
#pragma once

#include <algorithm>

#include "cairn/state/joined_load.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_sequence.hpp"

namespace cairn::inline v0_1::detail {

const structure_entry* loader::find_rows() {
  const structure_entry* found = stored_.find_entry(path());
  if (found && found->what == structure_entry::kind::engaged && !at_.path.empty())
    found = find_other_form(structure_entry::kind::rows, found);
  if (!found || found->what != structure_entry::kind::rows) return nullptr;
  stored_.use_entry(*found);
  return found;
}

std::optional<joined_columns> loader::match_joined(std::uint64_t count,
                                                   const std::function<void(column_matcher&)>& walk_object) {
  if (stored_.selects_some(at_.path)) {
    reject("can only be loaded as a whole; let the filter select all of it, or nothing");
    return std::nullopt;
  }
  const std::string at = stored_.stored_path(path());
  if (stored_.options().filter && !stored_.first_below(at_.path) &&
      !(stored_.accepts(at) && stored_.find_leaf(at) != catalog::npos)) {
    ++left_out_;
    return std::nullopt;
  }
  column_matcher matcher(at_, *this, count);
  return matcher.match(walk_object);
}

void loader::fill_joined(column_splitter& splitter, std::span<void* const> objects, const object_operations& how,
                         const joined_container& of) {
  const bool fills = purpose() == purpose::apply;
  if (fills && kept_sizes_.contains(at_.path)) splitter.keep_sizes();
  std::shared_ptr<void> trial;
  const auto walk_objects = [&] {
    for (std::size_t row = 0; row < objects.size(); ++row) {
      if (!objects[row] && !splitter.needs_trial()) continue;
      if (!objects[row] && !trial) trial.reset(how.make(), how.destroy);
      splitter.object(row, objects[row] ? objects[row] : trial.get(), how.walk, !objects[row]);
    }
  };
  of.inside.empty() ? walk_objects() : with_name(of.inside, walk_objects);
  if (fills) return;
  if (!of.resizes && !splitter.differs()) {
    kept_sizes_.insert(at_.path);
  } else if (!of.before.empty()) {
    if (!of.resizes) static_cast<void>(note_resize(of.before.size(), of.before.size(), 0));
    note_owner(of.object, of.type);
    for (void* const each : of.before) note_destroyed(each, how.walk);
  }
}

bool loader::joined(void* sequence, std::uint64_t size, const size_limits& limits, const sequence_operations& how) {
  const structure_entry* const stored = find_rows();
  if (!stored) return false;
  const std::uint64_t count = stored->number;
  std::vector<void*> objects;
  for_each_element(sequence, how, [&](void* element) { objects.push_back(element); });
  auto columns = match_joined(
      count, [&](column_matcher& matcher) { matcher.object(size > 0 ? objects.front() : nullptr, how.element); });
  if (!columns) return true;
  const bool resizes = size != count;
  if (resizes) static_cast<void>(note_resize(size, count, how.width));
  if (resizes && !admits(limits, count)) return true;
  const bool fills = purpose() == purpose::apply;
  if (fills && prototypes_ > 0) return true;
  column_splitter splitter(at_, *this, std::move(*columns), fills);
  if (resizes && !fills)
    for (std::uint64_t i = how.elements_move ? 0 : count; i < size; ++i) note_freed(objects[i], how.width);
  if (resizes && fills) {
    how.resize(sequence, count);
    objects.clear();
    for_each_element(sequence, how, [&](void* element) { objects.push_back(element); });
  }
  objects.resize(std::max(size, count));  // null: the load will make it
  const std::span<void* const> all = objects;
  fill_joined(splitter, all.first(count), how.element, {sequence, &how, all.first(size), resizes, {}});
  return true;
}

}  // namespace cairn::inline v0_1::detail
