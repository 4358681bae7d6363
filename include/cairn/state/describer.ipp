// SPDX-License-Identifier: MIT
// Definitions of describer.hpp.
#pragma once

#include "cairn/core/box.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/stable_name.hpp"

namespace cairn::inline v0_1::detail {

/// Narrows the view of a box to the part that one of several copies saves: a range along the slowest dimension of more than one index. Returns the place
/// of the part.
inline std::shared_ptr<const box_place> own_part(memory_view& view, const box_place& place, const box_copies& copies) {
  std::size_t d = 0;
  while (d + 1 < view.shape.size() && view.shape[d] <= 1) ++d;
  box part{extents(view.shape.size()), view.shape};
  if (!part.shape.empty()) {
    const auto extent = part.shape[d];
    part.first[d] = extent * copies.number / copies.count;
    part.shape[d] = extent * (copies.number + 1) / copies.count - part.first[d];
  }
  auto made = std::make_shared<box_place>(place);
  for (std::size_t i = 0; i < part.first.size(); ++i) made->first[i] += part.first[i];
  view = view_of(view, part);
  return made;
}

void describer::add(memory_view view, const device_copies* device) {
  if (path() == "__metadata__")
    fail(errc::invalid, {"the path __metadata__ is reserved by the file format; rename that member or key"});
  paths_.add_leaf(path());
  auto place = at_.place;
  if (place) {
    if (element_count(place->whole) == 0) {  // all ranks have all of it
      view = {view.type, place->whole, view.memory, {}};
      place.reset();
    } else if (place->whole.empty() && at_.copies.number > 0) {
      return;
    } else {
      place = own_part(view, *place, at_.copies);
    }
    if (place && view.count() == 0) return;  // other ranks have all of it
  }
  if (temporaries_ > 0 && !device) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(view.bytes());
    gather(view, 0, *bytes);
    return add_leaf({view.type, std::move(view.shape), bytes->data(), {}}, bytes, place);
  }
  if (!place && owners_.empty() && temporaries_ == 0 && !view.shape.empty() && view.contiguous() && view.bytes() > 0) {
    const std::size_t first = array_leaves_.find_or_add({view.memory, device}, result_.leaves.size());
    if (first != result_.leaves.size()) {
      const leaf& earlier = result_.leaves[first];
      const bool has_entry = result_.structure.contains(path());  // that of a holder; a path has at most one
      if (earlier.type == view.type && earlier.bytes() == view.bytes() && !has_entry)
        return note({.what = structure_entry::kind::same, .text = earlier.path});
    }
  }
  if (!device) return add_leaf(std::move(view), owners_.empty() ? nullptr : owners_.back(), place);
  const host_buffer buffer(std::string(path()), view, *device);
  buffer.read_device();
  add_leaf(std::move(view), buffer.memory(), place);
}

void describer::add_leaf(memory_view view, std::shared_ptr<const void> owner, std::shared_ptr<const box_place> place) {
  leaf added;
  static_cast<memory_view&>(added) = std::move(view);
  added.path = path();
  added.owner = std::move(owner);
  added.place = std::move(place);
  added.common_dimensions = std::exchange(at_.common_dimensions, at_.shape.size());
  result_.leaves.push_back(std::move(added));
}

size_answer describer::sequence(std::uint64_t size, const size_limits& /*limits*/, bool /*empty_elements*/) {
  note({.what = structure_entry::kind::size, .number = size});
  return {size};
}

presence describer::optional(bool engaged) {
  note({.what = structure_entry::kind::engaged, .number = engaged});
  return walker::optional(engaged);
}

pointee_answer describer::pointee(const found_object& found) {
  visit(found.address);
  note_pointee(found);
  return walker::pointee(found);
}

shared_answer describer::shared(const found_object& found, const std::shared_ptr<void>& object) {
  if (object) {
    if (temporaries_ > 0) shared_temporaries_.push_back(object);
    if (found.by->list) (void)stored_name(found);
    const std::string_view first = shared_.begin(std::string(path()), found, object, result_.leaves.size());
    if (!first.empty()) {
      note({.what = structure_entry::kind::same, .text = std::string(first)});
      return {};
    }
  }
  note_pointee(found);
  return {object ? presence::walk : presence::keep, found.type};
}

alternative_answer describer::alternative(std::uint64_t index, std::uint64_t count) {
  if (index >= count) fail(errc::invalid, {path(), " is a variant without a value"});
  note({.what = structure_entry::kind::index, .number = index});
  return {presence::walk, index};
}

std::uint64_t describer::saved_ranks(bool /*takes_all*/) {
  note({.what = structure_entry::kind::ranks, .number = here().ranks});
  return here().ranks;
}

void describer::copy(void* object, const copy_operations& how) {
  const std::shared_ptr<void> copy(call_adapter(*this, [&] { return how.take(object); }), how.destroy);
  owners_.push_back(copy);
  how.walk_copy(*this, copy.get());
  owners_.pop_back();
}

void describer::note(structure_entry entry) {
  const auto [at, first] = result_.structure.try_emplace(std::string(path()), std::move(entry));
  if (!first) fail_duplicate_path(path());
  paths_.add(at->first);
}

void describer::note_pointee(const found_object& found) {
  if (found.by->list && found.address)
    note({.what = structure_entry::kind::type, .text = stored_name(found)});
  else
    note({.what = structure_entry::kind::engaged, .number = found.address != nullptr});
}

std::string describer::stored_name(const found_object& found) const {
  const class_list& list = found.by->list();
  if (const listed_type* const type = list.find(*found.type)) return list.name(*type);
  fail(errc::invalid, {path(), " points to a '", readable_name(*found.unlisted), "', which cairn::polymorphic<",
                       found.by->base->name, "> does not list: add it to the list"});
}

description describer::finish() {
  if (const auto path = paths_.find_duplicate_leaf()) fail_duplicate_path(*path);
  shared_.refuse_overlaps(result_.leaves);
  return std::move(result_);
}

void describer::fail_duplicate_path(std::string_view path) {
  fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
}

}  // namespace cairn::inline v0_1::detail
