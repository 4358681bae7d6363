// SPDX-License-Identifier: MIT
// expect: std::tuple_size of this class is less than the number of its members
// expect: "pair: like_a_tuple"
#include <string>
#include <tuple>

#include "cairn/state/describe.hpp"

class like_a_tuple {
 public:
  template <std::size_t I>
  auto& get() {
    if constexpr (I == 0)
      return first_;
    else
      return second_;
  }

  double& hidden() { return hidden_; }

 private:
  int first_ = 0;
  std::string second_;
  double hidden_ = 0;
};
template <>
struct std::tuple_size<like_a_tuple> : std::integral_constant<std::size_t, 2> {};
template <>
struct std::tuple_element<0, like_a_tuple> {
  using type = int;
};
template <>
struct std::tuple_element<1, like_a_tuple> {
  using type = std::string;
};
struct state {
  like_a_tuple pair;
};

void check(state& s) { (void)cairn::detail::describe(s); }  // here
