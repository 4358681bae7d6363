// SPDX-License-Identifier: MIT
// Definitions of state/walk_container.hpp.
#pragma once

#include <algorithm>
#include <string>

#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/joined.hpp"
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

void fail_lookup() { fail(errc::invalid, {"a map does not find a key that has just been inserted, such as a NaN"}); }

bool parse_number(const std::string& from, std::int64_t& number) { return read_number(from, number); }
bool parse_number(const std::string& from, std::uint64_t& number) { return read_number(from, number); }

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

}  // namespace cairn::inline v0_1::detail
