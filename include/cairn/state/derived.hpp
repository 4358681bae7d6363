// SPDX-License-Identifier: MIT
// Finds classes that have the operations of a container, tensor or pointer from a base class: they may have further members.
#pragma once

#include <type_traits>

#include "cairn/state/member_name.hpp"
#include "cairn/state/own_operations.hpp"

namespace cairn::inline v0_1::detail {

/// Larger than Base, unless Base has padding at its end in which a derived class puts members.
template <class Base>
struct with_one_more : Base {
  char more;
};

/// Whether T may have members that its operations do not show. It may if it has the operations from a base class, with three exceptions:
/// - T is as large as the base class, which has no padding at its end for further members;
/// - the base class is empty and T is an argument of it (CRTP), so that all data are members of T;
/// - T belongs to a known library.
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

}  // namespace cairn::inline v0_1::detail
