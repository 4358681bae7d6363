// SPDX-License-Identifier: MIT
// expect: std::tuple_size of this class is less than the number of its members
// expect: "size: user::three"
#include <cstddef>
#include <tuple>

#include "cairn/state/describe.hpp"

namespace user {

struct three {
  int a = 0, b = 0, c = 0;
};
template <std::size_t I>
auto& get(three& from) {
  return I == 0 ? from.a : from.b;
}

}  // namespace user

template <>
struct std::tuple_size<user::three> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, user::three> {
  using type = int;
};

struct state {
  user::three size;
};

void check(const state& s) { (void)cairn::detail::describe(s); }  // here
