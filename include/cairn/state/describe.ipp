// Definitions of describe.hpp.
#pragma once

#include "cairn/state/describe.hpp"
#include "cairn/state/describer.hpp"

namespace cairn::detail {

CAIRN_INLINE description describe(any_state state, rank_info here) {
  describer purpose;
  walker w(purpose, here);
  state.walk(w, const_cast<void*>(state.object));  // a describer changes nothing
  return purpose.take();
}

}  // namespace cairn::detail
