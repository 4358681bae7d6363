// SPDX-License-Identifier: MIT
// Definitions of describer.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <typeinfo>
#include <utility>

#include <cxxabi.h>

#include "cairn/core/box.hpp"
#include "cairn/core/error.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/system/memory.hpp"

namespace cairn::inline v0_1::detail {

[[noreturn]] inline void fail_overlap(const std::string& path, std::string_view other) {
  fail(errc::invalid,
       {"the object behind the shared pointer ", path, " is also at ", other,
        " or a part of it, which a load could not share again; leave one of them out of the state, or point to the "
        "whole object"});
}

std::string_view shared_objects::add(const std::string& path, const found_object& found, std::shared_ptr<void> object) {
  const auto [at, first] = all_.try_emplace(static_cast<const std::byte*>(found.address));
  if (!first && *at->second.type != *found.type) fail_overlap(path, at->second.path);
  if (!first) return at->second.path;
  at->second = {path, found.type, std::move(object)};
  return {};
}

/// Whether an element of the strided view, of the dimensions from `d` on, begins in [begin, end).
inline bool has_element_in(const memory_view& view, std::size_t d, const std::byte* at, const std::byte* begin,
                           const std::byte* end) {
  if (d == view.shape.size()) return begin <= at && at < end;
  for (std::uint64_t i = 0; i < view.shape[d]; ++i, at += view.strides[d])
    if (has_element_in(view, d + 1, at, begin, end)) return true;
  return false;
}

shared_part_search::shared_part_search(walk_position& at, const shared_objects::map& all) : walker(at), all_(all) {
  const shared_objects::shared* before = nullptr;
  const std::byte* end = nullptr;
  for (const auto& [address, object] : all_) {
    if (before && address < end) fail_overlap(object.path, before->path);
    before = &object;
    end = address + object.type->size;
  }
}

void shared_part_search::visit(const void* object) {
  const auto* const address = static_cast<const std::byte*>(object);
  const auto behind = all_.upper_bound(address);
  if (temporaries_ > 0 || behind == all_.begin()) return;
  const auto& [first, around] = *std::prev(behind);
  if (address < first + around.type->size && !is_open(around)) fail_overlap(around.path, path());
}

pointee_answer shared_part_search::pointee(const found_object& found) {
  visit(found.address);
  return walker::pointee(found);
}

shared_answer shared_part_search::shared(const found_object& found, const std::shared_ptr<void>& /*object*/) {
  const auto at = all_.find(static_cast<const std::byte*>(found.address));
  if (at == all_.end() || !visited_.insert(found.address).second) return {};
  open_.push_back(&at->second);
  return {.what = presence::walk, .type = found.type};
}

void shared_part_search::add(memory_view view, const device_copies* device) {
  if (device || temporaries_ > 0 || view.bytes() == 0) return;
  // A view of memory in a shared object is not a part of it, so only an array around the object is refused.
  const auto [lowest, highest] = address_range(view);
  for (auto at = all_.lower_bound(lowest); at != all_.end() && at->first < highest; ++at) {
    const auto& [first, object] = *at;
    const std::byte* const last = first + object.type->size;
    const bool around = last <= highest && (lowest < first || last < highest);
    if (!around || is_open(object)) continue;
    if (view.contiguous() || has_element_in(view, 0, view.memory, first, last)) fail_overlap(object.path, path());
  }
}

/// Narrows the view of a box to the part that one of several copies saves: a range along the slowest dimension of more
/// than one index. Returns the place of the part.
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
  note_pointee(found);
  return walker::pointee(found);
}

shared_answer describer::shared(const found_object& found, const std::shared_ptr<void>& object) {
  if (object) {
    if (temporaries_ > 0) shared_temporaries_.push_back(object);
    if (found.by->list) (void)stored_name(found);
    const std::string_view first = shared_.add(std::string(path()), found, object);
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
  if (how.bytes) call_adapter(*this, [&] { require_memory_to_copy(how.bytes(object)); });
  const std::shared_ptr<void> copy(call_adapter(*this, [&] { return how.take(object); }), how.destroy);
  owners_.push_back(copy);
  how.walk_copy(*this, copy.get());
  owners_.pop_back();
}

void describer::note(structure_entry entry) {
  if (!result_.structure.try_emplace(std::string(path()), std::move(entry)).second) fail_duplicate_path(path());
}

void describer::note_pointee(const found_object& found) {
  if (found.by->list && found.address)
    note({.what = structure_entry::kind::type, .text = stored_name(found)});
  else
    note({.what = structure_entry::kind::engaged, .number = found.address != nullptr});
}

/// The name of the type in C++.
inline std::string readable_name(const std::type_info& type) {
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr),
                                                    std::free);
  return name ? name.get() : type.name();
}

std::string describer::stored_name(const found_object& found) const {
  const class_list& list = found.by->list();
  if (const listed_type* const type = list.find(*found.type)) return std::string(type->names.front());
  fail(errc::invalid, {path(), " points to a '", readable_name(*found.unlisted), "', which cairn::polymorphic<",
                       found.by->base->name, "> does not list: add it to the list"});
}

description describer::finish() {
  std::vector<std::string_view> paths;  // of the arrays
  paths.reserve(result_.leaves.size());
  for (const leaf& each : result_.leaves) paths.emplace_back(each.path);
  for (const auto& [path, entry] : result_.structure)
    if (entry.what == structure_entry::kind::same) paths.emplace_back(path);
  position_index seen(paths.size());
  std::array<std::size_t, 16> hashes{};  // of the next paths, whose slots are loaded together
  for (std::size_t first = 0; first < paths.size(); first += hashes.size()) {
    const std::size_t count = std::min(hashes.size(), paths.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      hashes[i] = std::hash<std::string_view>{}(paths[first + i]);
      seen.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint32_t>(first + i);
      const auto is_same = [&](std::uint32_t other) { return paths[other] == paths[at]; };
      if (seen.find_or_add(hashes[i], at, is_same) != at) fail_duplicate_path(paths[at]);
    }
  }
  return std::move(result_);
}

void describer::fail_duplicate_path(std::string_view path) {
  fail(errc::invalid, {"two parts of the state have the path ", path, "; rename a member or a map key"});
}

}  // namespace cairn::inline v0_1::detail
