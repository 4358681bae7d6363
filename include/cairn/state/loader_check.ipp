// SPDX-License-Identifier: MIT
// Definitions of loader.hpp for the check: what does not fit, what is missing, and what the load does with memory of
// the state.
#pragma once

#include <algorithm>
#include <limits>

#include "cairn/state/convert.hpp"
#include "cairn/state/joined_load.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_container.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

void loader::check_array(const memory_view& view, const device_copies* device) {
  const std::size_t index = match_leaf(view);
  if (prototypes_ == 0 && !device && view.memory && view.bytes() > 0) {
    const auto [first, last] = address_range(view);
    freed_.keep(first, static_cast<std::uint64_t>(last - first), at_.path, at_.is_view);
  }
  if (index != catalog::npos && at_.place) {
    regions_.insert_or_assign(index, box{at_.place->first, view.shape});
    return;
  }
  if (index == catalog::npos || prototypes_ > 0 || is_reshaped(stored_.contents().leaves[index], view.shape)) return;
  arrays_.add(view, device, index);
}

std::size_t loader::check_leaf(const memory_view& view) {
  const std::string stored = stored_.stored_path(path());
  const std::size_t index = stored_.use_leaf(stored);
  const bool is_accepted = stored_.accepts(stored);
  if (is_accepted && index == catalog::npos) {
    missing();
    return catalog::npos;
  }
  if (!is_accepted || !fits(stored_.contents().leaves[index], stored, view)) {
    ++left_out_;
    return catalog::npos;
  }
  if (!early_.empty())
    for (std::string_view outer = stored; !outer.empty(); outer = outer_path(outer))
      if (const auto first = early_.find(outer); first != early_.end() && !is_within(at_.path, first->second))
        record(path(), only_pointers_share(first->second));
  report_.loaded.push_back(stored);
  if (stored_.contents().leaves[index].type != view.type) report_.converted.push_back(stored);
  if (is_reshaped(stored_.contents().leaves[index], view.shape)) {
    report_.reshaped.push_back(stored);
    ++kept_;
  }
  check_values(index, view);
  return index;
}

void loader::add_problem(const std::string& problem) {
  constexpr std::size_t shown = 8, most_bytes = 480;
  if (problems_.size() < shown)
    problems_.push_back(cut(problem, most_bytes));
  else
    ++more_problems_;
}

void loader::record(std::string_view path, const std::string& problem) {
  if (!in_check_)
    fail(errc::mismatch,
         {path, " ", problem, "; the check of the load did not find that, so the state may have changed in part"});
  add_problem(std::string(path) + ' ' + problem);
  ++left_out_;
}

void loader::keep_default() {
  if (!in_check_) return;
  // What a migration reads has been walked before.
  if (at_.migrated_length && std::ranges::find(defaulted_, path()) != defaulted_.end()) return;
  ++kept_;
  defaulted_.emplace_back(path());
}

void loader::note_owner(const void* object, const void* type, const void* content) {
  if (!checks()) return;
  owner_ = {object, type, content};
  if (prototypes_ > 0) return;
  auto& paths = owners_[owner_];
  paths.push_back(at_.path);
  if (paths.size() == 1) return;
  const std::string& first = paths.front();
  // What is below the last pair of paths has been compared with them.
  const bool is_compared =
      !tied_.empty() && is_within(at_.path, tied_) &&
      first.size() == tied_to_.size() + at_.path.size() - tied_.size() && first.starts_with(tied_to_) &&
      std::string_view(first).substr(tied_to_.size()) == std::string_view(at_.path).substr(tied_.size());
  if (is_compared) return;
  tied_ = at_.path;
  tied_to_ = first;
  for (std::size_t i = 0; i + 1 < paths.size(); ++i) check_tie(paths[i], tied_);
}

void loader::check_tie(const std::string& other, const std::string& path) {
  if (stored_.selects(other) && stored_.selects(path) && stored_.conflict(other, path))
    record(path, "is the object at " + other +
                     " in the state, and another one in the checkpoint; leave one of them out with filter");
}

