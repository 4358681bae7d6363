// Definitions of walk_sequence.hpp.
#pragma once

#include <string>

#include "cairn/state/walk_sequence.hpp"

namespace cairn::detail {

template <class Action>
void for_each_element(void* sequence, const sequence_operations& how, Action action) {
  how.for_each(sequence, &action, [](void* context, void* element) { (*static_cast<Action*>(context))(element); });
}

CAIRN_INLINE void walk_elements(walker& w, void* sequence, const sequence_operations& how) {
  size_limits limits;
  const std::uint64_t now = how.size(sequence, limits);
  const auto [size, resize] = w.sequence(now, limits, how.elements_are_empty);
  if (size != now)
    for_each_element(sequence, how, [&, size = size, i = std::uint64_t{0}](void* element) mutable {
      if (how.elements_move || i++ >= size) w.frees(sequence, element, how.width);
    });
  if (resize) how.resize(sequence, size);
  std::uint64_t next = 0;
  for_each_element(sequence, how, [&, size = size](void* element) {
    if (next < size) w.part(next++, element, how.element.walk);
  });
  for (; next < size; ++next) w.prototype_part(std::to_string(next), how.element);
}

}  // namespace cairn::detail
