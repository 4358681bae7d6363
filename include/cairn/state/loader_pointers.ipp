// SPDX-License-Identifier: MIT
// Definitions of loader.hpp: objects behind pointers.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cairn/state/loader.hpp"

namespace cairn::inline v0_1::detail {

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
  if (stored->what == structure_entry::kind::engaged && stored->number == 0) return {null_, nullptr, is_there};
  const auto* const type = find_type(found, *stored);
  if (!type) return {};
  const presence what = take_over(found, is_there && *found.type == *type);
  return {what, type, is_there && what != presence::walk};
}

shared_answer loader::shared(const found_object& found, const std::shared_ptr<void>& object) {
  const bool listed = found.by->list != nullptr;
  const auto* stored = take_entry(listed ? structure_entry::kind::type : structure_entry::kind::engaged);
  if (!stored) {
    if (listed || !object || keeps_const(found) || !load_.filled_objects.insert(object.get()).second) return {};
    const presence what = take_over(found, true);
    return {.what = what, .destroys = what != presence::walk};
  }
  const bool is_same = stored->what == structure_entry::kind::same;
  const std::string owner = is_same ? stored->text : load_.stored.stored_path(path());
  if (is_same && !load_.objects.contains(owner))
    if (const auto* const found_there = load_.stored.redirect_to_owner(path(), owner)) {
      load_.early.emplace(owner, at_.path);
      load_.stored.use_entry(*found_there);
      stored = found_there;
    }
  const auto early = load_.early.find(owner);
  if (stored->what == structure_entry::kind::same || (early != load_.early.end() && early->second != at_.path)) {
    const auto first = load_.objects.find(owner);
    const bool is_loaded = first != load_.objects.end();
    if (is_loaded && found.by->takes(*first->second.type))
      return {presence::keep, first->second.type, first->second.object, object && object != first->second.object};
    reject("shares the object at " + owner + " in the checkpoint, which " +
           (is_loaded ? "is loaded as another type; give both pointers one type, or leave one of them out with filter"
            : load_.stored.options().rename
                ? "no earlier pointer loads; load without rename, or keep the order of the members"
                : "no shared pointer loads; make that one a std::shared_ptr and let the filter select it, or leave "
                  "this one out with filter"));
    return {};
  }
  if (stored->what == structure_entry::kind::engaged && stored->number == 0)
    return {.what = null_, .destroys = object != nullptr};
  const auto* const type = listed ? find_type(found, *stored) : found.by->base;
  if (!type) return {};
  // An object that another path has filled cannot be used here: in the checkpoint the two are distinct.
  const bool is_free =
      object && !load_.filled_objects.contains(object.get()) && !load_.const_objects.contains(object.get());
  const presence what = take_over(found, is_free && *found.type == *type);
  shared_made(what == presence::walk ? object : nullptr, *type);
  return {.what = what, .type = type, .destroys = object && what != presence::walk};
}

void loader::shared_made(std::shared_ptr<void> object, const type_id& type) {
  if (object) load_.filled_objects.insert(object.get());
  load_.objects.insert_or_assign(load_.stored.stored_path(path()),
                                 load_progress::shared_object{&type, std::move(object)});
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
  return found.by->is_const && load_.stored.contents().has_structure && !load_.stored.find_entry(path());
}

}  // namespace cairn::inline v0_1::detail