/// Why an object of the state cannot be loaded from a holder with that entry, or from an object without entry.
inline std::string what_is_stored(const structure_entry* holder, std::string_view path) {
  if (!holder)
    return std::string(" is another kind of object in the checkpoint").append(how_to_load_another_kind(path));
  if (holder->what == structure_entry::kind::same) return ' ' + only_pointers_share(holder->text);
  if (holder->what == structure_entry::kind::engaged)
    return " is null in the checkpoint and an object in the state; make it a std::optional, or leave it out with "
           "filter";
  return " is a container of " + std::to_string(holder->number) +
         " objects in the checkpoint and one object in the state; leave it out with filter";
}

void loader::missing() {
  ++left_out_;
  if (!in_check_) return;
  const std::string_view holder = stored_.find_holder(path());
  const std::string_view outer_object = holder.empty() ? stored_.find_array(path()) : holder;
  const std::string at(outer_object.empty() ? path() : outer_object);
  for (std::string_view outer = path(); !outer.empty(); outer = outer_path(outer))
    if (explained_.contains(outer)) return;
  const bool is_other = !outer_object.empty() || stored_.has_part(path());
  if (!is_other || !stored_.options().strict) report_.missing.push_back(at);
  explained_.insert(at);
  if (!is_other) return;
  if (stored_.options().strict)
    add_problem(stored_.stored_path(at) + what_is_stored(holder.empty() ? nullptr : stored_.find_entry(at), at_.path));
  stored_.use_all(at);
}

void loader::keep_whole() {
  if (!in_check_)
    record(path(),
           "has read other parts than in the check of the load, which ran its cairn_migrate or cereal function on a "
           "new object");
  kept_whole_.insert(at_.path);
  mark_used();
  if (stored_.selects_some(at_.path))
    reject("can only be loaded as a whole; let the filter select all of it, or nothing");
}

bool loader::note_resize(std::uint64_t from, std::uint64_t to, std::size_t width) {
  if (!in_check_) return true;
  const unsigned prototypes = copies_.empty() ? prototypes_ : copies_.front().prototypes;
  if (from > 0 && prototypes == 0) report_.resized.emplace_back(path());
  require_memory(from, to, width);
  return !checks();
}

void loader::note_freed(const void* memory, std::uint64_t bytes) {
  if (checks() && prototypes_ == 0) freed_.add(memory, bytes, owner_, at_.path);
}

void loader::note_destroyed(void* object, walk_function walk) {
  if (checks() && prototypes_ == 0) freed_.add_object(object, walk, at_, owner_);
}

void loader::note_dropped(const std::shared_ptr<void>& object, const void* pointer, walk_function walk) {
  if (checks() && prototypes_ == 0) freed_.add_shared(object, pointer, walk, owner_, at_.path);
}

void loader::note_put(void* object, const void* copy, const copy_operations& how) {
  if (checks() && prototypes_ == 0 && how.for_each_freed)
    how.for_each_freed(object, copy, this, [](void* self, const void* memory, std::size_t bytes) {
      static_cast<loader*>(self)->note_freed(memory, bytes);
    });
}

void loader::require_memory(std::uint64_t from, std::uint64_t to, std::size_t width) {
  if (to <= from || width == 0) return;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  growing_ = to > (most - growing_) / width ? most : growing_ + to * width;
  detail::require_memory(growing_,
                         sentence({path(), " in ", origin(), ", with ", to, " elements of ", width,
                                   " bytes and all that grows before it,"}),
                         "load a part of it with filter, or give the process more memory");
}

/// Keeps the first of equal paths: several parts may load from one path, and a migration may read one several times.
inline void remove_repeats(std::vector<std::string>& paths) {
  std::unordered_set<std::string> seen;
  std::erase_if(paths, [&](const std::string& path) { return !seen.insert(path).second; });
}

