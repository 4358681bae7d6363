// SPDX-License-Identifier: MIT
// Definitions of loader.hpp, but for the check and joined objects (loader_check.ipp), changed classes and enums by name
// (walk_record.ipp).
#pragma once

#include <algorithm>
#include <unordered_map>

#include "cairn/state/container_copies.hpp"
#include "cairn/state/joined_load.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_container.hpp"

namespace cairn::inline v0_1::detail {

void loader::add(memory_view view, const device_copies* device) {
  if (!copies_.empty()) return fill_array(std::move(view), device);
  in_check_ ? check_array(view, device) : apply_array(std::move(view), device);
}

std::size_t loader::match_leaf(const memory_view& view) {
  if (in_check_) return check_leaf(view);
  const std::string stored = stored_.stored_path(path());
  const std::size_t index = stored_.accepts(stored) ? stored_.find_leaf(stored) : catalog::npos;
  if (index == catalog::npos)
    ++left_out_;
  else if (!takes_shape(stored_.contents().leaves[index], stored, view.shape))
    reject("has shape " + to_string(view.shape) + " in the state");
  return index;
}

bool loader::is_selected() {
  if (stored_.selects(at_.path)) return true;
  ++left_out_;
  return false;
}

void loader::contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                        const size_limits& limits) {
  if (how.resize) {
    note_owner(container, &how);
    size_probe probe(at_, stored_);
    probe.columns(0, 0, how.sample(), how.walk_element);
    if (const auto now = size, stored = probe.size().value_or(now);
        stored != now &&
        !(now > 0 && keeps_size(probe.column(), how.holds == contiguous_operations::content::numbers))) {
      const bool is_text = how.holds == contiguous_operations::content::text;  // which is not reported as resized
      const bool changes = note_resize(is_text ? 0 : now, stored, how.width);
      if (!admits(limits, stored)) return;
      note_freed(first, now * how.width);
      first = changes ? resize(container, now, stored, how) : nullptr;
      size = stored;
    }
  }
  const std::size_t kept = left_out_ + kept_;
  fill_columns(size, first, how);
  if (left_out_ + kept_ != kept) partly_filled_.insert(at_.path);
}

void loader::fill_columns(std::uint64_t size, void* first, const contiguous_operations& how) {
  if (size > 0 && first) return columns(size, how.width, first, how.walk_element);
  ++prototypes_;  // there are no elements: the sample stands for them
  columns(size, how.width, how.sample(), how.walk_element);
  --prototypes_;
}

const stored_leaf* loader::stored(const extents& now) {
  const std::uint64_t count = element_count(now);
  const stored_leaf* const found = stored_.leaf(path(), count);
  const bool keeps = found && count > 0 && found->shape != now && keeps_size(stored_.stored_path(path()), true);
  return keeps ? nullptr : found;
}

bool loader::keeps_size(std::string_view stored, bool is_array) {
  const reshaping allowed = stored_.options().reshape_of(stored);
  if (keeps_shape(allowed)) return true;
  if (allowed == reshaping::resize || !is_array || takes_sizes()) return false;
  note_refusal("reshaping::resize or cairn::resizable gives it the size of the checkpoint");
  return true;
}

bool loader::takes_shape(const stored_leaf& leaf, std::string_view stored, const extents& now) const {
  if (at_.place) return leaf.shape == at_.place->whole;
  if (leaf.shape == now) return true;
  if (leaf.shape.size() == now.size() && is_reshapable(leaf.shape, now, stored_.options().reshape_of(stored)))
    return true;
  const bool is_tied = leaf.path != stored;  // one buffer may be seen in two shapes
  return is_tied ? element_count(leaf.shape) == element_count(now) : differ_by_container(leaf.shape, now);
}

bool loader::is_reshaped(const stored_leaf& leaf, const extents& now) const {
  return !at_.place && leaf.shape != now && leaf.shape.size() == now.size() &&
         keeps_shape(stored_.options().reshape_of(stored_.stored_path(path())));
}

