// Finds classes that have the operations of a container, tensor or pointer from a base class: they may have further members.
#pragma once

#include <type_traits>

#include "cairn/state/member_name.hpp"
#include "cairn/state/own_operations.hpp"

namespace cairn::detail {

/// Larger than Base, unless Base has padding at its end in which a derived class puts members.
template <class Base>
struct with_one_more : Base {
  char more;
};

/// Whether T may have members that its operations do not show: it has them from a base class, and neither are both of the same size,
/// nor is T an argument of a base class that is empty (CRTP), nor of a library that is known.
template <class T>
consteval bool may_lose_members() {
  if constexpr (is_of_known_library(type_name_view<T>())) {
    return false;
  } else if constexpr (has_own_operations<T>) {
    return false;
  } else {
    using base = operations_base<T>;
    return sizeof(T) != sizeof(base) || sizeof(with_one_more<base>) == sizeof(base);
  }
}

}  // namespace cairn::detail
