// SPDX-License-Identifier: MIT
// Definitions of walk_choice.hpp.
#pragma once

#include "cairn/state/walk_choice.hpp"

namespace cairn::inline v0_1::detail {

void walk_optional(walker& w, void* object, const optional_operations& how) {
  w.note_owner(object, &how);
  void* value = how.at(object, access::find);
  const presence what = w.optional(value != nullptr);
  if (value && what != presence::walk) w.note_destroyed();
  if (what == presence::keep) return;
  if (what == presence::clear) return static_cast<void>(how.at(object, access::remove));
  if (what == presence::make) value = how.at(object, access::make);
  w.content(value, how.content);
}

void walk_variant(walker& w, void* object, const variant_operations& how) {
  w.note_owner(object, &how);
  const auto [what, index] = w.alternative(how.index(object), how.alternatives.size());
  if (what == presence::keep || index >= how.alternatives.size()) return;  // without a value: the walk makes none
  if (what != presence::walk) w.note_destroyed();
  const alternative_operations& alternative = how.alternatives[index];
  w.content(alternative.at(object, what == presence::make ? access::make : access::find), alternative.content);
}

}  // namespace cairn::inline v0_1::detail