memory_view loader::destination(const stored_leaf& leaf, memory_view view) const {
  return is_reshaped(leaf, view.shape) ? overlap_of(std::move(view), leaf.shape) : view;
}

void loader::walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) {
  ++prototypes_;
  walker::walk_temporary(object, walk, destroy);
  --prototypes_;
}

presence loader::optional(bool engaged) {
  const auto* stored = take_entry(structure_entry::kind::engaged);
  if (!stored) return walker::optional(engaged);
  if (stored_.is_same_object(path())) {
    reject(only_pointers_share(stored->text));
    return presence::keep;
  }
  if (stored->what == structure_entry::kind::engaged && stored->number == 0) return when_null();
  return engaged ? presence::walk : when_new();
}

alternative_answer loader::alternative(std::uint64_t index, std::uint64_t count) {
  const auto* stored = take_entry(structure_entry::kind::index);
  if (!stored) return {presence::walk, index};
  if (stored->number >= count) {
    reject("holds alternative " + std::to_string(stored->number) +
           " in the checkpoint, and the variant in the state has " + std::to_string(count) +
           " alternatives; add those that it had, at their places, or leave it out with filter");
    return {};
  }
  return {index == stored->number ? presence::walk : when_new(), stored->number};
}

size_answer loader::sequence(std::uint64_t size, const size_limits& limits, bool empty_elements) {
  const auto* const stored = take_entry(structure_entry::kind::size);
  if (!stored || stored->number == size) return {size};
  if (!empty_elements && stored->number > most_objects(false) && stored->number <= most_objects(true) &&
      !stored_.first_below(at_.path)) {
    reject("has " + std::to_string(stored->number) +
           " objects without members in the checkpoint; leave it out with filter");
    return {};
  }
  check_size(stored->number, empty_elements);
  const bool changes = note_resize(size, stored->number, 0);
  return admits(limits, stored->number) ? size_answer{stored->number, changes} : size_answer{};
}

bool loader::fixed_array(std::uint64_t size) {
  const auto* const stored = stored_.find_entry(path());
  if (!stored || (stored->what != structure_entry::kind::rows && stored->what != structure_entry::kind::size))
    return true;
  reject("is a container of " + std::to_string(stored->number) + " objects in the checkpoint and an array of " +
         std::to_string(size) + " in the state; make it a std::vector, or leave it out with filter");
  return false;
}

void loader::heap(void* object, const heap_operations& how) {
  if (!has_elements()) return;
  if (!how.has_order(object)) return reject(std::string(order_is_null));
  if (!copies_.empty()) return how.arrange(object);
  if (!in_check_ && prototypes_ == 0) heaps_.push_back({object, how.arrange, std::string(path())});
}

bool loader::has_elements() const {
  const auto* const entry = stored_.find_entry(path());
  if (entry && entry->what == structure_entry::kind::size) return entry->number > 0;
  const std::size_t index = stored_.find_leaf(stored_.stored_path(path()));
  const stored_leaf* const found =
      index != catalog::npos ? &stored_.contents().leaves[index] : stored_.first_below(at_.path);
  return found && (found->shape.empty() || found->shape.front() > 0);
}

void loader::require_distinct(const std::vector<std::string>& keys) const {
  if (std::ranges::adjacent_find(keys, std::ranges::greater_equal()) == keys.end()) return;
  std::unordered_set<std::string_view> seen;
  for (const auto& each : keys)
    if (!seen.insert(each).second) fail(errc::corrupt, {path(), " in ", origin(), " has the key '", each, "', twice"});
}