void loader::finish_check() {
  objects_.clear();  // so that `freed_` sees which objects nothing else shares
  for (const auto& [of, part] : freed_.find(at_, owners_))
    record(part, "refers to elements of " + (of.empty() ? "value" : of) +
                     ", which the load destroys or moves; give that the checkpoint's structure before the load");
  for (const auto& [first, second] : arrays_.find_conflicts(fetched_, stored_.contents()))
    add_problem(first + " and " + second +
                " share memory in the state but differ in the checkpoint; leave one of them out with filter");
  if (stored_.is_repeated())
    for (auto* const list : array_lists()) remove_repeats(*list);
  for (const auto& path : removed_) stored_.use_all(path);
  report_.unexpected = stored_.unexpected();
  const bool differ = stored_.options().strict && report_.missing.size() + report_.unexpected.size() > 0;
  if (differ) {
    for (const auto& path : report_.missing) add_problem(path + " is missing in the checkpoint");
    for (const auto& path : report_.unexpected) add_problem(path + " is in the checkpoint but not in the state");
  }
  report_.missing.insert(report_.missing.end(), defaulted_.begin(), defaulted_.end());
  if (problems_.empty()) return;
  std::string text = origin() + " does not fit the state: ";
  for (std::size_t i = 0; i < problems_.size(); ++i) text += (i ? "; " : "") + problems_[i];
  if (more_problems_ > 0) text += "; and " + std::to_string(more_problems_) + " more";
  fail(errc::mismatch,
       {text, ". Nothing was changed",
        report_.missing.empty() || report_.unexpected.empty() || !differ ? ""
                                                                         : "; load with rename if paths have changed",
        differ ? "; load with strict = false to leave out what only one side has" : ""});
}

bool loader::fits(const stored_leaf& stored, const std::string& path, const memory_view& view) {
  if (at_.place && (stored.shape != at_.place->whole || stored.type != view.type)) {
    add_problem(sentence({path, " is ", name(stored.type), to_string(stored.shape), " in the checkpoint and a box of ",
                          name(view.type), to_string(at_.place->whole),
                          " in the state; a box is loaded from an array of the same type and shape"}));
    return false;
  }
  const bool same_shape = takes_shape(stored, path, view.shape);
  const std::string refusal = refusal_.first == at_.path ? refusal_.second : std::string();
  const auto add = [&](std::string_view has, const std::string& there, const std::string& here,
                       std::string_view advice) {
    add_problem(sentence(
        {path, has, there, " in the checkpoint and ", here, advice.empty() ? "; leave it out with filter" : advice}));
  };
  const bool cannot_have = !refusal.empty() && element_count(view.shape) == 0;
  if (!same_shape)
    add(" has shape ", to_string(stored.shape),
        to_string(view.shape) + " in the state" + (refusal.empty() ? "" : "; " + refusal),
        cannot_have ? "" : reshaping_advice(stored.shape, view.shape));
  const bool convertible = is_convertible(stored.type, view.type, stored_.options().convert);
  if (!convertible)
    add(" is ", std::string(name(stored.type)), std::string(name(view.type)) + " in the state",
        conversion_advice(stored.type, view.type));
  return same_shape && convertible;
}

void loader::check_values(std::size_t index, const memory_view& view) {
  const catalog& from = stored_.contents();
  const stored_leaf& stored = from.leaves[index];
  const bool may_not_fit = !is_floating(view.type) && !is_widening(stored.type, view.type);
  if (view.type != dtype::boolean && !may_not_fit) return;
  std::vector<std::byte> values(element_count(stored.shape) * size_of(view.type));
  fetch_leaf(fetched_, from, index, {view.type, stored.shape, values.data(), {}});
  if (view.type != dtype::boolean) return;
  for (const std::byte value : values)
    if (std::to_integer<unsigned>(value) > 1)
      fail(errc::corrupt, {stored.path, " in ", from.origin, " is BOOL but has a byte that is neither 0 nor 1"});
}

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
