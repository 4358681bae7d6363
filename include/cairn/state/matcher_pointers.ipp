// Definitions of matcher.hpp: objects behind pointers.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "cairn/state/matcher.hpp"

namespace cairn::detail {

CAIRN_INLINE pointee_answer matcher::pointee(const std::string& path, const found_object& found) {
  const bool is_there = found.address != nullptr;
  if (!found.by->list) {
    const presence what = optional(path, is_there);
    if (what != presence::walk) return {what, nullptr};
    return {keeps_const(path, found) ? presence::keep : take_over(found, true), nullptr};
  }
  const auto* stored = find(path, structure_entry::kind::type);
  if (!stored) return {};
  if (stored->what == structure_entry::kind::engaged && stored->number == 0)
    return {is_writing() ? presence::clear : presence::keep, nullptr};
  const auto* const type = find_type(path, found, *stored);
  if (!type) return {};
  return {take_over(found, is_there && *found.type == *type), type};
}

CAIRN_INLINE shared_answer matcher::shared(const std::string& path, const found_object& found,
                                           const std::shared_ptr<void>& object) {
  const bool listed = found.by->list != nullptr;
  const auto* stored = find(path, listed ? structure_entry::kind::type : structure_entry::kind::engaged);
  if (!stored) {
    if (listed || !object || keeps_const(path, found) || !filled_objects_.insert(object.get()).second) return {};
    return {take_over(found, true)};
  }
  if (stored->what == structure_entry::kind::same) {
    const auto at = objects_.find(stored->text);
    const bool is_loaded = at != objects_.end();
    if (is_loaded && found.by->takes(*at->second.type))
      return {presence::keep, at->second.type, is_writing() ? at->second.object : nullptr};
    reject(path,
           "shares the object at " + stored->text + ", which is not loaded" + (is_loaded ? " as the same type" : ""));
    return {};
  }
  if (stored->what == structure_entry::kind::engaged && stored->number == 0)
    return {is_writing() ? presence::clear : presence::keep};
  const auto* const type = listed ? find_type(path, found, *stored) : found.by->base;
  if (!type) return {};
  // An object that another path has filled cannot be used here: in the checkpoint the two are distinct.
  const bool is_free = object && !filled_objects_.contains(object.get());
  const bool is_there = is_free && *found.type == *type;
  const presence what = take_over(found, is_there);
  if (what == presence::walk || !is_writing()) shared_made(path, what == presence::walk ? object : nullptr, *type);
  return {what, type};
}

CAIRN_INLINE void matcher::shared_made(const std::string& path, std::shared_ptr<void> object,
                                       const std::type_info& type) {
  if (object) filled_objects_.insert(object.get());
  objects_.insert_or_assign(stored_path(path), shared_object{&type, std::move(object)});
}

CAIRN_INLINE const std::type_info* matcher::find_type(const std::string& path, const found_object& found,
                                                      const structure_entry& stored) {
  const class_list& list = found.by->list();
  if (stored.what == structure_entry::kind::same) {
    reject(path, "is the object at " + stored.text + " in the checkpoint, which only shared pointers can share");
  } else if (stored.what == structure_entry::kind::engaged) {
    if (found.type && list.find(*found.type)) return found.type;
    reject(path,
           "has no type in the checkpoint: it was saved without a list of types; make the object before the load");
  } else if (const listed_type* const type = list.find(stored.text)) {
    return type->type;
  } else {
    reject(path, "is a '" + stored.text +
                     "' in the checkpoint, which is not a listed type: add it to cairn::polymorphic<" +
                     std::string(found.by->spelled) +
                     ">, or as a former name of its class: cairn::named<\"name\", class, \"" + stored.text + "\">");
  }
  return nullptr;
}

CAIRN_INLINE presence matcher::take_over(const found_object& found, bool is_there) const noexcept {
  if (is_there && !found.by->is_const) return presence::walk;
  return is_writing() ? presence::make : presence::prototype;
}

CAIRN_INLINE bool matcher::keeps_const(const std::string& path, const found_object& found) const {
  return found.by->is_const && from_.has_structure && !from_.structure.contains(stored_path(path));
}

CAIRN_INLINE void matcher::require_whole(const std::string& path, std::size_t left_out_before) {
  if (incomplete_ != left_out_before && (options_.filter || !options_.strict))
    reject(path,
           "is const, so that it can only be replaced as a whole, but a part of it is left out: load all of it or "
           "nothing, or "
           "drop the const");
}

}  // namespace cairn::detail
