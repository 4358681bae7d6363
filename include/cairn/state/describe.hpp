// From a state to its description.
#pragma once

#include "cairn/state/any_state.hpp"
#include "cairn/state/walk.hpp"

namespace cairn {

/// A reference to `state` for the stages behind. It is changed by loading only.
template <class State>
[[nodiscard]] any_state refer(const State& state) noexcept {
  return {const_cast<State*>(&state),
          [](detail::walker& w, void* object) { detail::walk(w, *static_cast<State*>(object)); }};
}

/// The leaves and facts of a state, in the order of its fields; arrays are not copied but pointed to. The
/// description is valid while the state lives and keeps its sizes. Throws `errc::invalid` for two parts with
/// one path, for nesting deeper than `max_nesting` and for a type that a closed list does not name. O(leaves
/// + elements saved as copies).
[[nodiscard]] CAIRN_INLINE description describe(any_state state, rank_info here = {});

template <class State>
[[nodiscard]] description describe(const State& state, rank_info here = {}) {
  return describe(refer(state), here);
}

}  // namespace cairn

#if !defined(CAIRN_SEPARATE_COMPILATION)
#include "cairn/state/describe.ipp"  // IWYU pragma: keep
#endif
