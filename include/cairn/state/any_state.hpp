// SPDX-License-Identifier: MIT
// A reference to a state of any type, so that only `state/` has templates over the state's type.
#pragma once

#include "cairn/core/config.hpp"

namespace cairn::inline v0_1 {

namespace detail {
class walker;
}

class state;  // state.hpp
class const_state;

/// A reference to a state that is saved, and the walk function of its type.
struct any_state {
  const void* object = nullptr;
  void (*walk)(detail::walker&, void* object) = nullptr;
};

/// A reference to a state that a checkpoint can be loaded into, which is not const.
struct any_mutable_state : any_state {};

}  // namespace cairn::inline v0_1
