// SPDX-License-Identifier: MIT
// Definitions of state/walk_container.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_set>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/joined.hpp"
#include "cairn/state/joined_load.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_container.hpp"
#include "cairn/system/json.hpp"

namespace cairn::inline v0_1::detail {

void walk_elements(walker& w, void* sequence, const sequence_operations& how) {
  w.note_owner(sequence, &how);
  size_limits limits;
  const std::uint64_t now = call_adapter(w, [&] { return how.size(sequence, limits); });
  if (w.joined(sequence, now, limits, how)) return;
  const size_answer answer = w.sequence(now, limits, how.elements_are_empty);
  if (answer.size != now) {
    std::uint64_t index = 0;
    for_each_element(sequence, how, [&](void* element) {
      if (how.elements_move || index >= answer.size) w.note_freed(element, how.width);
      if (how.elements_are_made || index >= answer.size) w.note_destroyed(element, how.element.walk);
      ++index;
    });
  }
  if (answer.resize) how.resize(sequence, answer.size);
  std::uint64_t next = 0;
  for_each_element(sequence, how, [&](void* element) {
    if (next < answer.size) w.sequence_part(next++, element, how.element);
  });
  for (; next < answer.size; ++next) w.sequence_part(next, nullptr, how.element);
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

void fail_lookup() { fail(errc::invalid, {"a map does not find a key that has just been inserted, such as a NaN"}); }

bool parse_number(const std::string& from, std::int64_t& number) { return read_number(from, number); }
bool parse_number(const std::string& from, std::uint64_t& number) { return read_number(from, number); }

template <class Action>
void for_each_entry(void* map, const map_operations& how, Action action) {
  how.for_each(map, &action,
               [](void* context, std::string_view key, void* value) { (*static_cast<Action*>(context))(key, value); });
}

bool is_same_state(walk_function walk, void* a, void* b) {
  const auto describe = [&](void* object) {
    walk_position at;
    describer result(at);
    walk(result, object);
    return result.finish();
  };
  const auto bytes_of = [](const leaf& of) {
    std::vector<std::byte> bytes(of.bytes());
    gather(of, 0, bytes);
    return bytes;
  };
  const description first = describe(a), second = describe(b);
  return first.structure == second.structure &&
         std::ranges::equal(first.leaves, second.leaves, [&](const leaf& one, const leaf& other) {
           return one.path == other.path && one.type == other.type && one.shape == other.shape &&
                  bytes_of(one) == bytes_of(other);
         });
}

void walker::map(void* object, const map_operations& how) {
  note_owner(object, &how);
  for_each_entry(object, how, [&](std::string_view key, void* value) { part(key, value, how.value.walk); });
}

void describer::map(void* object, const map_operations& how) {
  const bool is_joined = how.value.make && add_joined(how.size(object), [&](column_joiner& joiner) {
                           for_each_entry(object, how, [&](std::string_view key, void* value) {
                             if (joiner.fits()) joiner.entry(key, value, how.value.walk);
                           });
                         });
  if (is_joined) return;
  std::vector<std::string> keys;
  for_each_entry(object, how, [&](std::string_view key, void* /*value*/) { keys.emplace_back(key); });
  note({.what = structure_entry::kind::keys, .keys = std::move(keys)});
  walker::map(object, how);
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

void walker::entry_part(std::uint64_t index, std::string_view name, void* object, walk_function walk) {
  enter(std::to_string(index));
  if (is_selected()) part(name, object, walk);
  leave();
}

void walker::entries(void* map, const entries_operations& how) {
  note_owner(map, &how);
  const auto now = how.entries(map);
  const auto size = sequence(now.size(), {}, false).size;
  for (std::uint64_t i = 0; i < size; ++i) {
    entry_part(i, "first", now[i].key, how.walk_key);
    entry_part(i, "second", now[i].value, how.walk_value);
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

}  // namespace cairn::inline v0_1::detail
