// Definitions of match.hpp.
#pragma once

#include "cairn/state/match.hpp"

namespace cairn {

CAIRN_INLINE loading::loading(any_mutable_state state, const catalog& from, const match_options& options,
                              rank_info here)
    : state_(state), match_(from, options), here_(here) {
  detail::walker w(match_, here_);
  state_.walk(w, const_cast<void*>(state_.object));
  match_.finish_check();
}

CAIRN_INLINE void loading::apply() {
  match_.applying = true;
  match_.objects.clear();
  match_.filled_objects.clear();
  detail::walker w(match_, here_);
  state_.walk(w, const_cast<void*>(state_.object));
}

}  // namespace cairn