void loader::map(void* object, const map_operations& how) {
  std::unordered_map<std::string, void*> now;
  const auto find_now = [&] {
    for_each_entry(object, how, [&](std::string_view key, void* value) { now.emplace(key, value); });
  };
  const bool fills = purpose() == purpose::apply;
  std::optional<column_splitter> joined;
  std::vector<std::string> joined_keys;
  const structure_entry* const rows = find_rows();
  if (rows) {
    find_now();
    auto columns = match_joined(rows->number, [&](column_matcher& matcher) {
      matcher.entry(now.empty() ? nullptr : now.begin()->second, how.value);
    });
    if (!columns || (fills && prototypes_ > 0)) return;
    joined.emplace(at_, *this, std::move(*columns), fills);
    joined_keys = joined->keys(rows->number);
  }
  const std::vector<std::string>* const stored = rows ? &joined_keys : find_keys();
  if (!stored) return walker::map(object, how);
  require_distinct(*stored);
  note_owner(object, &how);
  if (!rows) find_now();
  bool differs = now.size() != stored->size();
  for (const auto& key : *stored) {
    if (!how.is_key(key))
      return reject("has the key '" + key +
                    "' in the checkpoint, which is not a key of that map; convert it in cairn_migrate, or leave it out "
                    "with filter");
    differs = differs || !now.contains(key);
  }
  bool now_changes = false;
  std::vector<void*> values;  // of the stored keys
  if (differs) {
    with_path([&] { how.check_keys(object, *stored); });
    now_changes = note_resize(now.size(), stored->size(), 0);
    std::unordered_set<std::string_view> kept;
    if (!now.empty()) kept.insert(stored->begin(), stored->end());
    for (const auto& [key, value] : now) {
      if (how.values_move || !kept.contains(key)) note_freed(value, how.value_width);
      if (!kept.contains(key)) note_destroyed(value, how.value.walk);
      if (now_changes && !kept.contains(key)) how.at(object, key, access::remove);
    }
    if (now_changes)
      for (const auto& key : *stored) values.push_back(how.at(object, key, access::make));
  }
  if (joined) {
    if (!now_changes || how.values_move) {
      values.clear();
      for (const auto& key : *stored) {
        const auto at = now.find(key);
        values.push_back(now_changes ? how.at(object, key, access::find) : at == now.end() ? nullptr : at->second);
      }
    }
    std::vector<void*> before;
    if (!fills)
      for (const auto& [key, value] : now) before.push_back(value);
    return fill_joined(*joined, values, how.value, {object, &how, before, differs, "value"});
  }
  for (const auto& key : *stored) {
    enter(key);
    if (is_selected()) {
      void* const value = now_changes || now.contains(key) ? how.at(object, key, access::find) : nullptr;
      if (value)
        how.value.walk(*this, value);
      else
        prototype(how.value);
    }
    leave();
  }
}

void loader::entries(void* map, const entries_operations& how) {
  note_owner(map, &how);
  const auto now = how.entries(map);
  const auto size = sequence(now.size(), {}, false).size;
  const std::shared_ptr<void> keys(how.make_keys(size), how.destroy_keys);
  begin_copy();
  for (std::uint64_t i = 0; i < size; ++i)
    entry_part(i, "first", static_cast<std::byte*>(keys.get()) + i * how.key_width, how.walk_key);
  const auto answer = end_copy();
  if (answer == copy_answer::drop) return mark_used();
  std::vector<void*> values;
  std::shared_ptr<void> trial;  // in the first walk, has the values that the load will make
  bool has_keys = false;
  with_path([&] {
    has_keys = how.has_keys(map, keys.get(), size);
    if (has_keys || !how.can_make) return;
    for (const auto& entry : now) {
      note_freed(entry.value, how.value_width);
      note_destroyed(entry.key, how.walk_key);
      note_destroyed(entry.value, how.walk_value);
    }
    if (answer == copy_answer::check) trial.reset(how.make_like(map), how.destroy);
    values = how.set_keys(trial ? trial.get() : map, keys.get(), size);
  });
  if (!has_keys && !how.can_make)
    return reject(
        "has other keys in the checkpoint, and its values have no default constructor; make them before the load");
  if (has_keys)
    for (const auto& entry : now) values.push_back(entry.value);
  else if (size == now.size())
    static_cast<void>(note_resize(size, size, 0));  // another size has been reported
  if (trial) ++prototypes_;
  for (std::uint64_t i = 0; i < size; ++i) entry_part(i, "second", values[i], how.walk_value);
  if (trial) --prototypes_;
}

