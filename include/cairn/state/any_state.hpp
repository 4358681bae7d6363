// A state of any type behind one type: where the templates end.
#pragma once

namespace cairn {

namespace detail {
class walker;
}

/// A reference to a state that is saved, and the one function that its type compiles to.
struct any_state {
  const void* object = nullptr;
  void (*walk)(detail::walker&, void* object) = nullptr;
};

/// A reference to a state that a checkpoint can be loaded into. Only a state that is not const gives one.
struct any_mutable_state : any_state {};

}  // namespace cairn
