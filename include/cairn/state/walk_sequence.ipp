// SPDX-License-Identifier: MIT
// Definitions of walk_sequence.hpp, and of loader.hpp for sequences.
#pragma once

#include <string>

#include "cairn/core/error.hpp"
#include "cairn/state/loader.hpp"
#include "cairn/state/walk_sequence.hpp"

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

}  // namespace cairn::inline v0_1::detail