std::uint64_t loader::saved_ranks(bool takes_all) {
  const auto* stored = take_entry(structure_entry::kind::ranks);
  if (!stored) return 0;
  mark_used();
  if (stored->number == 0) reject("is per-rank state saved by no rank");
  if (takes_all && stored->number != here().ranks) check_size(stored->number, false);
  return stored->number;
}

void loader::copy(void* object, const copy_operations& how) {
  if (how.is_owner) note_owner(object, &how);
  std::shared_ptr<void> copy;
  with_path([&] { copy.reset(how.is_array ? how.take(object) : how.make(), how.destroy); });
  const bool takes = !how.is_array || takes_sizes();
  begin_copy();
  at_.takes_sizes = takes;
  how.walk_copy(*this, copy.get());
  const auto answer = end_copy();
  if (answer == copy_answer::drop) return;
  with_path([&] {
    for (const auto& each : how.check(object, copy.get())) note_replaced(each);
    note_put(object, copy.get(), how);
    if (answer == copy_answer::put)
      how.put(object, copy.get());
    else
      how.try_put(object, copy.get());
  });
}

bool loader::has_stored(std::string_view name) {
  enter(name);
  const bool has = stored_.has_part(path());
  leave();
  return has;
}

void loader::require_whole(std::size_t left_out_before) {
  const auto& options = stored_.options();
  if (left_out() != left_out_before && (options.filter || !options.strict))
    reject(
        "is const, so that it can only be replaced as a whole, but a part of it is left out: load all of it or "
        "nothing, or drop the const");
}

bool loader::must_keep() {
  if (!kept_whole_.contains(at_.path)) return false;
  ++left_out_;
  return true;
}

void loader::reject(const std::string& problem) {
  record(path(), problem);
  mark_used();
}

const structure_entry* loader::take_entry(structure_entry::kind kind) {
  using enum structure_entry::kind;
  const structure_entry* const found = stored_.find_entry(path());
  const auto is_of_pointer = [](structure_entry::kind what) { return what == engaged || what == type; };
  const bool fits =
      found && (found->what == kind || (is_of_pointer(kind) && (is_of_pointer(found->what) || found->what == same)));
  if (!fits && stored_.contents().has_structure && !at_.path.empty())
    if (const auto* const other = find_other_form(kind, found)) return other;
  if (!found) {
    if (stored_.contents().has_structure) missing();
    return nullptr;
  }
  stored_.use_entry(*found);
  if (fits) return found;
  reject(std::string("is another kind of object in the checkpoint").append(how_to_load_another_kind(at_.path)));
  return nullptr;
}

const structure_entry* loader::find_other_form(structure_entry::kind kind, const structure_entry* found) {
  static const structure_entry some{.what = structure_entry::kind::engaged, .number = 1};
  if (kind == structure_entry::kind::engaged) {  // the checkpoint has only what the holder in the state holds
    if (found) stored_.note_content(at_.path);   // `found` is the entry of the content
    return found || stored_.has_part(at_.path) ? &some : nullptr;
  }
  if (!found || *found != some) return nullptr;
  const std::string content = at_.path + ".value";  // the state has only what the holder in the checkpoint holds
  const auto* const entry = stored_.find_entry(content);
  if (!entry || entry->what != kind) return nullptr;
  stored_.use_entry(*found);
  stored_.use_entry(*entry);
  stored_.redirect(at_.path, content);
  return entry;
}

const std::vector<std::string>* loader::find_keys() {
  const auto* stored = take_entry(structure_entry::kind::keys);
  if (!stored) return nullptr;
  return &stored->keys;
}

bool loader::admits(const size_limits& limits, std::uint64_t stored) {
  try {
    check_limits(limits, stored);
    return true;
  } catch (const error& cause) {
    reject(std::string(cause.sentence()));
    return false;
  }
}

std::uint64_t loader::most_objects(bool empty_elements) const noexcept {
  const auto& from = stored_.contents();
  return empty_elements ? 1U << 20 : from.leaves.size() + from.structure.size();
}

