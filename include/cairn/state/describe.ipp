// Definitions of describe.hpp.
#pragma once

#include <exception>

#include "cairn/core/as_error.hpp"
#include "cairn/state/describe.hpp"
#include "cairn/state/describer.hpp"

namespace cairn::detail {

CAIRN_INLINE description describe(any_state state, rank_info here) {
  describer purpose;
  walker w(purpose, here);
  try {
    state.walk(w, const_cast<void*>(state.object));  // a describer changes nothing
  } catch (...) {
    throw error(as_error(std::current_exception(), w.path() + " cannot be saved"));
  }
  return purpose.take();
}

}  // namespace cairn::detail
