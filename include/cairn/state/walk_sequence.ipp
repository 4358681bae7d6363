// Definitions of walk_sequence.hpp.
#pragma once

#include <string>

#include "cairn/core/error.hpp"
#include "cairn/state/walk_sequence.hpp"

namespace cairn::detail {

template <class Action>
void for_each_element(void* sequence, const sequence_operations& how, Action action) {
  how.for_each(sequence, &action, [](void* context, void* element) { (*static_cast<Action*>(context))(element); });
}

CAIRN_INLINE void walk_elements(walker& w, void* sequence, const sequence_operations& how) {
  w.note_owner(sequence, &how);
  size_limits limits;
  std::uint64_t now = 0;
  try {
    now = how.size(sequence, limits);
  } catch (const error& cause) {
    fail(cause.code(), {w.path(), ": ", cause.sentence()});
  }
  const size_answer answer = w.sequence(now, limits, how.elements_are_empty);
  if (answer.size != now) {
    std::uint64_t index = 0;
    for_each_element(sequence, how, [&](void* element) {
      if (how.elements_move || index >= answer.size) w.note_freed(element, how.width);
      if (how.elements_are_made || index >= answer.size) w.note_destroyed(std::to_string(index));
      ++index;
    });
  }
  if (answer.resize) how.resize(sequence, answer.size);
  std::uint64_t next = 0;
  for_each_element(sequence, how, [&](void* element) {
    if (next < answer.size) w.part(next++, element, how.element.walk);
  });
  for (; next < answer.size; ++next) w.prototype_part(std::to_string(next), how.element);
}

}  // namespace cairn::detail
