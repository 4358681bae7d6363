// Definitions of load_plan.hpp.
#pragma once

#include <exception>

#include "cairn/core/as_error.hpp"
#include "cairn/state/describer.hpp"
#include "cairn/state/load_plan.hpp"
#include "cairn/state/overlaps.hpp"
#include "cairn/state/walker.hpp"

namespace cairn::detail {

CAIRN_INLINE load_plan::load_plan(any_mutable_state state, const catalog& from, const match_options& options,
                                  rank_info here)
    : state_(state), matcher_(from, options), here_(here) {
  walk();
  if (!matcher_.freed().empty()) check_overlaps();
  matcher_.finish_check();
}

CAIRN_INLINE void load_plan::apply() {
  matcher_.start_applying();
  walk();
}

CAIRN_INLINE void load_plan::check_overlaps() {
  overlap_search search(matcher_.freed());
  describer ignored;
  walker w(ignored, here_, &search);
  state_.walk(w, const_cast<void*>(state_.object));  // not const: any_mutable_state
  for (const auto& [container, part] : search.found())
    if (matcher_.is_selected(part))
      matcher_.reject(part, "refers to elements of " + (container.empty() ? "value" : container) +
                                ", to which the load gives another size; resize that before the load");
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
