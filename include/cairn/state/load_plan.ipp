// Definitions of load_plan.hpp.
#pragma once

#include <exception>

#include "cairn/core/as_error.hpp"
#include "cairn/state/load_plan.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

CAIRN_INLINE load_plan::load_plan(any_mutable_state state, const catalog& from, const match_options& options,
                                  rank_info here)
    : state_(state), matcher_(from, options), here_(here) {
  walk();
  matcher_.finish_check();
}

CAIRN_INLINE void load_plan::apply() {
  matcher_.start_applying();
  walk();
}

CAIRN_INLINE void load_plan::walk() {
  walker w(matcher_, here_);
  try {
    state_.walk(w, const_cast<void*>(state_.object));  // not const: any_mutable_state
  } catch (...) {
    throw error(as_error(std::current_exception(), matcher_.origin() + " cannot be loaded: " + w.path()));
  }
}

}  // namespace cairn::detail
