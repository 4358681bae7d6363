// The one line by which a class with private members, or with base classes, names what to save.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

#include "cairn/state/member_name.hpp"

namespace cairn {

/// Members to save, named as in the class; a trailing underscore is left out of the path:
/// `static auto cairn_fields() { return cairn::fields<&counter::hits_, &counter::seen_>{}; }` as a public
/// line of class `counter`.
template <auto... Members>
struct fields {
  static constexpr std::size_t size = sizeof...(Members);

  /// Calls `action(name, member)` for every member, in the order of the list.
  template <class Object, class Action>
  static void for_each(Object& object, const Action& action) {
    (action(detail::listed_name<Members>(), object.*Members), ...);
  }
};

namespace detail {

template <class T>
concept has_field_list = requires { T::cairn_fields().size; };

}  // namespace detail
}  // namespace cairn
