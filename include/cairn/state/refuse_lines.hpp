// Refuses a state because of a line that one of its classes has for Cairn.
#pragma once

#include "cairn/state/problem.hpp"

namespace cairn::detail {

template <problem One, problem Other>
inline constexpr bool is_not = One != Other;

/// One of these assertions fails if the problem is such a line. The last argument is there for its message.
template <problem Problem, auto Part>
consteval void refuse_lines() {
  static_assert(is_not<Problem, problem::fields_line>,
                "cairn: cairn_fields is a public line `static auto cairn_fields() { return cairn::fields<&T::a, "
                "&T::b>{}; }`: this class has one that is private or of another form");
  static_assert(is_not<Problem, problem::bases_line>,
                "cairn: cairn_bases is a public line `using cairn_bases = cairn::bases<Base>;`: this class has one "
                "that is private or of another form");
  static_assert(
      is_not<Problem, problem::skip_line>,
      "cairn: cairn_skip is a public line `using cairn_skip = cairn::names<\"cache\", \"lock\">;`: this class "
      "has one that is private or of another form");
  static_assert(is_not<Problem, problem::changes_line>,
                "cairn: cairn_changes is a public line `using cairn_changes = cairn::changes<...>;`: this class has "
                "one that is private or of another form");
  static_assert(is_not<Problem, problem::skip_beside_fields>,
                "cairn: a class with cairn_fields has no cairn_skip: its list leaves out the members that are not "
                "state");
  static_assert(is_not<Problem, problem::lines_of_base>,
                "cairn: cairn_skip and cairn_changes belong to the class that contains them, and a base class of this "
                "struct has the same: move the line from the base class to the struct whose members it names");
}

}  // namespace cairn::detail
