// Definitions of describe.hpp.
#pragma once

#include "cairn/state/describe.hpp"

namespace cairn {

CAIRN_INLINE description describe(any_state state, rank_info here) {
  detail::describing purpose;
  detail::walker w(purpose, here);
  state.walk(w, const_cast<void*>(state.object));  // describing changes nothing
  return std::move(purpose.result);
}

}  // namespace cairn
