// From a state to its description.
#pragma once

#include "cairn/state/walk.hpp"

namespace cairn {

/// The leaves and facts of `state`, in the order of its fields; arrays are not copied but pointed to. The
/// description is valid while the state lives and keeps its sizes. Throws `errc::invalid` for two parts with
/// one path, for nesting deeper than `max_nesting` and for a type that a closed list does not name. O(leaves
/// + elements saved as copies).
template <class State>
[[nodiscard]] description describe(const State& state, rank_info here = {}) {
  detail::describing purpose;
  detail::walker w(purpose, here);
  detail::walk(w, const_cast<State&>(state));  // describing changes nothing
  return std::move(purpose.result);
}

}  // namespace cairn
