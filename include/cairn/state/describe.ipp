// SPDX-License-Identifier: MIT
// Definitions of describe.hpp.
#pragma once

#include "cairn/core/as_error.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/state/describer.hpp"

namespace cairn::inline v0_1 {

any_state refer(const const_state& state) noexcept {
  return {static_cast<const detail::named_references*>(&state), detail::walk_references};
}

namespace detail {

description describe(any_state state, rank_info here, std::string_view checkpoint) {
  // A trainer describes the same state again and again: containers that grow step by step would double the page faults.
  thread_local description_size last;
  walk_position at{here};
  describer purpose(at, last);
  try {
    state.walk(purpose, const_cast<void*>(state.object));  // a describer changes nothing
  } catch (...) {
    throw error(as_error(std::current_exception(), sentence({checkpoint, " cannot be saved: ", purpose.path()})));
  }
  last = purpose.size();
  return purpose.finish();
}

}  // namespace detail
}  // namespace cairn::inline v0_1
