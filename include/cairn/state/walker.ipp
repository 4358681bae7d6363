// SPDX-License-Identifier: MIT
// Definitions of walker.hpp, but those for maps: walk_map.ipp.
#pragma once

#include <algorithm>
#include <utility>

#include "cairn/core/box.hpp"
#include "cairn/core/strided.hpp"
#include "cairn/state/base.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1::detail {

void walker::enter(std::string_view name) {
  if (at_.lengths.size() == max_nesting)
    fail(errc::invalid, {"the state is nested more than ", max_nesting, " deep at ", path().substr(0, 200),
                         "...; keep the nodes of a long chain or graph by value in a vector, and link them by index"});
  at_.lengths.push_back(at_.path.size());
  if (!at_.path.empty()) at_.path += '.';
  at_.path += name;
}

void walker::leave() {
  at_.path.resize(at_.lengths.back());
  at_.lengths.pop_back();
}

void walker::part(std::string_view name, void* object, walk_function walk) {
  enter(name);
  visit(object);
  if (is_selected()) walk(*this, object);
  leave();
}

void walker::part(std::uint64_t index, void* object, walk_function walk) { part(std::to_string(index), object, walk); }

void walker::members(const object_members& of) {
  for (std::size_t i = 0; i < of.all.size(); ++i)
    if (of.all[i].walk) part(of.all[i].name, of.addresses[i], of.all[i].walk);
}

void walker::prototype_part(std::string_view name, const object_operations& how) {
  enter(name);
  if (is_selected()) prototype(how);
  leave();
}

void walker::sequence_part(std::uint64_t index, void* object, const object_operations& how) {
  object ? part(index, object, how.walk) : prototype_part(std::to_string(index), how);
}

void walker::content(void* object, const content_operations& how) {
  if (how.has_entry) {
    enter_content();
    object ? part(content_name(), object, how.object.walk) : prototype_part(content_name(), how.object);
  } else if (object) {
    visit(object);
    how.object.walk(*this, object);
  } else {
    prototype(how.object);
  }
}

void walker::prototype(const object_operations& how) {
  if (how.make) return walk_temporary(how.make(), how.walk, how.destroy);
  reject(
      "has to be made by the load but its type has no default constructor; make it before the load, or give its "
      "adapter a function make()");
}

void walker::walk_temporary(void* object, walk_function walk, void (*destroy)(void*)) {
  const std::shared_ptr<void> owner(object, destroy);
  walk(*this, object);
}

void walker::array(dtype type, unsigned components, void* memory, const extents& shape,
                   const std::vector<std::int64_t>& strides, const device_copies* device) {
  if (!strides.empty() && strides.size() != shape.size())
    fail(errc::invalid, {path(), " is a tensor of ", shape.size(), " dimensions and ", strides.size(), " strides"});
  memory_view view{type, {}, static_cast<std::byte*>(memory), {}};
  view.shape.reserve(at_.shape.size() + shape.size() + 1);
  view.shape.insert(view.shape.end(), at_.shape.begin(), at_.shape.end());
  view.shape.insert(view.shape.end(), shape.begin(), shape.end());
  if (components > 1) view.shape.push_back(components);
  if (!is_addressable(shape, size_of(type)))
    fail(errc::invalid, {path(), " is a tensor of shape ", to_string(shape), "; that is more than 2^48 bytes"});
  if (!at_.strides.empty() || !strides.empty()) set_strides(view, components, strides);
  add(std::move(view), device);
}

void walker::box_of_array(const any_tensor_view& view) {
  if (!at_.shape.empty())
    fail(errc::invalid,
         {path(), " is a box of a larger array in a record of a container: keep it in a member of its own"});
  auto place = *view.place();
  const auto& shape = view.shape();
  if (!is_inside({place.first, shape}, place.whole))
    fail(errc::invalid, {path(), ": a box of shape ", to_string(shape), " at ", to_string(place.first),
                         " is not inside of an array of shape ", to_string(place.whole)});
  if (view.copies().number >= view.copies().count)
    fail(errc::invalid, {path(), ": copy ", view.copies().number, " of ", view.copies().count, " of a box"});
  if (!is_addressable(place.whole, size_of(view.type()) * view.components()))
    fail(errc::invalid,
         {path(), " is a box of an array of shape ", to_string(place.whole), "; that is more than 2^48 bytes"});
  if (view.components() > 1) {
    place.whole.push_back(view.components());
    place.first.push_back(0);
  }
  at_.place = std::make_shared<const box_place>(std::move(place));
  at_.copies = view.copies();
  array(view.type(), view.components(), view.data(), shape, view.strides(), view.device() ? &view.device() : nullptr);
  at_.place.reset();
  at_.copies = {};
}

void walker::set_strides(memory_view& view, unsigned components, const std::vector<std::int64_t>& strides) const {
  const std::size_t width = size_of(view.type);
  if (strides.empty() && is_packed(view.shape, at_.strides, width)) return;
  auto steps = at_.strides;
  if (strides.empty()) {
    const auto outer = static_cast<std::ptrdiff_t>(at_.strides.size());
    const auto packed = packed_strides({view.shape.begin() + outer, view.shape.end()}, width);
    steps.insert(steps.end(), packed.begin(), packed.end());
  } else {
    for (const auto step : strides) steps.push_back(step * static_cast<std::int64_t>(width * components));
    if (components > 1) steps.push_back(static_cast<std::int64_t>(width));
  }
  if (!is_packed(view.shape, steps, width)) view.strides = std::move(steps);
}

void walker::columns(std::uint64_t rows, std::size_t width, void* first, walk_function walk) {
  at_.shape.push_back(rows);
  at_.strides.push_back(static_cast<std::int64_t>(width));
  walk(*this, first);
  at_.shape.pop_back();
  at_.strides.pop_back();
  at_.common_dimensions = std::min(at_.common_dimensions, at_.shape.size());
}

void walker::contiguous(void* container, std::uint64_t size, void* first, const contiguous_operations& how,
                        const size_limits& /*limits*/) {
  if (how.resize) note_owner(container, &how);
  columns(size, how.width, size > 0 ? first : how.sample(), how.walk_element);
}

void walker::require_check(std::string_view name) const {
  if (purpose() != purpose::check)
    fail(errc::invalid, {path(), ": its adapter passes a prototype of ", name, " when the part itself has to exist"});
}

}  // namespace cairn::inline v0_1::detail