void loader::check_size(std::uint64_t size, bool empty_elements) const {
  if (size > most_objects(empty_elements))
    fail(errc::corrupt, {path(), " in ", origin(), " claims ", size, " objects, which it cannot hold"});
}

// Objects behind pointers.

pointee_answer loader::pointee(const found_object& found) {
  const bool is_there = found.address != nullptr;
  if (!found.by->list) {
    const presence what = optional(is_there);
    if (what != presence::walk) return {what, nullptr, is_there};
    if (keeps_const(found)) return {};
    const presence taken = take_over(found, true);
    return {taken, nullptr, taken != presence::walk};
  }
  const auto* stored = take_entry(structure_entry::kind::type);
  if (!stored) return {};
  if (stored->what == structure_entry::kind::engaged && stored->number == 0) return {when_null(), nullptr, is_there};
  const auto* const type = find_type(found, *stored);
  if (!type) return {};
  const presence what = take_over(found, is_there && *found.type == *type);
  return {what, type, is_there && what != presence::walk};
}

shared_answer loader::shared(const found_object& found, const std::shared_ptr<void>& object) {
  const bool listed = found.by->list != nullptr;
  const auto* stored = take_entry(listed ? structure_entry::kind::type : structure_entry::kind::engaged);
  if (!stored) {
    if (listed || !object || keeps_const(found) || filled_objects_.contains(object.get())) return {};
    const presence what = take_over(found, true);
    if (what == presence::walk) filled_objects_.insert(object.get());
    return {.what = what, .destroys = what != presence::walk};
  }
  const bool is_same = stored->what == structure_entry::kind::same;
  const std::string owner = is_same ? stored->text : stored_.stored_path(path());
  if (is_same && !objects_.contains(owner))
    if (const auto* const found_there = stored_.redirect_to_owner(path(), owner)) {
      early_.emplace(owner, at_.path);
      stored_.use_entry(*found_there);
      stored = found_there;
    }
  const auto early = early_.find(owner);
  if (stored->what == structure_entry::kind::same || (early != early_.end() && early->second != at_.path)) {
    const auto first = objects_.find(owner);
    const bool is_loaded = first != objects_.end();
    if (is_loaded && found.by->takes(*first->second.type))
      return {presence::keep, first->second.type, checks() ? nullptr : first->second.object,
              object && object != first->second.object};
    reject("shares the object at " + owner + " in the checkpoint, which " +
           (is_loaded ? "is loaded as another type; give both pointers one type, or leave one of them out with filter"
            : stored_.options().rename
                ? "no earlier pointer loads; load without rename, or keep the order of the members"
                : "no shared pointer loads; make that one a std::shared_ptr and let the filter select it, or leave "
                  "this one out with filter"));
    return {};
  }
  if (stored->what == structure_entry::kind::engaged && stored->number == 0)
    return {.what = when_null(), .destroys = object != nullptr};
  const auto* const type = listed ? find_type(found, *stored) : found.by->base;
  if (!type) return {};
  // An object that another path has filled cannot be used here: in the checkpoint the two are distinct.
  const bool is_free = object && !filled_objects_.contains(object.get());
  const presence what = take_over(found, is_free && *found.type == *type);
  shared_made(what == presence::walk ? object : nullptr, *type);
  return {.what = what, .type = type, .destroys = object && what != presence::walk};
}

void loader::shared_made(std::shared_ptr<void> object, const type_id& type) {
  if (object) filled_objects_.insert(object.get());
  objects_.insert_or_assign(stored_.stored_path(path()), shared_object{&type, std::move(object)});
}

