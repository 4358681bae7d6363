// SPDX-License-Identifier: MIT
// Definitions of state.hpp, describe.hpp and tensor_view.hpp.
#pragma once

#include <algorithm>

#include "cairn/state/describe.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/state.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::inline v0_1 {

any_tensor_view& any_tensor_view::within(extents whole, extents first, box_copies copies) {
  place_ = std::make_shared<const detail::box_place>(detail::box_place{std::move(whole), std::move(first)});
  copies_ = copies;
  return *this;
}

any_state refer(const const_state& state) noexcept {
  return {static_cast<const detail::named_references*>(&state), detail::walk_references};
}

namespace detail {

description describe(any_state state, rank_info here, std::string_view checkpoint) {
  thread_local std::size_t leaves_before = 0;  // a trainer describes the same state again and again
  walk_position at{here};
  const auto walk = [&](walker& by) {
    try {
      state.walk(by, const_cast<void*>(state.object));  // neither walker changes anything
    } catch (...) {
      throw error(as_error(std::current_exception(), {checkpoint, " cannot be saved: ", by.path()}));
    }
  };
  describer describes(at, leaves_before);
  walk(describes);
  description result = describes.finish();
  leaves_before = result.leaves.size();
  if (const auto& shared = describes.shared_objects_found(); !shared.empty()) {
    shared_part_search search(at, shared);
    walk(search);
  }
  return result;
}

void named_references::add(reference one) {
  if (one.name.empty()) fail(errc::invalid, {"a part of a cairn::state has no name"});
  if (one.name.find('.') != std::string::npos)
    fail(errc::invalid,
         {"the name '", one.name, "' of a part of a cairn::state has a '.', which separates the names of a path"});
  if (std::any_of(all_.begin(), all_.end(), [&](const reference& other) { return other.name == one.name; }))
    fail(errc::invalid, {"two parts of a cairn::state have the name '", one.name, "'"});
  all_.push_back(std::move(one));
}

named_references::reference named_references::refer_to_copy(std::string name, const named_references& nested) {
  auto copy = std::make_shared<named_references>(nested);
  void* const object = copy.get();
  return {std::move(name), object, walk_references, std::move(copy)};
}

void walk_references(walker& w, void* all) {
  for (const auto& each : static_cast<const named_references*>(all)->all()) w.part(each.name, each.object, each.walk);
}

}  // namespace detail
}  // namespace cairn::inline v0_1
