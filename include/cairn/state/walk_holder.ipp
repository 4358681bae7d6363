// SPDX-License-Identifier: MIT
// Definitions of walk_holder.hpp.
#pragma once

#include <span>

#include "cairn/state/walk_holder.hpp"

namespace cairn::inline v0_1::detail {

void walk_optional(walker& w, void* object, const optional_operations& how) {
  w.note_owner(object, &how);
  void* value = how.at(object, access::find);
  const presence what = w.optional(value != nullptr);
  if (value && what != presence::walk) w.note_destroyed(value, how.content.object.walk);
  if (what == presence::keep) return;
  if (what == presence::clear) return static_cast<void>(how.at(object, access::remove));
  if (what == presence::make) value = how.at(object, access::make);
  w.content(value, how.content);
}

void walk_variant(walker& w, void* object, const variant_operations& how) {
  w.note_owner(object, &how);
  const std::size_t now = how.index(object);
  const auto [what, index] = w.alternative(now, how.alternatives.size());
  if (what == presence::keep || index >= how.alternatives.size()) return;  // without a value: the walk makes none
  if (what != presence::walk && now < how.alternatives.size())
    w.note_destroyed(how.alternatives[now].at(object, access::find), how.alternatives[now].content.object.walk);
  const alternative_operations& alternative = how.alternatives[index];
  w.content(alternative.at(object, what == presence::make ? access::make : access::find), alternative.content);
}

/// The entry of that type; null if the pointer's list does not have it. `type` is null for a pointer without a list,
/// which has one entry.
template <class Entry>
const Entry* entry_of_type(std::span<const Entry> types, const type_id* type) {
  if (!type) return &types.front();
  for (const Entry& each : types)
    if (*each.type == *type) return &each;
  return nullptr;
}

void walk_unique(walker& w, void* pointer, const unique_operations& how) {
  const found_object found = how.found(pointer);
  w.note_owner(pointer, &how, found.address);
  const auto answer = w.pointee(found);
  if (const auto* const now = found.address ? entry_of_type(how.types, found.type) : nullptr; now && answer.destroys)
    w.note_destroyed(const_cast<void*>(found.address), now->content.object.walk);
  if (answer.what == presence::keep) return;
  if (answer.what == presence::clear) return how.types.front().reset(pointer, nullptr);
  if (!how.deletes && answer.what != presence::walk)
    return w.reject("has to be made by the load but its pointer has a deleter of its own; make it before the load");
  const unique_type* const type = entry_of_type(how.types, answer.type);
  if (!type) return;  // an object of a class that is not listed, which a load replaces or keeps
  const auto left_out = w.left_out();
  void* object = answer.what == presence::walk ? const_cast<void*>(found.address) : nullptr;
  if (answer.what == presence::make && type->content.object.make) {
    object = type->content.object.make();
    type->reset(pointer, object);
  }
  w.content(object, type->content);
  if (found.by->is_const && answer.what != presence::walk && found.address) w.require_whole(left_out);
}

void walk_shared(walker& w, void* pointer, const void* owner, const shared_operations& how) {
  std::shared_ptr<void> object;
  const found_object found = how.found(pointer, object);
  w.note_owner(owner, &how, found.address);
  const auto answer = w.shared(found, object);
  if (const auto* const now = object ? entry_of_type(how.types, found.type) : nullptr;
      now && answer.destroys && owner == pointer)
    w.note_dropped(object, owner, now->content.object.walk);
  const shared_type* const type = entry_of_type(how.types, answer.type);
  if (answer.same && type) type->set(pointer, answer.same);
  if (answer.what == presence::keep || !type) return;
  if (answer.what == presence::clear) return type->set(pointer, nullptr);
  const auto left_out = w.left_out();
  std::shared_ptr<void> made;
  if (answer.what == presence::make && type->make) {
    made = type->make();
    w.shared_made(made, *type->type);
  }
  w.content(answer.what == presence::walk ? object.get() : made.get(), type->content);
  w.shared_end();
  if (made) type->set(pointer, made);
  if (found.by->is_const && answer.what != presence::walk && found.address) w.require_whole(left_out);
}

}  // namespace cairn::inline v0_1::detail