const type_id* loader::find_type(const found_object& found, const structure_entry& stored) {
  const class_list& list = found.by->list();
  if (stored.what == structure_entry::kind::same) {
    reject(only_pointers_share(stored.text));
  } else if (stored.what == structure_entry::kind::engaged) {
    if (found.type && list.find(*found.type)) return found.type;
    reject("has no type in the checkpoint: it was saved without a list of types; make the object before the load");
  } else if (const listed_type* const type = list.find(stored.text)) {
    return type->type;
  } else {
    reject("is a '" + stored.text + "' in the checkpoint, which is not a listed type: add it to cairn::polymorphic<" +
           std::string(found.by->base->name) + ">, or as a former name of its class: cairn::named<\"name\", class, \"" +
           stored.text + "\">");
  }
  return nullptr;
}

bool loader::keeps_const(const found_object& found) const {
  return found.by->is_const && stored_.contents().has_structure && !stored_.has_part(path());
}

// Private copies.

void loader::begin_copy() {
  open_copy& copy = copies_.emplace_back(
      open_copy{left_out_, std::exchange(prototypes_, 0), std::exchange(at_.takes_sizes, true), {}});
  std::ranges::transform(array_lists(), copy.listed.begin(), [](const auto* list) { return list->size(); });
}

copy_answer loader::end_copy() {
  const open_copy copy = copies_.back();
  copies_.pop_back();
  prototypes_ = copy.prototypes;
  at_.takes_sizes = copy.takes_sizes;
  if (copy.left_out == left_out_) return checks() ? copy_answer::check : copy_answer::put;
  if (in_check_ && copies_.empty())  // the object keeps its value
    for (std::size_t i = 0; i < copy.listed.size(); ++i) array_lists()[i]->resize(copy.listed[i]);
  return copy_answer::drop;
}

void loader::fill_array(memory_view view, const device_copies* device) {
  if (at_.place) fail(errc::invalid, {path(), " is a box of a larger array in an object that is loaded as a copy"});
  const std::size_t index = match_leaf(view);
  if (index == catalog::npos) return;
  const auto& from = stored_.contents();
  if (!device) return fetch_leaf(fetched_, from, index, destination(from.leaves[index], std::move(view)));
  const host_buffer buffer(std::string(path()), view, *device);
  if (view.shape != from.leaves[index].shape) buffer.read_device();
  fetch_leaf(fetched_, from, index, destination(from.leaves[index], std::move(view)));
  buffer.write_device();
}

// The second walk.

void loader::begin_apply() {
  in_check_ = false;
  objects_.clear();
  filled_objects_.clear();
  at_.takes_sizes = true;  // those that must not have passed the check
}

void loader::apply_array(memory_view view, const device_copies* device) {
  const std::size_t index = match_leaf(view);
  if (index == catalog::npos) return;
  if (prototypes_ > 0 && view.bytes() > 0)  // its memory is gone when the targets are read
    fail(errc::invalid, {path(), " was not made by the load"});
  const stored_leaf& leaf = stored_.contents().leaves[index];
  if (device) {
    buffers_.emplace_back(std::string(path()), view, *device);
    if (view.shape != leaf.shape) buffers_.back().read_device();
  }
  std::optional<box> region;
  if (at_.place) region = {at_.place->first, view.shape};
  targets_.push_back({index, destination(leaf, std::move(view)), std::move(region)});
}

void* loader::resize(void* container, std::uint64_t from, std::uint64_t to, const contiguous_operations& how) {
  constexpr std::uint64_t large = 64 * 1024;
  const std::uint64_t bytes = to * how.width;
  const bool is_large = copies_.empty() && to > from && bytes >= large && !partly_filled_.contains(at_.path);
  void* const reserved = is_large && how.reserve ? how.reserve(container, to) : nullptr;
  if (!reserved) return how.resize(container, to);
  growths_.push_back({container, to, how.resize, static_cast<std::byte*>(reserved), bytes});
  return reserved;
}

void loader::finish_apply() {
  for (const auto& each : buffers_) each.write_device();
  buffers_.clear();
  for (const auto& each : heaps_) try {
      each.arrange(each.object);
    } catch (...) {
      throw error(as_error(std::current_exception(),
                           {origin(), " cannot be loaded: the comparator of ", each.path, " failed"}));
    }
  heaps_.clear();
}

}  // namespace cairn::inline v0_1::detail
