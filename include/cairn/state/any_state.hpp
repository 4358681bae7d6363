// A state of any type behind one type: where templates end.
#pragma once

namespace cairn {

namespace detail {
class walker;
}

/// A reference to a state, with the one function that its type compiles to.
struct any_state {
  void* object = nullptr;
  void (*walk)(detail::walker&, void* object) = nullptr;
};

}  // namespace cairn
